package plan

import (
	"fmt"
	"slices"
	"strings"
)

// unconverted are the directions of a pair of structs that fail, with their problems: what one error is about.
type unconverted struct {
	*planner
	failing []*Conversion
}

// reportUnconverted reports, for each pair of structs, what keeps them from being converted into each other, and the
// functions to write. Markers that can't mean anything are errors of their own.
func (t *planner) reportUnconverted() {
	var pairs []*unconverted
	for _, c := range t.Functions {
		if c.ByHand || c.Method != "" {
			t.reportUnknownNames(c)
			continue
		}
		for _, x := range c.Problems {
			if text := x.ofMarker(c.Pair); text != "" {
				t.Faults.Add(x.pos, "%s", text)
			}
		}
		if !slices.ContainsFunc(c.Problems, func(x Problem) bool { return x.ofMarker(c.Pair) == "" }) {
			continue
		}
		i := slices.IndexFunc(pairs, func(u *unconverted) bool { return u.failing[0].same(c.Reverse()) })
		if i < 0 {
			i, pairs = len(pairs), append(pairs, &unconverted{planner: t})
		}
		pairs[i].failing = append(pairs[i].failing, c)
	}
	said := map[string]bool{}
	for _, u := range pairs {
		lines := []string{u.head()}
		for _, c := range u.failing {
			lines = append(lines, u.direction(c))
		}
		lines = slices.Concat(lines, u.functions(said), u.markers(), u.allLost())
		t.Faults.Add(u.problems()[0].pos, "%s", strings.Join(lines, "\n\t"))
	}
}

// reportUnknownNames reports the markers of a version's struct that name no field of the hub, where the conversion is
// written by hand and no other error is about the fields.
func (t *planner) reportUnknownNames(c *Conversion) {
	for _, x := range problemsOf(c.Fields) {
		if x.fate == UnknownName && t.spokes(c.In) {
			t.Faults.Add(x.pos, "%s", x.ofMarker(c.Pair))
		}
	}
}

// problems are those of both directions.
func (u *unconverted) problems() []Problem {
	var out []Problem
	for _, c := range u.failing {
		out = append(out, problemsToMend(c)...)
	}
	return out
}

func problemsToMend(c *Conversion) []Problem {
	return slices.DeleteFunc(slices.Clone(c.Problems), func(x Problem) bool { return x.ofMarker(c.Pair) != "" })
}

func (u *unconverted) head() string {
	from, to := u.failing[0].texts(nil)
	if len(u.failing) == 1 {
		return fmt.Sprintf("%s doesn't convert to %s:", from, to)
	}
	return fmt.Sprintf("%s and %s don't convert into each other:", from, to)
}

// direction says what becomes of the fields of a struct.
func (u *unconverted) direction(c *Conversion) string {
	var lost, unruled, hidden, out []string
	from, to := c.texts(nil)
	for _, x := range problemsToMend(c) {
		switch {
		case x.rule != nil:
			in, out := x.rule.texts(nil)
			unruled = append(unruled, x.Field+" ("+in+" to "+out+")")
		case x.lost():
			lost = append(lost, x.Field)
		default:
			hidden = append(hidden, x.Field)
		}
	}
	for _, part := range []struct {
		format string
		fields []string
	}{
		{"%s lost, for " + to + " has no such field", lost},
		{"no rule converts %s", unruled}, {"%s not exported", hidden},
	} {
		if n := len(part.fields); n > 0 {
			text := listed(part.fields)
			if strings.HasPrefix(part.format, "%") {
				text += map[bool]string{true: " is", false: " are"}[n == 1]
			}
			out = append(out, fmt.Sprintf(part.format, text))
		}
	}
	return fmt.Sprintf("from %s to %s: %s", from, to, strings.Join(out, "; "))
}

func listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// functions are the functions to write: those of the pair, or those of the types of fields that no rule converts. Said
// holds those that another error names.
func (u *unconverted) functions(said map[string]bool) []string {
	lines := []string{"write in package " + u.Package.Path + ":"}
	for _, c := range u.failing {
		lines = append(lines, "  "+u.toWrite(c.Pair))
		said[c.Key()] = true
	}
	var parts []string
	for _, x := range u.problems() {
		if x.rule != nil && u.writable(*x.rule) && !said[x.rule.Key()] {
			said[x.rule.Key()] = true
			parts = append(parts, "  "+u.toWrite(*x.rule))
		}
	}
	if len(parts) > 0 {
		lines = append(append(lines, "or, for parts of them alone:"), parts...)
	}
	return lines
}

// toWrite is the signature of a pair's function, with a hint at one of that name that has another signature.
func (u *unconverted) toWrite(p Pair) string {
	s := p.signature(u.Package)
	if fn := u.funcs.misnamed[p.Function()]; fn != nil {
		s += fmt.Sprintf(" (the %s at %s has another signature)", fn.Name, fn.Pos)
	}
	return s
}

// allLost says how all of the fields may be lost, where that is all that is wrong with the pair.
func (u *unconverted) allLost() []string {
	if len(u.kinds()) == 0 {
		return nil
	}
	for _, c := range u.failing {
		for _, x := range problemsToMend(c) {
			if !x.lost() || strings.Contains(x.Field, ".") || !prunable(x.move.Field, c.Out) {
				return nil
			}
		}
	}
	return []string{"or lose them, as a cluster without a conversion webhook does: write // +apigen:conversion:prune " +
		"above the package clause of " + u.Package.Path}
}

// markers say what the author of a struct can do in place of writing a function.
func (u *unconverted) markers() []string {
	var drop, preserve, name, names []string
	for _, c := range u.failing {
		from, _ := c.texts(nil)
		own := c.In.Package != nil && (c.In.Package.Module == nil || c.In.Package.Module.Own)
		fields := func(want func(Problem) bool) []string {
			var found []string
			for _, x := range problemsToMend(c) {
				if want(x) {
					found = append(found, x.Field)
				}
			}
			if len(found) == 0 {
				return nil
			}
			return []string{listed(found) + " of " + from}
		}
		unmarked := func(x Problem) bool { return own && x.lost() && !x.preserved() }
		drop = append(drop, fields(func(Problem) bool { return own })...)
		preserve = append(preserve, fields(unmarked)...)
		name = append(name, fields(func(x Problem) bool { return unmarked(x) && u.spokes(c.In) })...)
		for _, x := range problemsToMend(c) {
			if !own && x.lost() && c.In.Kind != nil && u.spokes(c.In) && !strings.Contains(x.Field, ".") {
				names = append(names, x.Field+":")
			}
		}
	}
	var lines []string
	for _, m := range []struct {
		marker string
		fields []string
	}{{"drop", drop}, {"preserve", preserve}, {"name", name}} {
		if len(m.fields) > 0 {
			lines = append(lines, fmt.Sprintf("or mark %s with +apigen:conversion:%s", strings.Join(m.fields, ", and "),
				m.marker))
		}
	}
	if len(names) > 0 {
		lines = append(lines, fmt.Sprintf("or name the counterparts with +apigen:kind(%s)=+apigen:conversion:names=%s",
			u.failing[0].In.Name, strings.Join(names, ";")))
	}
	return lines
}
