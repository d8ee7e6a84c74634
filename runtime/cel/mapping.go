package cel

import (
	"fmt"
	"reflect"
	"slices"

	"apigen.dev/runtime/internal/correlation"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// mapping is an object or a map from JSON. Of an object, expressions see the fields in the schema, and null is the same
// as absent; of a map, they see all entries.
type mapping struct {
	raw    map[string]any
	schema *Schema
}

var _ traits.Mapper = (*mapping)(nil)

// isObject distinguishes an object with fields from a map.
func (m *mapping) isObject() bool { return m.schema.Properties != nil }

// member returns the schema of a key, or nil where expressions don't see the key.
func (m *mapping) member(key string) *Schema {
	if m.isObject() {
		return m.schema.Properties[key]
	}
	return m.schema.Values
}

// Find returns the value of a key; it finds a field by its escaped name.
func (m *mapping) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), true
	}
	k := string(name)
	if m.isObject() {
		if k, ok = unescape(k); !ok {
			return nil, false
		}
	}
	v, ok := m.raw[k]
	if !ok || v == nil && m.isObject() {
		return nil, false
	}
	if s := m.member(k); s != nil {
		return value(v, s), true
	}
	return nil, false
}

func (m *mapping) Get(key ref.Val) ref.Val {
	if v, ok := m.Find(key); ok {
		return v
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

func (m *mapping) Contains(key ref.Val) ref.Val {
	v, ok := m.Find(key)
	if v != nil && types.IsUnknownOrError(v) {
		return v
	}
	return types.Bool(ok)
}

// keys returns the keys that expressions see, in order.
func (m *mapping) keys() []string {
	keys := make([]string, 0, len(m.raw))
	for k := range m.raw {
		if m.member(k) == nil {
			continue
		}
		if m.isObject() {
			if escaped, ok := Escape(k); ok {
				k = escaped
			}
		}
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (m *mapping) Iterator() traits.Iterator {
	return types.NewStringList(types.DefaultTypeAdapter, m.keys()).Iterator()
}

// Size returns the number of all members, seen or not.
func (m *mapping) Size() ref.Val { return types.Int(len(m.raw)) }

// Equal compares members that the schema doesn't have as JSON, and only where both mappings have them.
func (m *mapping) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Mapper)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if m.Size() != o.Size() {
		return types.False
	}
	for k, raw := range m.raw {
		if m.member(k) == nil {
			om, ok := other.(*mapping)
			if !ok {
				return types.MaybeNoSuchOverloadErr(other)
			}
			if oraw, ok := om.raw[k]; ok && !correlation.Equal(raw, oraw) {
				return types.False
			}
			continue
		}
		v, found := m.Find(types.String(k))
		ov, ofound := o.Find(types.String(k))
		if found != ofound {
			return types.False
		}
		if !found {
			continue
		}
		if eq := v.Equal(ov); eq != types.True {
			return eq
		}
	}
	return types.True
}

func (m *mapping) ConvertToNative(to reflect.Type) (any, error) {
	if to.Kind() == reflect.Map {
		return m.raw, nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%s'", m.Type(), to)
}

func (m *mapping) ConvertToType(to ref.Type) ref.Val { return convert(m, types.MapType, to) }

// Type returns map, for objects, too.
func (m *mapping) Type() ref.Type { return types.MapType }

func (m *mapping) Value() any { return m.raw }

// unknown is a value that the schema preserves without describing it. Expressions can compare it and nothing else.
type unknown struct{ raw any }

const noConversion = "type conversion to '%s' not supported for values preserved by " +
	"x-kubernetes-preserve-unknown-fields"

func (u unknown) ConvertToNative(to reflect.Type) (any, error) {
	return nil, fmt.Errorf(noConversion, to)
}

func (u unknown) ConvertToType(to ref.Type) ref.Val { return types.NewErr(noConversion, to.TypeName()) }

func (u unknown) Equal(other ref.Val) ref.Val {
	return types.Bool(correlation.Equal(u.raw, other.Value()))
}

func (u unknown) Type() ref.Type { return types.UnknownType }

func (u unknown) Value() any { return u.raw }
