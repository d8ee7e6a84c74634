package serving

import (
	"fmt"
	"strings"

	"apigen.dev/generator/model"
)

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
