package plan

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// pruning are the packages whose marker +apigen:conversion:prune is about the planner's conversions.
func (t *planner) pruning() []*model.Package {
	candidates := []*model.Package{t.Package, t.Types}
	for _, p := range t.kinds() {
		candidates = append(candidates, p.In.Package.Home(), p.Out.Package.Home())
	}
	var out []*model.Package
	for _, pkg := range candidates {
		if pkg.ConversionPrune && !slices.Contains(out, pkg) {
			out = append(out, pkg)
		}
	}
	return out
}

// prunesIn reports whether the pair of structs loses fields on purpose. A function that is written by hand decides for
// its struct.
func (t *planner) prunesIn(p Pair) bool {
	return t.prunes && t.funcs.find(p) == nil && t.funcs.find(p.Reverse()) == nil
}

// prunable reports whether a conversion may lose a field that has no counterpart in the other type. It may not if the
// other type has a field of that name in JSON: a CustomResourceDefinition would keep the value.
func prunable(f *model.Field, other *model.Type) bool {
	return !f.Preserve && !f.ConversionOff && (f.JSON == "" || f.Inline ||
		!slices.ContainsFunc(other.Fields, func(g *model.Field) bool { return g.JSON == f.JSON && !g.Inline }))
}

// prunesAny reports whether a field of the two structs themselves is pruned.
func (c *Conversion) prunesAny() bool {
	return c.Prunes && (slices.ContainsFunc(c.Fields, func(f *FieldMove) bool { return f.Fate == Pruned }) ||
		slices.ContainsFunc(c.Unset, func(g *model.Field) bool { return prunable(g, c.In) }))
}

// checkPruned reports the markers +apigen:conversion:prune that let nothing be lost.
func checkPruned(program *model.Program, planners []*planner) diag.Errors {
	var errs diag.Errors
	if !program.RuntimeAvailable {
		return errs
	}
	for _, pkg := range program.Packages {
		if !pkg.ConversionPrune || !pkg.Output {
			continue
		}
		concerned, pruned := false, false
		for _, t := range planners {
			if !slices.Contains(t.pruning(), pkg) {
				continue
			}
			concerned = concerned || len(t.kinds()) > 0
			pruned = pruned || slices.ContainsFunc(t.Losses, Losses.prunes)
		}
		switch {
		case pruned:
		case concerned:
			errs.Add(pkg.ConversionPrunePos, "+apigen:conversion:prune has no effect: no kind of %s has a field that "+
				"its counterpart lacks and that neither a function nor another marker takes care of: remove the marker",
				pkg.Path)
		default:
			errs.Add(pkg.ConversionPrunePos, "+apigen:conversion:prune has no effect: no kind of %s is converted: "+
				"remove the marker, or write it above the package clause of a version of a kind that has several",
				pkg.Path)
		}
	}
	return errs
}

func (l Losses) prunes() bool { return len(l.Pruned)+len(l.PrunedOfHub) > 0 }

// PruneNotes names, for each kind of the versions that files are planned for, the fields that conversions prune.
func (p *Plan) PruneNotes() []string {
	var out []string
	for _, c := range p.Conversions() {
		for _, l := range c.Losses {
			if !p.Writes(c.Package) || !l.prunes() {
				continue
			}
			out = append(out, fmt.Sprintf("%s <-> %s: +apigen:conversion:prune loses, %s", model.TypeText(l.In),
				model.TypeText(l.Out), strings.Join(slices.Concat(onlyIn(l.In, l.Pruned), onlyIn(l.Out, l.PrunedOfHub)),
					"; ")))
		}
	}
	return out
}

// onlyIn names the first of some fields of a type.
func onlyIn(t *model.Type, paths []string) []string {
	const few = 5
	more := ""
	switch n := len(paths) - few; {
	case len(paths) == 0:
		return nil
	case n > 0:
		paths, more = paths[:few], fmt.Sprintf(" and %d more (-v lists all)", n)
	}
	return []string{"of " + t.Package.Name + ", " + strings.Join(paths, ", ") + more}
}
