// Package serving decides what the wiring of a resource prints beside hooks and conversions: its storage version,
// selectable fields, scale, columns, strategy and the options of its subresources. It is a part of the plan, and knows
// the model.
package serving

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
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

// storage finds the storage version, or reports that there is none. The runtime writes only versions that it serves.
func (s *Serving) storage(r *model.Resource) bool {
	for i, v := range r.Versions {
		if v.Version != r.Storage {
			continue
		}
		served := slices.ContainsFunc(r.Served(), func(o model.ResourceVersion) bool { return o.Version == r.Storage })
		if !served && !r.WithoutStorage() {
			s.Faults.Add(v.Type.Pos, "%s is stored in version %s, which is not served: serve it, or put "+
				"+kubebuilder:storageversion on a version that is", r.Kind, r.Storage.Name)
			return false
		}
		s.Storage = &r.Versions[i]
		return true
	}
	if !r.WithoutStorage() {
		s.Faults.Add(r.Hub.Pos, "%s has no version to store it in: put +kubebuilder:storageversion on one of its "+
			"versions", r.Kind)
	}
	return r.WithoutStorage()
}

// Selectable is a field that clients can select by, of all versions.
type Selectable struct {
	// Path is the field's in JSON: spec.color. Steps lead to it from the hub.
	Path  string
	Steps []model.Step
}

// selectable decides the selectable fields. A path must mean the same field of the hub in every version.
func (s *Serving) selectable(r *model.Resource) {
	known := map[string]string{}
	for _, v := range r.Served() {
		if v.Type.Kind == nil {
			continue
		}
		for _, f := range v.Type.Kind.Selectable {
			path := strings.TrimPrefix(f.JSONPath, ".")
			steps, err := selectorSteps(r.Hub, v.Type, path, f.Steps)
			if err != nil {
				s.Faults.Add(f.Pos, "selectable field %s: %s", f.JSONPath, err)
				continue
			}
			name := GoPath(steps)
			if other, ok := known[path]; ok {
				if other != name {
					s.Faults.Add(f.Pos, "selectable field %s: is %s of the hub here, and %s in another version: a "+
						"path means the same in every version", f.JSONPath, name, other)
				}
				continue
			}
			known[path] = name
			if err := checkSelectable(r.Hub, steps); err != nil {
				s.Faults.Add(f.Pos, "selectable field %s: %s", f.JSONPath, err)
				continue
			}
			s.Selectable = append(s.Selectable, Selectable{path, steps})
		}
	}
}

// selectorSteps leads to a version's selectable field from the hub.
func selectorSteps(hub, version *model.Type, path string, steps []model.Step) ([]model.Step, error) {
	if path == "metadata.name" || path == "metadata.namespace" {
		return nil, fmt.Errorf("every kind can be selected by that: remove the marker")
	}
	if steps == nil {
		return nil, fmt.Errorf("leads to no field of %s", version.Name)
	}
	return onHub(hub, version, steps)
}

func checkSelectable(hub *model.Type, steps []model.Step) error {
	end, err := pathEnd(hub, steps)
	if err == nil && !model.IsString(end) && !model.IsBool(end) && !model.IsInteger(end) {
		err = fmt.Errorf("%s is neither a string, nor a boolean, nor an integer", model.TypeText(end))
	}
	return err
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
	if r.Verbs == nil && !counted(types) {
		out = append(out, "NoGeneration")
	}
	return out
}

// counted tells whether objects have a generation: where a marker says so, or none says that they have none and there
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
