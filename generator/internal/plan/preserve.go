package plan

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/serving"
)

// PreservedAnnotation carries, in the objects of a version, what the version can't hold of the hub's.
const PreservedAnnotation = "apigen.dev/preserved"

// OwnAnnotation carries, in the hub's objects, what a version alone has. Each version has its own, since an object may
// have been written in several.
func OwnAnnotation(version *model.Package) string {
	if version.Version != "" {
		return PreservedAnnotation + "-" + version.Version
	}
	return PreservedAnnotation + "-" + version.Name
}

// Preserved is a field of the hub's that the spoke has no home for, and how to get there in both types. Of a field that
// the spoke alone has, the two change places.
type Preserved struct {
	Steps []Step
	Field *model.Field
	// Name is the path in the annotation: spec.items[].extra.
	Name string
}

// Keyed reports whether the field occurs more than once in an object.
func (p Preserved) Keyed() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Kind == ListStep || s.Kind == MapStep })
}

// Carrier takes preserved fields of a kind through an annotation, in one direction.
type Carrier struct {
	Spoke, Hub *model.Type
	// Own: the fields are the spoke's, and the annotation the hub's; else it is the other way round.
	Own    bool
	ToHub  bool
	Fields []Preserved
}

// Fills reports whether the direction gives fields back, and doesn't note them.
func (c *Carrier) Fills() bool { return c.ToHub != c.Own }

// Annotation is where the fields travel.
func (c *Carrier) Annotation() string {
	if c.Own {
		return OwnAnnotation(c.Spoke.Package)
	}
	return PreservedAnnotation
}

// Digests reports whether the elements of some list have no keys.
func (c *Carrier) Digests() bool {
	return slices.ContainsFunc(c.Fields, func(f Preserved) bool {
		return slices.ContainsFunc(f.Steps, func(s Step) bool { return s.Kind == ListStep && s.Keys == nil })
	})
}

// carriers are those of a conversion of kinds, in the order in which they work: a version is whole before what it can't
// hold is noted beside its elements.
func (t *planner) carriers(c *Conversion) []*Carrier {
	if c.In.Kind == nil || c.Out.Kind == nil || !t.concerned(c.Pair) {
		return nil
	}
	hubs := Carrier{Spoke: c.Out, Hub: c.In}
	if t.spokes(c.In) {
		hubs = Carrier{Spoke: c.In, Hub: c.Out, ToHub: true}
	}
	owns := hubs
	hubs.Fields = t.preservedIn(Pair{hubs.Hub, hubs.Spoke})
	owns.Own, owns.Fields = true, mirrored(t.preservedIn(Pair{hubs.Spoke, hubs.Hub}))
	out := []*Carrier{&owns, &hubs}
	if hubs.ToHub {
		slices.Reverse(out)
	}
	return slices.DeleteFunc(out, func(c *Carrier) bool { return len(c.Fields) == 0 })
}

// StepKind is what a step leads through.
type StepKind uint8

// The kinds.
const (
	FieldStep StepKind = iota
	PointerStep
	ListStep
	MapStep
)

// Step leads from a value of the hub's type to one within it, and from its counterpart in the spoke to that one's.
type Step struct {
	Kind       StepKind
	Hub, Spoke string // the fields' names
	// HubNil and SpokeNil tell which of the two is a pointer.
	HubNil, SpokeNil bool
	// HubType and SpokeType are the types of the list or the map, Keys the fields by which its elements are told apart.
	HubType, SpokeType *model.Type
	Keys               []string
}

// preservedWalk follows the conversion of a kind of the hub to that of a spoke, or the reverse, to fields that are
// marked.
type preservedWalk struct {
	active map[Pair]bool
	found  []Preserved
	// homes tells, of the fields that are marked, those that some walk found a home for, and those without one.
	homes, homeless map[*model.Field]bool
	// torn are dropped, too.
	torn map[*model.Field]bool
	// ends are the fields that no walk looks into.
	ends []end
}

func (w *preservedWalk) conversion(c *Conversion, steps []Step, name string) {
	if w.active[c.Pair] {
		return
	}
	w.active[c.Pair] = true
	defer delete(w.active, c.Pair)
	for _, m := range c.Fields {
		g, f := m.Field, m.To
		if f == nil || g.ConversionOff {
			w.ends = append(w.ends, end{c.Pair, g})
		}
		switch {
		case g.ConversionOff && g.Preserve:
			w.torn[g] = true
		case g.ConversionOff || !g.Exported:
		case f == nil && g.Preserve:
			w.homeless[g] = true
			w.found = append(w.found, Preserved{Steps: steps, Field: g, Name: dotted(name, g)})
		case f != nil:
			if g.Preserve {
				w.homes[g] = true
			}
			w.move(m.Move, listKeys(f, g), with(steps, Step{Kind: FieldStep, Hub: g.Name, Spoke: f.Name}),
				dotted(name, g))
		}
	}
}

func (w *preservedWalk) move(m *Move, keys []string, steps []Step, name string) {
	m = m.itself()
	switch m.Kind {
	case Pointer, FromPointer, ToPointer:
		s := Step{Kind: PointerStep, HubNil: m.Kind != ToPointer, SpokeNil: m.Kind != FromPointer}
		w.move(m.Elem, nil, with(steps, s), name)
	case Slice:
		w.move(m.Elem, nil, with(steps, Step{Kind: ListStep, HubType: m.In, SpokeType: m.Out, Keys: keys}), name+"[]")
	case Map:
		w.move(m.Elem, nil, with(steps, Step{Kind: MapStep, HubType: m.In, SpokeType: m.Out}), name+"{}")
	default:
		if m.Conversion != nil {
			w.conversion(m.Conversion, steps, name)
		}
	}
}

// listKeys are the hub's names of the fields that tell the elements of a list apart; nil if there are none, and the
// place in the list counts.
func listKeys(f, g *model.Field) []string {
	if f.Type.Form != model.Slice || g.Type.Form != model.Slice {
		return nil
	}
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
				if k = model.Counterpart(other, k); k == nil || k.Type.Form != model.Basic {
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

func with(steps []Step, s Step) []Step { return append(slices.Clone(steps), s) }

func dotted(path string, f *model.Field) string {
	switch {
	case f.JSON == "" || f.Inline:
		return path
	case path == "":
		return f.JSON
	}
	return path + "." + f.JSON
}

func preserved(conversions ...*Conversion) *preservedWalk {
	w := &preservedWalk{active: map[Pair]bool{}, homes: map[*model.Field]bool{}, homeless: map[*model.Field]bool{},
		torn: map[*model.Field]bool{}}
	for _, c := range conversions {
		w.conversion(c, nil, "")
	}
	return w
}

func (t *planner) ofKinds() []*Conversion {
	var out []*Conversion
	for _, p := range t.kinds() {
		out = append(out, t.conversion(p.Reverse()), t.conversion(p))
	}
	return out
}

func (t *planner) kinds() []Pair {
	return slices.DeleteFunc(slices.Clone(t.Roots), func(p Pair) bool {
		return !t.spokes(p.In) || p.In.Kind == nil || p.Out.Kind == nil
	})
}

// checkOwn refuses to preserve what a version alone has within a subresource: the hub's annotations are no part of it,
// so that they are neither written with it nor kept from a client that writes the object itself.
func (t *planner) checkOwn(errs *diag.Errors) {
	reported := map[*model.Field]bool{}
	for _, p := range t.kinds() {
		names := t.subresourceFields(p.Out)
		for _, f := range t.preservedIn(p) {
			path := f.path()
			within := slices.IndexFunc(names, func(s subresourceField) bool { return overlap(s.path, path) })
			if len(f.Steps) == 0 || reported[f.Field] || within < 0 {
				continue
			}
			reported[f.Field] = true
			errs.Add(f.Field.Pos, "field %s is marked +apigen:conversion:preserve, and belongs to the subresource "+
				"%s, which is written without the annotations that would carry it: add the field to the %s of %s",
				f.Field.Name, names[within].subresource, strings.Join(names[within].path, "."), model.TypeText(p.Out))
		}
	}
}

// path is the path to the field, by the Go names of its spoke.
func (p Preserved) path() []string {
	var out []string
	for _, s := range p.Steps {
		if s.Spoke != "" {
			out = append(out, s.Spoke)
		}
	}
	return append(out, p.Field.Name)
}

// overlap reports whether one of two paths begins the other.
func overlap(a, b []string) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// subresourceField is a field of a hub that belongs to a subresource, by its Go names.
type subresourceField struct {
	subresource string
	path        []string
}

func (t *planner) subresourceFields(hub *model.Type) (out []subresourceField) {
	for _, g := range t.universe.program.Groups {
		for _, r := range g.Resources {
			if r.Hub != hub {
				continue
			}
			if r.Status {
				out = append(out, subresourceField{"status", []string{"Status"}})
			}
			for _, s := range r.Subresources {
				if s.Form == model.FieldSubresource && s.Field != nil {
					out = append(out, subresourceField{s.Name, []string{s.Field.Name}})
				}
				for _, parts := range s.Parts {
					for _, part := range parts {
						path := strings.Split(serving.GoPath(part.Steps), ".")
						out = append(out, subresourceField{s.Name, path})
					}
				}
			}
		}
	}
	return out
}

// preservedIn are the fields of a kind that are preserved when it is converted to another one, which lacks them.
func (t *planner) preservedIn(p Pair) []Preserved { return preserved(t.conversion(p)).found }

func mirrored(fields []Preserved) []Preserved {
	for i := range fields {
		fields[i].Steps = slices.Clone(fields[i].Steps)
		for j := range fields[i].Steps {
			s := &fields[i].Steps[j]
			s.Spoke, s.SpokeNil, s.SpokeType = s.Hub, s.HubNil, s.HubType
		}
	}
	return fields
}
