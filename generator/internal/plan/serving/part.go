package serving

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// Parts are the fields of a subresource that is a part of its object.
type Parts struct {
	// Hub leads to each field from the hub, by the steps of the first version.
	Hub [][]PartStep
	// Versions has the paths of the fields on the wire, for each served version.
	Versions []VersionParts
}

// PartStep is a field, or with Key, the items of the list that the step before leads to.
type PartStep struct {
	Field *model.Field
	// Key is the field that tells the items of a list apart.
	Key *model.Field
	// JSON is the name of the field, or of the key, in the first version that is served; "" of an embedded struct.
	JSON string
}

// VersionParts are the paths of a subresource's fields in a version: spec.containers[*].resources.
type VersionParts struct {
	Version string
	Paths   []string
}

// parts finds the fields of the hub that those of each version become. All versions must lead to the same ones.
func (s *Serving) parts(r *model.Resource, sub *model.Subresource) {
	out := &Parts{}
	first, firstVersion := "", ""
	for _, v := range r.Served() {
		version := VersionParts{Version: v.Version.Name}
		var fields []string
		for _, part := range sub.Parts[v.Version] {
			steps, err := hubPart(r.Hub, v.Type, part.Steps)
			if err != nil {
				s.Faults.Add(sub.Pos, "part %s of the subresource %s, in version %s of %s: %v", part.Path, sub.Name,
					v.Version.Name, r.Kind, err)
				return
			}
			if firstVersion == "" {
				out.Hub = append(out.Hub, steps)
			}
			version.Paths = append(version.Paths, strings.TrimPrefix(part.Path, "."))
			fields = append(fields, partPath(steps))
		}
		slices.Sort(fields)
		switch text := strings.Join(fields, ", "); {
		case firstVersion == "":
			first, firstVersion = text, v.Version.Name
		case text != first:
			s.Faults.Add(sub.Pos, "subresource %s of %s is %s in version %s, and %s in %s: put a marker with the "+
				"version's own paths on its type", sub.Name, r.Kind, first, firstVersion, text, v.Version.Name)
			return
		}
		out.Versions = append(out.Versions, version)
	}
	s.Parts[sub] = out
}

func hubPart(hub, version *model.Type, steps []model.Step) (out []PartStep, err error) {
	onVersion, at := steps, hub
	if steps, err = onHub(hub, version, steps); err != nil {
		return nil, err
	}
	for i, step := range steps {
		if !step.IsIndex {
			out, at = append(out, PartStep{Field: step.Field, JSON: onVersion[i].Field.JSON}), step.Field.Type
			continue
		}
		list := onVersion[i-1].Field
		item := list.Type.Elem
		at = at.Elem
		key := item.FieldPath(func(f *model.Field) bool { return f.JSON == list.Schema.ListMapKeys[0] })
		if len(key) != 1 {
			return nil, errNoKey(list)
		}
		on := key[0]
		if item != at {
			on = model.Counterpart(at, on)
		}
		if on == nil || on.Type.Form != model.Basic {
			return nil, errNoKey(list)
		}
		out = append(out, PartStep{Key: on, JSON: key[0].JSON})
	}
	return out, nil
}

func errNoKey(list *model.Field) error {
	return fmt.Errorf("the items of %s have no field of a basic type that is their key", list.JSON)
}

// partPath is the path of a part by its Go names.
func partPath(steps []PartStep) string {
	var names []string
	for _, step := range steps {
		if step.Field != nil {
			names = append(names, step.Field.Name)
		}
	}
	return strings.Join(names, ".")
}
