package policy

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// escapeKey declares jsonpatch.escapeKey, which escapes a key for a path of a patch (RFC 6901).
func escapeKey() celgo.EnvOption {
	replacer := strings.NewReplacer("/", "~1", "~", "~0")
	return celgo.Function("jsonpatch.escapeKey", celgo.Overload("string_jsonpatch_escapeKey_string",
		[]*celgo.Type{celgo.StringType}, celgo.StringType, celgo.UnaryBinding(func(key ref.Val) ref.Val {
			text, ok := key.(types.String)
			if !ok {
				return types.MaybeNoSuchOverloadErr(key)
			}
			return types.String(replacer.Replace(string(text)))
		})))
}

// mutationField returns the type of a field: Object has all fields, of any type.
func mutationField(name, field string) (*types.FieldType, bool) {
	if name != patchTypeName {
		return &types.FieldType{Type: types.DynType}, true
	}
	switch field {
	case "op", "from", "path":
		return &types.FieldType{Type: types.StringType}, true
	case "value":
		return &types.FieldType{Type: types.DynType}, true
	}
	return nil, false
}

// made is a value that an expression made of fields: an Object or a JSONPatch.
type made struct {
	typ    *types.Type
	fields map[string]ref.Val
}

func newMutationValue(name string, fields map[string]ref.Val) ref.Val {
	if name == patchTypeName {
		for field, value := range fields {
			if _, isText := value.(types.String); !isText && field != "value" {
				return types.NewErr("unexpected type %T for JSONPatchType '%s' field", value.Value(), field)
			}
		}
	}
	return &made{types.NewObjectType(name), fields}
}

// ConvertToNative implements ref.Val.
func (m *made) ConvertToNative(to reflect.Type) (any, error) {
	if to == reflect.TypeFor[map[string]any]() || to.Kind() == reflect.Interface {
		return m.content()
	}
	return nil, fmt.Errorf("unable to convert to %v", to)
}

// ConvertToType implements ref.Val.
func (m *made) ConvertToType(to ref.Type) ref.Val {
	switch {
	case to.TypeName() == m.typ.TypeName():
		return m
	case to == types.TypeType:
		return types.NewTypeTypeWithParam(m.typ)
	}
	return types.NewErr("unsupported conversion into %v", to)
}

// Equal implements ref.Val.
func (m *made) Equal(other ref.Val) ref.Val {
	o, ok := other.(*made)
	if !ok || o.typ.TypeName() != m.typ.TypeName() || len(o.fields) != len(m.fields) {
		return types.False
	}
	for field, value := range m.fields {
		if same, ok := o.fields[field]; !ok || value.Equal(same) != types.True {
			return types.False
		}
	}
	return types.True
}

// Type implements ref.Val.
func (m *made) Type() ref.Type { return m.typ }

// Value implements ref.Val.
func (m *made) Value() any {
	content, err := m.content()
	if err != nil {
		return types.WrapErr(err)
	}
	return content
}

// Get implements traits.Indexer.
func (m *made) Get(index ref.Val) ref.Val {
	field, ok := index.(types.String)
	if !ok {
		return types.NewErr("unsupported indexer: %s", index)
	}
	if value, ok := m.fields[string(field)]; ok {
		return value
	}
	if m.typ.TypeName() == patchTypeName && field != "value" {
		return types.String("")
	}
	return types.NewErr("no such key: %v", field)
}

// IsSet implements traits.FieldTester.
func (m *made) IsSet(field ref.Val) ref.Val {
	name, ok := field.(types.String)
	if !ok {
		return types.NewErr("unsupported field: %s", field)
	}
	_, set := m.fields[string(name)]
	return types.Bool(set)
}

// IsZeroValue implements traits.Zeroer: optional fields that were left out.
func (m *made) IsZeroValue() bool { return len(m.fields) == 0 }

var (
	_ traits.Indexer     = (*made)(nil)
	_ traits.FieldTester = (*made)(nil)
	_ traits.Zeroer      = (*made)(nil)
)

func (m *made) content() (map[string]any, error) {
	content := make(map[string]any, len(m.fields))
	for field, value := range m.fields {
		plain, err := plainOf(value)
		if err != nil {
			return nil, fmt.Errorf("fail to convert field %q: %w", field, err)
		}
		content[field] = plain
	}
	return content, nil
}

// plainOf returns a value as decoded JSON has it.
func plainOf(value ref.Val) (any, error) {
	switch v := value.(type) {
	case *made:
		return v.content()
	case types.Null:
		return nil, nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		return int64(v), nil
	case types.Bytes:
		return []byte(v), nil
	case traits.Mapper:
		content := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, ok := key.(types.String)
			if !ok {
				return nil, fmt.Errorf("map key %q is of type %T, not string", key, key)
			}
			plain, err := plainOf(v.Get(key))
			if err != nil {
				return nil, err
			}
			content[string(name)] = plain
		}
		return content, nil
	case traits.Lister:
		var list []any
		for it := v.Iterator(); it.HasNext() == types.True; {
			plain, err := plainOf(it.Next())
			if err != nil {
				return nil, err
			}
			list = append(list, plain)
		}
		return list, nil
	case *types.Err:
		return nil, v
	}
	return value.Value(), nil
}

// checkNames refuses an Object with a type name below it that isn't the path of its field: Object.spec for spec.
func checkNames(value ref.Val, path string) error {
	switch v := value.(type) {
	case *made:
		var failures []error
		if name := v.typ.TypeName(); name != path {
			failures = append(failures, fmt.Errorf("unexpected type name %q, expected %q, which matches field name "+
				"path from root Object type", name, path))
		}
		for field, value := range v.fields {
			failures = append(failures, checkNames(value, path+"."+field))
		}
		return errors.Join(failures...)
	case traits.Mapper:
		var failures []error
		for it := v.Iterator(); it.HasNext() == types.True; {
			failures = append(failures, checkNames(v.Get(it.Next()), path))
		}
		return errors.Join(failures...)
	case traits.Lister:
		var failures []error
		for it := v.Iterator(); it.HasNext() == types.True; {
			failures = append(failures, checkNames(it.Next(), path))
		}
		return errors.Join(failures...)
	}
	return nil
}
