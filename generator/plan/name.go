package plan

import (
	"slices"

	"apigen.dev/generator/model"
)

// Func names a function of a package, which is written by hand or in this run.
type Func struct{ Path, Name string }

func (f Func) String() string { return f.Path + "." + f.Name }

// IsNamed tells a type by its package and name.
func IsNamed(t *model.Type, path string, names ...string) bool {
	return t.Package != nil && t.Package.Path == path && slices.Contains(names, t.Name)
}

// declares tells whether hand-written code of the package declares the name.
func declares(pkg *model.Package, name string) bool {
	_, ok := pkg.Declared[name]
	return ok
}

func fieldNamed(t *model.Type, name string) *model.Field {
	for _, f := range t.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// TypeText is a type as Go writes it.
func TypeText(t *model.Type) string {
	switch {
	case t.Package != nil:
		return t.Package.Name + "." + t.Name
	case t.Form == model.Basic:
		return t.Basic
	case t.Form == model.Pointer:
		return "*" + TypeText(t.Elem)
	case t.Form == model.Slice:
		return "[]" + TypeText(t.Elem)
	case t.Form == model.Map:
		return "map[" + TypeText(t.Key) + "]" + TypeText(t.Elem)
	case t.Form == model.Interface && len(t.InterfaceMethods) == 0:
		return "any"
	case t.Name != "":
		return t.Name
	}
	return "a composite type"
}

// The functions of a group's wiring package that return its OpenAPI documents.
const (
	// OpenAPIFunc returns the OpenAPI v3 document of each version, by its name.
	OpenAPIFunc = "openAPI"
	// SwaggerFunc returns the OpenAPI v2 document of all versions.
	SwaggerFunc = "swagger"
)

// AppliedSchemas are the OpenAPI schemas of the kinds that clients apply, which apply configurations are made from.
type AppliedSchemas struct {
	// Components are the schemas of a version's kinds and of all that they refer to, by name.
	Components map[*model.Version]map[string]map[string]any
	// Names are the names of the kinds' schemas. SchemeNames are those by which a scheme of apimachinery looks for
	// them.
	Names, SchemeNames map[*model.Type]string
	// Err are faults of the types.
	Err error
}
