package codec

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
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
// what the client left out, or changed a text. A text that old has already isn't refused; old is nil on a creation.
func (v *Served[T]) Standing(faults field.ErrorList, obj T, old *T) field.ErrorList {
	if len(faults) == 0 {
		return nil
	}
	now, err := v.members(obj)
	if err != nil {
		return faults
	}
	var before any
	if old != nil {
		if before, err = v.members(*old); err != nil {
			return faults
		}
	}
	return slices.DeleteFunc(faults, func(e *field.Error) bool {
		text, _ := e.BadValue.(string)
		if text == "" {
			return !isZero(at(now, e.Field))
		}
		return !sameText(at(now, e.Field), text) || hasText(before, steps(e.Field), text)
	})
}

func (v *Served[T]) members(obj T) (members any, err error) {
	data, err := v.Encode(obj)
	if err != nil {
		return nil, err
	}
	return members, json.Unmarshal(data, &members)
}

// sameText reports whether a value of JSON is another form of a text: "60s" and "1m0s" are one duration. A value that
// is absent may be zero.
func sameText(v any, text string) bool {
	if v == nil {
		v = "0"
	}
	now, isText := v.(string)
	if !isText {
		return fmt.Sprint(v) == text
	}
	if a, err := time.ParseDuration(now); err == nil {
		b, err := time.ParseDuration(text)
		return err == nil && a == b
	}
	if a, err := resource.ParseQuantity(now); err == nil {
		b, err := resource.ParseQuantity(text)
		return err == nil && a.Cmp(b) == 0
	}
	if a, err := time.Parse(time.RFC3339Nano, now); err == nil {
		b, err := time.Parse(time.RFC3339Nano, text)
		return err == nil && a.Equal(b)
	}
	return now == text
}

// hasText reports whether a value has a text at a path, of whose indexes any may be another: items move in lists.
func hasText(v any, path []string, text string) bool {
	if len(path) == 0 {
		return v != nil && sameText(v, text)
	}
	switch in := v.(type) {
	case map[string]any:
		return hasText(in[strings.Trim(path[0], "[]")], path[1:], text)
	case []any:
		return slices.ContainsFunc(in, func(item any) bool { return hasText(item, path[1:], text) })
	}
	return false
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
	list, _ := v.([]any)
	return len(list) == 0
}

var step = regexp.MustCompile(`[^.\[\]]+|\[[^\]]*\]`)

func steps(path string) []string { return step.FindAllString(path, -1) }

// at returns the value at the path of a field, or nil.
func at(v any, path string) any {
	for _, name := range steps(path) {
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
