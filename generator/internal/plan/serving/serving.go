// Package serving decides what the wiring of a resource prints beside hooks and conversions: its storage version,
// selectable fields, scale, columns, strategy and the options of its subresources. It is a part of the plan, and knows
// the model.
package serving

import (
	"fmt"
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

const metaPath = "k8s.io/apimachinery/pkg/apis/meta/v1"

// Serving is what the wiring of a resource prints, beside hooks and conversions. What can't be served is missing, and
// has a fault.
type Serving struct {
	// Status is the hub's status field; nil without the subresource.
	Status *model.Field
	// Storage is the served version that objects are stored in; it may be nil for kinds without storage.
	Storage    *model.ResourceVersion
	Selectable []Selectable
	Scale      *Scale
	// Name is the rule for names; nil if no marker names one. NamePos is where the marker stands.
	Name    *model.NameRule
	NamePos model.Position
	// Strategy are the fields of the runtime's Strategy that are true. Options are those of subresources.
	Strategy []string
	Options  map[*model.Subresource][]Option
	// Parts are the fields of subresources that are parts of the object.
	Parts  map[*model.Subresource]*Parts
	Faults diag.Errors
}

// New decides the serving of a resource.
func New(r *model.Resource) *Serving {
	s := &Serving{Strategy: strategy(r), Options: map[*model.Subresource][]Option{},
		Parts: map[*model.Subresource]*Parts{}}
	if len(r.Served()) == 0 || !s.storage(r) {
		return s
	}
	if r.Status {
		if s.Status = model.FieldNamed(r.Hub, "Status"); s.Status == nil {
			s.Faults.Add(r.Hub.Pos, "%s has a status in its versions, and none in %s.%s: add a Status field there",
				r.Kind, r.Hub.Package.Name, r.Hub.Name)
		}
	}
	s.nameRule(r)
	s.selectable(r)
	for _, sub := range r.Subresources {
		switch sub.Form {
		case model.ScaleSubresource:
			s.scale(r, sub)
		case model.PartSubresource:
			s.parts(r, sub)
		}
		if sub.Options != nil {
			s.Options[sub] = options(sub, sub.Options, "", 0, &s.Faults)
		}
	}
	return s
}

// nameRule decides the rule for names, which is the same in all versions. Where no marker of the kind names one, and
// the metadata of all versions declare a format of the name, that is the rule: no other holds beside it.
func (s *Serving) nameRule(r *model.Resource) {
	for _, v := range r.Versions {
		switch k := v.Type.Kind; {
		case k == nil || k.Name == nil:
		case s.Name == nil:
			s.Name, s.NamePos = k.Name, k.NamePos
		case s.Name != k.Name:
			s.Faults.Add(k.NamePos, "the names of %s follow the rule %s here, but %s in another version: all versions "+
				"have the same objects", r.Kind, k.Name.Word, s.Name.Word)
		}
	}
	undeclared := func(v model.ResourceVersion) bool { return !declaresName(v.Type) }
	if s.Name == nil && !slices.ContainsFunc(r.Served(), undeclared) {
		s.Name = model.NameRuleOf(model.AnyName)
	}
}

// declaresName reports whether a marker of the kind's metadata gives the name a format.
func declaresName(t *model.Type) bool {
	metadata := model.FieldNamed(t, "ObjectMeta")
	return metadata != nil && slices.ContainsFunc(metadata.Schema.Subfields, func(p model.Part) bool {
		return p.Name == "name" && p.Schema.Format != ""
	})
}

// storage finds the storage version, or reports that there is none. The runtime writes only versions that it serves.
func (s *Serving) storage(r *model.Resource) bool {
	stored := r.Stored()
	for i, v := range stored.Versions {
		if v.Version != r.Storage {
			continue
		}
		served := slices.ContainsFunc(stored.Served(), func(o model.ResourceVersion) bool {
			return o.Version == r.Storage
		})
		if !served && !r.WithoutStorage {
			s.Faults.Add(v.Type.Pos, "%s is stored in version %s, which is not served: serve it, or put "+
				"+kubebuilder:storageversion on a version that is", r.Kind, r.Storage.Name)
			return false
		}
		s.Storage = &stored.Versions[i]
		return true
	}
	if !r.WithoutStorage {
		s.Faults.Add(r.Hub.Pos, "%s has no version to store it in: put +kubebuilder:storageversion on one of its "+
			"versions", r.Kind)
	}
	return r.WithoutStorage
}

// Selectable is a field that clients can select by.
type Selectable struct {
	// Name is what selectors call it, which is its path in JSON unless a marker says otherwise: spec.color.
	Name string
	// Steps lead to the field from the hub, or from what Call returns, where that isn't nil.
	Steps []model.Step
	Call  *Call
	// Versions are the names of those that are marked for it; nil where all served ones are.
	Versions []string
	// Of is the path of the same field in another group that the resource is the same as; "" where that has none.
	Of string
}

// selectable decides the selectable fields. A path must mean the same field of the hub in every version that has it.
func (s *Serving) selectable(r *model.Resource) {
	served := r.Served()
	for _, v := range served {
		if v.Type.Kind == nil {
			continue
		}
		for _, f := range v.Type.Kind.Selectable {
			if err := s.selectableIn(r, v, f); err != nil {
				s.Faults.Add(f.Pos, "selectable field %s: %s", f.Shown(), err)
			}
		}
	}
	for i := range s.Selectable {
		if len(s.Selectable[i].Versions) == len(served) {
			s.Selectable[i].Versions = nil
		}
	}
	if r.SameAs != nil {
		s.shareSelectable(New(r.SameAs.Resource).Selectable)
	}
}

// shareSelectable finds fields in those of the stored resource. Each of those is given once.
func (s *Serving) shareSelectable(stored []Selectable) {
	given := map[string]bool{}
	for i := range s.Selectable {
		f := &s.Selectable[i]
		at := slices.IndexFunc(stored, func(o Selectable) bool { return o.same(f) && !given[o.Name] })
		if at >= 0 {
			f.Of = stored[at].Name
			given[f.Of] = true
		}
	}
}

// same reports whether two fields have the same value: the same field of the hub, or of what the same function returns.
func (s *Selectable) same(o *Selectable) bool {
	if (s.Call == nil) != (o.Call == nil) || s.Call != nil && *s.Call != *o.Call {
		return false
	}
	return GoPath(s.Steps) == GoPath(o.Steps)
}

// selectableIn adds a field of a version, or the version to the field.
func (s *Serving) selectableIn(r *model.Resource, v model.ResourceVersion, f model.SelectableField) error {
	found, err := findSelectable(r.Hub, v.Type, f)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.Selectable, func(known Selectable) bool { return known.Name == f.Name })
	if i < 0 {
		found.Versions = []string{v.Version.Name}
		s.Selectable = append(s.Selectable, found)
		return nil
	}
	known := &s.Selectable[i]
	if what, other := found.what(), known.what(); what != other {
		return fmt.Errorf("is %s of the hub here, and %s in another version: a name means the same in every version",
			what, other)
	}
	if !slices.Contains(known.Versions, v.Version.Name) {
		known.Versions = append(known.Versions, v.Version.Name)
	}
	return nil
}

// what names the field or the method of the hub.
func (s Selectable) what() string {
	if s.Call != nil {
		return s.Call.Method + "()"
	}
	return GoPath(s.Steps)
}

// findSelectable finds what a marker of a version selects by on the hub, and checks that it can be compared.
func findSelectable(hub, version *model.Type, f model.SelectableField) (found Selectable, err error) {
	found.Name = f.Name
	start := hub
	switch {
	case f.Name == "metadata.name" || f.Name == "metadata.namespace":
		return found, fmt.Errorf("every kind can be selected by that: remove the marker")
	case f.Method != "":
		if found.Call, err = callOf(hub, f.Method); err == nil {
			start = found.Call.Result
		}
	default:
		if found.Steps, err = selectorSteps(hub, version, f.Steps); err != nil && f.Steps != nil {
			err = fmt.Errorf("%w; for a value that the hub has elsewhere, write +apigen:selectablefield:name=%s,"+
				"method=M in the marker's place, and a method `func (in *%s) M() string` of %s that returns it", err,
				f.Name, hub.Name, model.TypeText(hub))
		}
	}
	if err == nil {
		err = checkSelectable(start, found.Steps)
	}
	return found, err
}

// selectorSteps leads to a version's selectable field from the hub.
func selectorSteps(hub, version *model.Type, steps []model.Step) ([]model.Step, error) {
	if steps == nil {
		return nil, fmt.Errorf("leads to no field of %s", version.Name)
	}
	return onHub(hub, version, steps)
}

func checkSelectable(start *model.Type, steps []model.Step) error {
	end, err := pathEnd(start, steps)
	if err == nil && !model.IsString(end) && !model.IsBool(end) && !model.IsInteger(end) && !IsText(end) {
		err = fmt.Errorf("%s is neither a string, nor a boolean, nor an integer", model.TypeText(end))
	}
	return err
}

// IsText reports whether a type is a struct that writes itself into JSON as a string: a duration or a time. Clients can
// select by that string, as by those of custom resources.
func IsText(t *model.Type) bool {
	switch schema.KnownAs(t) {
	case schema.Duration, schema.Time, schema.MicroTime:
		return true
	}
	return false
}

// strategyMarkers are the fields of a Strategy that markers of a kind set.
var strategyMarkers = []struct {
	field string
	set   func(*model.Kind) bool
}{
	{"AllowCreateOnUpdate", func(k *model.Kind) bool { return k.CreateOnUpdate }},
	{"RequireVersionOnUpdate", func(k *model.Kind) bool { return k.RequireResourceVersion }},
	{"ReturnDeletedObject", func(k *model.Kind) bool { return k.ReturnDeletedObject }},
}

// strategy returns the fields of the Strategy that are true, besides hooks: those that any version of the kind or its
// hub is marked for, and NoGeneration.
func strategy(r *model.Resource) []string {
	types := []*model.Type{r.Hub}
	for _, v := range r.Versions {
		types = append(types, v.Type)
	}
	var out []string
	for _, m := range strategyMarkers {
		if slices.ContainsFunc(types, func(t *model.Type) bool { return t.Kind != nil && m.set(t.Kind) }) {
			out = append(out, m.field)
		}
	}
	if !r.WithoutStorage && !counted(types) {
		out = append(out, "NoGeneration")
	}
	return out
}

// counted reports whether objects have a generation: where a marker says so, or none says that they have none and there
// is a spec whose changes are counted.
func counted(types []*model.Type) bool {
	spec := false
	for _, t := range types {
		if t.Kind != nil && t.Kind.Generation != nil {
			return *t.Kind.Generation
		}
		spec = spec || slices.ContainsFunc(t.Fields, func(f *model.Field) bool {
			return f.JSON == "spec" || f.Name == "Spec"
		})
	}
	return spec
}
