package cel

import celgo "github.com/google/cel-go/cel"

// Declare returns an environment with variables that are objects of a schema. name is that of their type, which env
// must not have. Without a schema, or with one that expressions can't use, they are of any type.
func Declare(env *celgo.Env, s *Schema, name string, variables ...string) (*celgo.Env, error) {
	typ, options := celgo.DynType, []celgo.EnvOption(nil)
	if d := declare(s, name, true); d != nil {
		objects := map[string]*declaration{}
		d.objects(objects)
		typ = d.typ
		options = append(options,
			celgo.CustomTypeProvider(&provider{Provider: env.CELTypeProvider(), objects: objects}))
	}
	for _, variable := range variables {
		options = append(options, celgo.Variable(variable, typ))
	}
	return env.Extend(options...)
}
