package cel

import (
	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// provider gives the checker the fields of objects, by the names of their types. It leaves all other types to another
// provider.
type provider struct {
	types.Provider
	objects map[string]*declaration
}

func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if d, ok := p.objects[name]; ok {
		return types.NewTypeTypeWithParam(d.typ), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames returns no names: expressions can't make objects.
func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if _, ok := p.objects[name]; ok {
		return nil, false
	}
	return p.Provider.FindStructFieldNames(name)
}

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

// typed returns the environment with the types of a declaration's objects.
func typed(root *declaration) (*celgo.Env, error) {
	env, err := base()
	if err != nil {
		return nil, err
	}
	objects := map[string]*declaration{}
	root.objects(objects)
	return env.Extend(celgo.CustomTypeProvider(&provider{Provider: env.CELTypeProvider(), objects: objects}))
}
