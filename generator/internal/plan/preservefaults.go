package plan

import (
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// checkPreserved reports the marks to preserve a field that have no effect, or not the one that they ask for.
func checkPreserved(planners []*planner) diag.Errors {
	var errs diag.Errors
	var all []*Conversion
	for _, t := range planners {
		all = append(all, slices.DeleteFunc(t.ofKinds(), t.withoutCarriers)...)
	}
	w := preserved(all...)
	for f := range w.homes {
		if !w.homeless[f] {
			errs.Add(f.Pos, "field %s is marked +apigen:conversion:preserve, and every version has it: remove the "+
				"marker", f.Name)
		}
	}
	for f := range w.torn {
		errs.Add(f.Pos, "field %s is marked +apigen:conversion:preserve and +apigen:conversion:drop: keep one of them",
			f.Name)
	}
	for _, t := range planners {
		t.checkOwn(&errs)
	}
	w.checkReached(planners, &errs)
	return errs
}

// withoutCarriers reports whether a conversion of kinds is written by hand and leaves out the generated code for
// annotations.
func (t *planner) withoutCarriers(c *Conversion) bool {
	fn := t.funcs.find(c.Pair)
	if fn == nil {
		return c.Method != ""
	}
	return fn.Path == t.Package.Path && !t.Package.Mentions["auto"+fn.Name]
}

// end is a field that isn't converted, whose marker says so or which has no counterpart.
type end struct {
	Pair
	field *model.Field
}

// checkReached reports the fields that are marked, and that no conversion of kinds leads to.
func (w *preservedWalk) checkReached(planners []*planner, errs *diag.Errors) {
	checked := map[*model.Type]bool{}
	for _, t := range planners {
		for _, pair := range t.kinds() {
			for _, pkg := range []*model.Package{pair.In.Package, pair.Out.Package} {
				if !pkg.Own() {
					continue
				}
				for _, typ := range pkg.Types {
					if !checked[typ] {
						checked[typ] = true
						w.checkType(t, pair, typ, errs)
					}
				}
			}
		}
	}
}

func (w *preservedWalk) checkType(t *planner, pair Pair, named *model.Type, errs *diag.Errors) {
	for typ := range named.WithAnonymous() {
		for _, f := range typ.Fields {
			if f.Preserve && !w.homes[f] && !w.homeless[f] && !w.torn[f] {
				errs.Add(f.Pos, "field %s of %s is marked +apigen:conversion:preserve, which has no effect: "+
					w.unreached(t, pair, named), f.Name, model.TypeText(named))
			}
		}
	}
}

// unreached says why no walk looks into a type.
func (w *preservedWalk) unreached(t *planner, pair Pair, typ *model.Type) string {
	for _, e := range w.ends {
		if !holds(e.field.Type, typ) {
			continue
		}
		of := "field " + e.field.Name + " of " + model.TypeText(e.In)
		switch {
		case e.field.ConversionOff:
			return of + ", which holds it, is marked +apigen:conversion:drop: remove one of the markers"
		case e.field.Preserve:
			return of + ", which holds it, is preserved as a whole: remove the marker"
		}
		return model.TypeText(e.Out) + " has no field " + e.field.Name + ", which holds it: mark " + of + " instead"
	}
	for _, c := range t.ofKinds() {
		switch {
		case !t.withoutCarriers(c) || !holds(c.In, typ) && !holds(c.Out, typ):
		case c.Method != "":
			return "method " + c.Method + ", written by hand, converts the kind, and writes no annotation: " +
				"convert the field there, or write functions " + c.Function() + " and " +
				c.Reverse().Function() + " in place of the methods"
		default:
			return c.Function() + " doesn't call auto" + c.Function() + ", which writes the annotation: call it"
		}
	}
	return "no kind of " + pair.In.Package.Path + " and its counterpart lead to it under the same names"
}

// holds reports whether values of a type hold values of the other one.
func holds(outer, inner *model.Type) bool {
	return model.NewReach(func(t *model.Type) bool { return t == inner }, func(t *model.Type) []*model.Type {
		var parts []*model.Type
		for _, f := range t.Fields {
			parts = append(parts, f.Type)
		}
		if t.Elem != nil {
			parts = append(parts, t.Elem)
		}
		return parts
	}).From(outer)
}
