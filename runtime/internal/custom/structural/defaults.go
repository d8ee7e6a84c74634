package structural

import "k8s.io/apimachinery/pkg/runtime"

// SetDefaults sets the defaults of fields that are missing, or null where null isn't allowed.
func (s *Schema) SetDefaults(object map[string]any) {
	s.setDefaults(object)
	if s.embeds {
		_, _ = s.Coerce(object, true) // defaults within metadata may have unknown fields
	}
}

// DropNulls removes nulls where null isn't allowed and there is no default.
func (s *Schema) DropNulls(object map[string]any) {
	s.dropNulls(object, func(member *Schema) bool { return member.refusesNull() && !member.HasDefault })
}

// DropUntypedNulls removes nulls where null isn't allowed, though no type says so: nobody would refuse them, and a read
// of what is stored drops them.
func (s *Schema) DropUntypedNulls(object map[string]any) {
	s.dropNulls(object, func(member *Schema) bool {
		return member.refusesNull() && member.Type == "" && !member.IntOrString
	})
}

func (s *Schema) refusesNull() bool { return s != nil && !s.Nullable }

func (s *Schema) dropNulls(v any, drops func(member *Schema) bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			member := s.member(name)
			if value == nil && drops(member) {
				delete(v, name)
				continue
			}
			member.dropNulls(value, drops)
		}
	case []any:
		for _, item := range v {
			s.item().dropNulls(item, drops)
		}
	}
}

func (s *Schema) setDefaults(v any) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name, member := range s.Properties {
			value, found := v[name]
			if member.HasDefault && (!found || value == nil && !member.Nullable) {
				v[name] = runtime.DeepCopyJSONValue(member.Default)
			}
		}
		for name, value := range v {
			member, named := s.Properties[name]
			if !named {
				member = s.Values
			}
			if !named && value == nil && member.refusesNull() {
				v[name] = runtime.DeepCopyJSONValue(member.Default)
			}
			member.setDefaults(v[name])
		}
	case []any:
		for i := range v {
			if v[i] == nil && s.Items.refusesNull() {
				v[i] = runtime.DeepCopyJSONValue(s.Items.Default)
			}
			s.Items.setDefaults(v[i])
		}
	}
}
