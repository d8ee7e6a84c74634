package cel

import (
	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// provider tells the checker the fields of objects, by the names of their types, and leaves all other types to another.
type provider struct {
	types.Provider
	objects map[string]*declaration
}

// FindStructType finds the type of an object.
func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if d, ok := p.objects[name]; ok {
		return types.NewTypeTypeWithParam(d.typ), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames names nothing: nobody can make an object in an expression.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if _, ok := p.objects[name]; ok {
		return nil, false
	}
	return p.Provider.FindStructFieldNames(name)
}

// FindStructFieldType finds the type of a field.
func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	d, ok := p.objects[name]
	if !ok {
		return p.Provider.FindStructFieldType(name, field)
	}
	if f, ok := d.fields[field]; ok {
		return &types.FieldType{Type: f.typ}, true
	}
	return nil, false
}

// typed is the environment in which the types of a declaration's objects are known.
func typed(root *declaration) (*celgo.Env, error) {
	env, err := base()
	if err != nil {
		return nil, err
	}
	objects := map[string]*declaration{}
	root.objects(objects)
	return env.Extend(celgo.CustomTypeProvider(&provider{Provider: env.CELTypeProvider(), objects: objects}))
}
