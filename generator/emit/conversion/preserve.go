package conversion

import (
	"slices"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
)

// PreservedAnnotation carries, in the objects of a version, what the version can't hold of the hub's.
const PreservedAnnotation = "apigen.dev/preserved"

// OwnAnnotation carries, in the hub's objects, what a version alone has. Each version has its own, since an object may have
// been written in several.
func OwnAnnotation(version *model.Package) string {
	if version.Version != "" {
		return PreservedAnnotation + "-" + version.Version
	}
	return PreservedAnnotation + "-" + version.Name
}

// preserved is a field of the hub's that the spoke has no home for, and how to get there in both types. Of a field that the
// spoke alone has, the two change places.
type preserved struct {
	steps []step
	field *model.Field
	// name is the path in the annotation: spec.items[].extra.
	name string
}

// keyed tells whether the field occurs more than once in an object.
func (p preserved) keyed() bool {
	for _, s := range p.steps {
		if s.kind == listStep || s.kind == mapStep {
			return true
		}
	}
	return false
}

type stepKind uint8

const (
	fieldStep stepKind = iota
	pointerStep
	listStep
	mapStep
)

// step leads from a value of the hub's type to one within it, and from its counterpart in the spoke to that one's.
type step struct {
	kind       stepKind
	hub, spoke string // the fields' names
	// hubNil and spokeNil tell which of the two is a pointer.
	hubNil, spokeNil bool
	// hubType and spokeType are the types of the list or the map, keys the fields by which its elements are told apart.
	hubType, spokeType *model.Type
	keys               []string
}

// preservedWalk walks a kind of a spoke and that of the hub side by side.
type preservedWalk struct {
	active map[pair]bool
	found  []preserved
	// homes tells, of the fields that are marked, those that some walk found a home for, and those without one.
	homes, homeless map[*model.Field]bool
	// torn are dropped, too.
	torn map[*model.Field]bool
}

func newPreservedWalk() *preservedWalk {
	return &preservedWalk{active: map[pair]bool{}, homes: map[*model.Field]bool{}, homeless: map[*model.Field]bool{}, torn: map[*model.Field]bool{}}
}

func (w *preservedWalk) walk(spoke, hub *model.Type, steps []step, name string) {
	key := pair{spoke, hub}
	if identical(spoke, hub) || w.active[key] {
		return
	}
	w.active[key] = true
	defer delete(w.active, key)
	if hub.Form == model.Pointer || spoke.Form == model.Pointer {
		s := step{kind: pointerStep, hubNil: hub.Form == model.Pointer, spokeNil: spoke.Form == model.Pointer}
		w.walk(pointee(spoke), pointee(hub), with(steps, s), name)
		return
	}
	if spoke.Form != hub.Form {
		return
	}
	switch hub.Form {
	case model.Struct:
		w.fields(spoke, hub, steps, name)
	case model.Slice:
		s := step{kind: listStep, hubType: hub, spokeType: spoke}
		w.walk(spoke.Elem, hub.Elem, with(steps, s), name+"[]")
	case model.Map:
		s := step{kind: mapStep, hubType: hub, spokeType: spoke}
		w.walk(spoke.Elem, hub.Elem, with(steps, s), name+"{}")
	}
}

func (w *preservedWalk) fields(spoke, hub *model.Type, steps []step, name string) {
	for _, g := range hub.Fields {
		f := counterpart(spoke, g)
		switch {
		case g.ConversionOff && g.Preserve:
			w.torn[g] = true
		case g.ConversionOff || !g.Exported:
		case f == nil && g.Preserve:
			w.homeless[g] = true
			w.found = append(w.found, preserved{steps: steps, field: g, name: dotted(name, g)})
		case f != nil:
			if g.Preserve {
				w.homes[g] = true
			}
			inner := with(steps, step{kind: fieldStep, hub: g.Name, spoke: f.Name})
			if g.Type.Form == model.Slice && f.Type.Form == model.Slice {
				inner = append(inner, step{kind: listStep, hubType: g.Type, spokeType: f.Type, keys: listKeys(f, g)})
				w.walk(f.Type.Elem, g.Type.Elem, inner, dotted(name, g)+"[]")
				continue
			}
			w.walk(f.Type, g.Type, inner, dotted(name, g))
		}
	}
}

// listKeys are the hub's names of the fields that tell the elements of a list apart; nil where there are none, and the
// place in the list counts.
func listKeys(f, g *model.Field) []string {
	marked, elem, other := f, pointee(f.Type.Elem), pointee(g.Type.Elem)
	if len(g.Schema.ListMapKeys) > 0 {
		marked, elem, other = g, other, elem
	}
	if marked.Schema.ListType != "map" || elem.Form != model.Struct || other.Form != model.Struct {
		return nil
	}
	var keys []string
	for _, name := range marked.Schema.ListMapKeys {
		found := false
		for _, k := range elem.Fields {
			if k.JSON != name || k.Type.Form != model.Basic || !k.Exported {
				continue
			}
			if marked == f {
				if k = counterpart(other, k); k == nil || k.Type.Form != model.Basic {
					continue
				}
			}
			keys, found = append(keys, k.Name), true
		}
		if !found {
			return nil
		}
	}
	return keys
}

func pointee(t *model.Type) *model.Type {
	if t.Form == model.Pointer {
		return t.Elem
	}
	return t
}

func with(steps []step, s step) []step { return append(append([]step(nil), steps...), s) }

func dotted(path string, f *model.Field) string {
	switch {
	case f.JSON == "" || f.Inline:
		return path
	case path == "":
		return f.JSON
	}
	return path + "." + f.JSON
}

// walkPreserved walks all kinds of spokes.
func walkPreserved(tasks ...*task) *preservedWalk {
	w := newPreservedWalk()
	for _, t := range tasks {
		for _, p := range t.pairs {
			if t.spokes(p.in) && p.in.Kind != nil && p.out.Kind != nil {
				w.walk(p.in, p.out, nil, "")
				w.walk(p.out, p.in, nil, "")
			}
		}
	}
	return w
}

// checkPreserved refuses marks that can't mean anything.
func checkPreserved(tasks []*task, errs *emit.Errors) {
	w := walkPreserved(tasks...)
	for f := range w.homes {
		if !w.homeless[f] {
			errs.Add(f.Pos, "field %s is marked +apigen:conversion:preserve, and every version has it: remove the marker", f.Name)
		}
	}
	for f := range w.torn {
		errs.Add(f.Pos, "field %s is marked +apigen:conversion:preserve and +apigen:conversion:drop: keep one of them", f.Name)
	}
	for _, t := range tasks {
		t.checkOwn(errs)
	}
}

// checkOwn refuses to preserve what a version alone has within a subresource: the hub's annotations are no part of it, so that
// they are neither written with it nor kept from who writes the object itself.
func (t *task) checkOwn(errs *emit.Errors) {
	told := map[*model.Field]bool{}
	for _, p := range t.pairs {
		if !t.spokes(p.in) || p.in.Kind == nil || p.out.Kind == nil {
			continue
		}
		names := t.subresourceFields(p.out)
		for _, f := range preservedIn(p.out, p.in) {
			if len(f.steps) == 0 || told[f.field] || names[f.steps[0].spoke] == "" {
				continue
			}
			told[f.field] = true
			errs.Add(f.field.Pos, "field %s is marked +apigen:conversion:preserve, and belongs to the subresource %s, which is written without the annotations that would carry it: add the field to the %s of %s",
				f.field.Name, names[f.steps[0].spoke], f.steps[0].spoke, text(p.out, nil))
		}
	}
}

// subresourceFields are the names of the subresources that are fields of a hub, by their names in Go.
func (t *task) subresourceFields(hub *model.Type) map[string]string {
	out := map[string]string{}
	for _, g := range t.universe.program.Groups {
		for _, r := range g.Resources {
			if r.Hub != hub {
				continue
			}
			if r.Status {
				out["Status"] = "status"
			}
			for _, s := range r.Subresources {
				if s.Form == model.FieldSubresource && s.Field != nil {
					out[s.Field.Name] = s.Name
				}
			}
		}
	}
	return out
}

// preservedIn are the fields of a kind that are preserved where it is converted to another one, which lacks them.
func preservedIn(other, kind *model.Type) []preserved {
	w := newPreservedWalk()
	w.walk(other, kind, nil, "")
	return w.found
}

// mirrored makes steps lead through two objects of the type with the fields.
func mirrored(fields []preserved) []preserved {
	for i := range fields {
		fields[i].steps = slices.Clone(fields[i].steps)
		for j := range fields[i].steps {
			s := &fields[i].steps[j]
			s.spoke, s.spokeNil, s.spokeType = s.hub, s.hubNil, s.hubType
		}
	}
	return fields
}

// Preserves tells whether objects of the version carry fields of the hub in an annotation.
func Preserves(version, hub *model.Type) bool {
	return len(preservedIn(version, hub)) > 0
}
