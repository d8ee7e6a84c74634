package plan

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// Losses are what the conversions of a kind of a spoke to the hub and back don't copy as it is: fields that are
// dropped, preserved or renamed, functions written by hand, and values that one side can't tell apart or hold.
type Losses struct {
	Pair
	// Lines say one loss each, sorted by the field's path; none: everything is copied.
	Lines []string
	// Pruned are the paths of the fields that only the spoke has, and that only the hub has, which conversions lose
	// because of +apigen:conversion:prune.
	Pruned, PrunedOfHub []string
}

// Report is the losses of all packages that files are planned for, one line each, below a line for each pair of kinds.
func (p *Plan) Report() []string {
	var out []string
	for _, c := range p.Conversions() {
		if !p.Writes(c.Package) {
			continue
		}
		for _, l := range c.Losses {
			head := fmt.Sprintf("%s <-> %s", model.TypeText(l.In), model.TypeText(l.Out))
			if len(l.Lines) == 0 {
				out = append(out, head+": nothing is lost")
				continue
			}
			out = append(out, head+":")
			for _, line := range l.Lines {
				out = append(out, "  "+line)
			}
		}
	}
	return out
}

func (t *planner) lossesOf(p Pair) Losses {
	r := &losses{planner: t, active: map[Pair]bool{}, said: map[string]bool{}}
	c := t.conversion(p)
	r.active[p] = true
	r.fields(c, "", r.byHand(p, ""))
	slices.SortStableFunc(r.lines, func(x, y string) int {
		a, _, _ := strings.Cut(x, ": ")
		b, _, _ := strings.Cut(y, ": ")
		return strings.Compare(a, b)
	})
	return Losses{Pair: p, Lines: r.lines, Pruned: r.pruned, PrunedOfHub: r.prunedOfHub}
}

const hubName = "the hub"

type losses struct {
	*planner
	active map[Pair]bool
	said   map[string]bool
	lines  []string

	pruned, prunedOfHub []string
}

// say adds a line, and reports whether it is new.
func (r *losses) say(path, format string, args ...any) bool {
	if path == "" {
		path = "."
	}
	line := path + ": " + fmt.Sprintf(format, args...)
	if r.said[line] {
		return false
	}
	r.said[line] = true
	r.lines = append(r.lines, line)
	return true
}

func (r *losses) move(m *Move, path string) {
	if r.active[m.Pair] || m.Kind == Assign || m.Kind == Nothing {
		return
	}
	r.active[m.Pair] = true
	defer delete(r.active, m.Pair)
	byHand := r.byHand(m.Pair, path)
	m = m.itself()
	switch {
	case m.Conversion != nil:
		r.fields(m.Conversion, path, byHand)
	case byHand:
	case m.Elem == nil:
		r.numbers(m.Pair, path)
	default:
		switch m.Kind {
		case FromPointer:
			r.say(path, "a pointer in %s and a value in %s: nil becomes the zero value", r.Types.Name, hubName)
		case ToPointer:
			r.say(path, "a value in %s and a pointer in %s: nil becomes the zero value", r.Types.Name, hubName)
		case Slice, Array:
			path += "[]"
		case Map:
			path += "{}"
		}
		r.move(m.Elem, path)
	}
}

// byHand names the functions and methods written by hand for the pair, and reports whether they take care of all of it.
func (r *losses) byHand(p Pair, path string) bool {
	both := 0
	for _, d := range []Pair{p, p.Reverse()} {
		switch fn := r.funcs.find(d); {
		case fn != nil && fn.Drop:
			r.say(path, "dropped by %s", fn.Name)
			both++
		case fn != nil && !fn.CopyOnly:
			r.say(path, "by hand: %s", fn.Name)
			both++
		case byMethod(d) != "":
			r.say(path, "by hand: a method of %s", model.TypeText(p.In))
			both++
		}
	}
	return both == 2
}

func (r *losses) fields(c *Conversion, path string, byHand bool) {
	for _, m := range c.Fields {
		f, g, at := m.Field, m.To, dotted(path, m.Field)
		switch {
		case isTypeMeta(f.Type):
		case f.ConversionOff || g != nil && g.ConversionOff:
			r.say(at, "dropped")
		case g == nil && f.Preserve:
			r.say(at, "preserved in the annotation %s of %s", OwnAnnotation(r.Types), hubName)
		case m.Fate == Pruned:
			if r.say(at, "pruned: %s has no such field", hubName) {
				r.pruned = append(r.pruned, at)
			}
		case g == nil && byHand, m.Fate == LeftToHand:
			r.say(at, "left to what is written by hand")
		case g != nil:
			if f.Name != g.Name {
				r.say(at, "renamed: %s in %s", dotted(path, g), hubName)
			}
			r.move(m.Move, at)
		}
	}
	for _, g := range c.Unset {
		at := dotted(path, g)
		switch {
		case g.ConversionOff:
			r.say(at, "dropped from %s", hubName)
		case g.Preserve:
			r.say(at, "preserved in the annotation %s", PreservedAnnotation)
		case c.Prunes && prunable(g, c.In):
			if r.say(at, "of %s, pruned: %s has no such field", hubName, r.Types.Name) {
				r.prunedOfHub = append(r.prunedOfHub, at)
			}
		case byHand:
			r.say(at, "of %s, left to what is written by hand", hubName)
		}
	}
}

// numbers tells where one side holds less than the other: conversions to it may be refused.
func (r *losses) numbers(p Pair, path string) {
	if p.In.Form != model.Basic || p.Out.Form != model.Basic {
		return
	}
	in, inBits := class(p.In.BasicName())
	out, outBits := class(p.Out.BasicName())
	if in == "" || out == "" || in == out && inBits == outBits {
		return
	}
	r.say(path, "%s in %s and %s in %s: what doesn't fit is refused", p.In.BasicName(), r.Types.Name, p.Out.BasicName(),
		hubName)
}

// RoundTrip is what conversions of a kind to the hub and back lose by design, so that tests don't expect it.
type RoundTrip struct {
	// Dropped are fields that markers drop or prune, NeverNil pointers that the other side holds as values.
	Dropped, NeverNil []StructField
}

// StructField is a field of a struct that has a name.
type StructField struct {
	Owner *model.Type
	Name  string
}

func roundTripOf(c *Conversion) *RoundTrip {
	r := &roundTrip{seen: map[Pair]bool{}, known: map[StructField]bool{}}
	r.conversion(c)
	return &r.RoundTrip
}

type roundTrip struct {
	RoundTrip
	seen  map[Pair]bool
	known map[StructField]bool
}

func (r *roundTrip) conversion(c *Conversion) {
	if r.seen[c.Pair] {
		return
	}
	r.seen[c.Pair] = true
	r.drops(c.In)
	for _, f := range c.Fields {
		if f.To == nil {
			if f.Fate == Pruned {
				r.add(&r.Dropped, c.In, f.Field)
			}
			continue
		}
		if here, there := pointers(f.Field.Type, f.To.Type); here {
			r.add(&r.NeverNil, c.In, f.Field)
		} else if there {
			r.add(&r.NeverNil, c.Out, f.To)
		}
		m := f.Move.itself()
		for m.Elem != nil {
			m = m.Elem.itself()
		}
		if m.Conversion != nil {
			r.conversion(m.Conversion)
			if m.Conversion.In.Package == nil && m.Conversion.prunesAny() { // no test can name the inner field
				r.add(&r.Dropped, c.In, f.Field)
				r.add(&r.Dropped, c.Out, f.To)
			}
		}
	}
	r.drops(c.Out)
	for _, g := range c.Unset {
		if c.Prunes && prunable(g, c.In) {
			r.add(&r.Dropped, c.Out, g)
		}
	}
}

// pointers tells which of two types is a pointer where the other one is a value: they themselves, or what the lists or
// maps that they are hold.
func pointers(a, b *model.Type) (here, there bool) {
	for range 8 { // a type may be a list of itself
		switch {
		case a == nil || b == nil:
			return false, false
		case (a.Form == model.Pointer) != (b.Form == model.Pointer):
			return a.Form == model.Pointer, b.Form == model.Pointer
		case a.Form != model.Slice && a.Form != model.Array && a.Form != model.Map:
			return false, false
		}
		a, b = a.Elem, b.Elem
	}
	return false, false
}

func (r *roundTrip) drops(t *model.Type) {
	for _, f := range t.Fields {
		if f.ConversionOff {
			r.add(&r.Dropped, t, f)
		}
	}
}

func (r *roundTrip) add(to *[]StructField, owner *model.Type, f *model.Field) {
	key := StructField{owner, f.Name}
	if owner.Package == nil || len(owner.TypeArgs) > 0 || !f.Exported || r.known[key] {
		return
	}
	r.known[key] = true
	*to = append(*to, key)
}
