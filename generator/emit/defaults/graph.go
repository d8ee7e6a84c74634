package defaults

import (
	"encoding/json"
	"go/token"
	"sort"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
)

// graph answers, for one package that defaults are written for, which types hold a default somewhere, and which contain
// themselves.
type graph struct {
	program   *model.Program
	pkg       *model.Package
	functions *index

	reach     *emit.Reach
	recursive map[*model.Type]bool
	objects   map[*model.Type]bool
}

func newGraph(program *model.Program, pkg *model.Package, functions *index) *graph {
	g := &graph{
		program: program, pkg: pkg, functions: functions,
		recursive: map[*model.Type]bool{}, objects: map[*model.Type]bool{},
	}
	g.reach = emit.NewReach(g.has, g.inner)
	for _, t := range g.roots() {
		g.objects[t] = true
	}
	return g
}

// source is the package whose types are defaulted.
func (g *graph) source() *model.Package {
	if g.pkg.DefaulterInput != nil {
		return g.pkg.DefaulterInput
	}
	return g.pkg
}

// roots are the types that get a SetObjectDefaults_, by name: those that are asked for and hold a default.
func (g *graph) roots() []*model.Type {
	field := g.pkg.DefaulterField
	if field == "" {
		field = "TypeMeta"
	}
	asked := g.pkg.Defaulter || g.implied()
	var roots []*model.Type
	for _, t := range g.source().Types {
		if g.wanted(t, field, asked) && g.reaches(t) {
			roots = append(roots, t)
		}
	}
	sort.Slice(roots, func(i, j int) bool { return roots[i].Name < roots[j].Name })
	return roots
}

// implied tells whether a package that has no marker gets defaults: it holds kinds of a served version, and no other
// package writes defaults for it. In projects of custom resources, which kube-apiserver defaults by their schema, and
// packages for clients, nobody asks for functions.
func (g *graph) implied() bool {
	if g.pkg.Serves != nil {
		return g.program.RuntimeAvailable
	}
	if !g.program.RuntimeAvailable || !g.pkg.HasGroup || g.pkg.Version == "" || g.pkg.DefaulterInput != nil {
		return false
	}
	for _, other := range g.program.Packages {
		if other.DefaulterInput == g.pkg {
			return false
		}
	}
	return true
}

func (g *graph) wanted(t *model.Type, field string, asked bool) bool {
	if len(t.TypeArgs) > 0 || t.Defaulter == "false" || !exported(t.Name) {
		return false
	}
	if len(nearest(g.functions.object[t], t, g.pkg)) > 0 || declared(g.pkg, objectFunc(t)) {
		return false
	}
	if g.pkg.Serves != nil && t.Kind == nil && t.ListOf == nil {
		return false
	}
	if t.Defaulter == "true" {
		return true
	}
	if !asked || t.Form != model.Struct {
		return false
	}
	for _, f := range t.Fields {
		if f.Name == field {
			return true
		}
	}
	return false
}

// reaches tells whether the type, or anything in it, has a default.
func (g *graph) reaches(t *model.Type) bool { return g.reach.From(t) }

// has tells whether the type itself has one: a function that sets it, or a marker.
func (g *graph) has(t *model.Type) bool {
	return len(g.functions.calls(t, g.pkg).functions) > 0 || g.hasMarker(t)
}

// hasMarker tells whether a field or the elements of the type have a default of their own.
func (g *graph) hasMarker(t *model.Type) bool {
	switch t.Form {
	case model.Struct:
		for _, field := range t.Fields {
			if g.accessible(t, field) && fieldDefault(field) != nil {
				return true
			}
		}
	case model.Slice, model.Array, model.Map:
		return elementDefault(t.Elem) != nil
	}
	return false
}

// inner are the types of what the type holds, as far as defaults go into it.
func (g *graph) inner(t *model.Type) []*model.Type {
	if g.functions.calls(t, g.pkg).covers {
		return nil
	}
	switch t.Form {
	case model.Pointer, model.Slice, model.Array, model.Map:
		return []*model.Type{t.Elem}
	case model.Struct:
		var types []*model.Type
		for _, field := range t.Fields {
			if g.accessible(t, field) {
				types = append(types, field.Type)
			}
		}
		return types
	}
	return nil
}

// accessible tells whether the package may name the field.
func (g *graph) accessible(owner *model.Type, field *model.Field) bool {
	if field.Name == "_" {
		return false
	}
	return field.Exported || owner.Package == g.pkg
}

// containsItself tells whether a value of the named type can hold another of that type.
func (g *graph) containsItself(t *model.Type) bool {
	if known, ok := g.recursive[t]; ok {
		return known
	}
	seen := map[*model.Type]bool{}
	var finds func(*model.Type) bool
	finds = func(at *model.Type) bool {
		for _, inner := range g.inner(at) {
			if inner == t {
				return true
			}
			if !seen[inner] {
				seen[inner] = true
				if finds(inner) {
					return true
				}
			}
		}
		return false
	}
	g.recursive[t] = finds(t)
	return g.recursive[t]
}

// fieldDefault is the default of a field: its own marker, or where it is a pointer that of the type it leads to.
func fieldDefault(field *model.Field) *model.Default {
	if field.Default != nil {
		return effective(field.Default, field.Type)
	}
	if field.Type.Form == model.Pointer {
		return elementDefault(field.Type)
	}
	return nil
}

// elementDefault is the default of a slice's or map's elements: the first on the way from their type through its
// pointers.
func elementDefault(t *model.Type) *model.Default {
	at := t
	for at.Default == nil && at.Form == model.Pointer {
		at = at.Elem
	}
	return effective(at.Default, t)
}

// effective drops a default that asks for nothing: null, or the zero value of the type.
func effective(d *model.Default, t *model.Type) *model.Default {
	if d == nil || d.Ref != nil {
		return d
	}
	value, err := d.Value()
	if err != nil {
		return d // it is told when it is written
	}
	nothing := value == nil
	switch v := value.(type) {
	case string:
		nothing = v == "" && t.Form == model.Basic
	case bool:
		nothing = !v && t.Form == model.Basic
	case json.Number:
		zero, err := v.Float64()
		nothing = err == nil && zero == 0 && t.Form == model.Basic
	case map[string]any:
		nothing = len(v) == 0 && t.Form == model.Struct && !t.DecodesItself()
	}
	if nothing {
		return nil
	}
	return d
}

func exported(name string) bool { return token.IsExported(name) }
