package resolve

import (
	"fmt"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// status notes which metadata a write of the status changes.
func (b *subresourceBuilder) status(m model.SubresourceMarker) {
	switch r := b.resource; {
	case !r.Status:
		b.errorf(m.Pos, "%s has no status subresource in all of its versions: add a field Status and "+
			"+kubebuilder:subresource:status, or remove the marker", r.Kind)
	case len(m.Parts) > 0 || len(m.Methods) > 0 || m.Subpath || m.ContentType != "":
		b.errorf(m.Pos, "the status of %s is the field Status: write metadata= alone, or another name", r.Kind)
	default:
		r.StatusMarker = &m
	}
}

// partMethods are those of subresources that are parts of the object.
var partMethods = []string{"GET", "PATCH", "PUT"}

// partSubresource finds the fields of a subresource in each served version: by the paths of the version's own marker,
// or by those of the marker that was read first.
func (b *subresourceBuilder) partSubresource(s *model.Subresource) *model.Subresource {
	r := b.resource
	other := func(method string) bool { return !slices.Contains(partMethods, method) }
	switch {
	case s.Method != nil:
		return b.refuse(s.Pos, "subresource %s of %s is parts of the object by its marker, and %s has its name: "+
			"remove one of the two", s.Name, r.Kind, described(r.Hub, s))
	case s.Subpath || s.ContentType != "" || slices.ContainsFunc(s.Methods, other):
		return b.refuse(s.Pos, "subresource %s of %s is parts of the object: subpath= and contentType= mean nothing "+
			"here, and methods= may be %s", s.Name, r.Kind, strings.Join(partMethods, ", "))
	case r.WithoutStorage:
		return b.refuse(s.Pos, "subresource %s is a part of its object, and nothing is stored of %s", s.Name, r.Kind)
	}
	if len(s.Methods) == 0 {
		s.Methods = partMethods
	}
	s.Form, s.Parts = model.PartSubresource, map[*model.Version][]model.SubresourcePart{}
	for _, rv := range r.Served() {
		m := s.SubresourceMarker
		for _, own := range rv.Type.Kind.Subresources {
			if own.Name == s.Name && len(own.Parts) > 0 {
				m = own
			}
		}
		for _, path := range m.Parts {
			steps, err := partSteps(rv.Type, path)
			if err != nil {
				return b.refuse(m.Pos, "part %s of the subresource %s, in version %s of %s: %v", path, s.Name,
					rv.Version.Name, r.Kind, err)
			}
			s.Parts[rv.Version] = append(s.Parts[rv.Version], model.SubresourcePart{Path: path, Steps: steps})
		}
	}
	return s
}

// allItems stands for the items of a list in a path.
const allItems = "[*]"

// partSteps resolves the path of a part: fields of structs that have a place in every object, and items of lists that
// have a key.
func partSteps(t *model.Type, path string) ([]model.Step, error) {
	if strings.Contains(strings.ReplaceAll(path, allItems, ""), "[") || strings.HasSuffix(path, allItems) {
		return nil, fmt.Errorf("it leads to fields, and %s stands for the items of a list on the way", allItems)
	}
	names, err := splitPath(path)
	if err != nil {
		return nil, err
	}
	steps, err := walk(t, names)
	if steps == nil && err == nil {
		err = fmt.Errorf("Go's types don't say what its values are")
	}
	if err != nil {
		return nil, err
	}
	return steps, checkPart(t, steps)
}

// checkPart refuses steps through pointers and maps, whose values an object may lack, and through lists without a key.
func checkPart(t *model.Type, steps []model.Step) error {
	var last *model.Field
	for i, step := range steps {
		list := step.IsIndex && t.Form == model.Slice && t.Elem.Form == model.Struct
		switch {
		case t.Form == model.Pointer:
			return fmt.Errorf("it leads through %s, which is a pointer: declare %s whole", last.JSON, last.JSON)
		case step.IsIndex && (!list || last == nil || len(last.Schema.ListMapKeys) != 1):
			return fmt.Errorf("the items of %s are no structs that one key tells apart (+listType=map and "+
				"+listMapKey)", describe(t))
		case step.IsIndex:
			t = t.Elem
			continue
		case step.Field == nil:
			return fmt.Errorf("it leads through %s, whose values an object may lack", describe(t))
		case i == 0 && step.Field.JSON == "metadata":
			return fmt.Errorf("members of metadata are declared by metadata=")
		}
		last, t = step.Field, step.Field.Type
	}
	return nil
}
