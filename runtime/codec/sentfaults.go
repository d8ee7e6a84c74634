package codec

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// FaultsIn returns the faults in one member of an object, such as status; without a name, those that are in no member
// that is a part of its own.
func FaultsIn(name string, faults field.ErrorList, isPart func(member string) bool) field.ErrorList {
	return slices.DeleteFunc(faults, func(e *field.Error) bool {
		member, _, _ := strings.Cut(e.Field, ".")
		if name != "" {
			return member != name
		}
		return isPart(member)
	})
}

// Standing returns those of the faults of a body that the new object still has: defaults and admission may have set
// what the client left out.
func (v *Served[T]) Standing(faults field.ErrorList, obj T) field.ErrorList {
	if len(faults) == 0 {
		return nil
	}
	data, err := v.Encode(obj)
	if err != nil {
		return faults
	}
	var members any
	if json.Unmarshal(data, &members) != nil {
		return faults
	}
	return slices.DeleteFunc(faults, func(e *field.Error) bool { return !isZero(at(members, e.Field)) })
}

// isZero reports whether a value of JSON may be what encoding/json writes of a zero value.
func isZero(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case float64:
		return v == 0
	case bool:
		return !v
	case map[string]any:
		for _, member := range v {
			if !isZero(member) {
				return false
			}
		}
	}
	_, list := v.([]any)
	return !list
}

var step = regexp.MustCompile(`[^.\[\]]+|\[[^\]]*\]`)

// at returns the value at the path of a field, or nil.
func at(v any, path string) any {
	for _, name := range step.FindAllString(path, -1) {
		if name[0] == '[' {
			name = name[1 : len(name)-1]
		}
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}
