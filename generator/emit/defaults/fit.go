package defaults

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/generator/model"
)

// parse reads the value of a marker.
func parse(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	if decoder.More() {
		return nil, fmt.Errorf("is more than one JSON value")
	}
	return value, nil
}

// decodesItself tells whether the type has its own way to read JSON, so that only it knows what it accepts.
func decodesItself(t *model.Type) bool {
	return embeds(t, map[*model.Type]bool{}, func(t *model.Type) bool {
		return t.Methods["UnmarshalJSON"] != nil || t.Methods["UnmarshalText"] != nil
	})
}

// embeds tells whether the condition holds of the type or of one that it embeds.
func embeds(t *model.Type, seen map[*model.Type]bool, condition func(*model.Type) bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if condition(t) {
		return true
	}
	for _, field := range t.Fields {
		inner := field.Type
		if inner.Form == model.Pointer {
			inner = inner.Elem
		}
		if field.Embedded && embeds(inner, seen, condition) {
			return true
		}
	}
	return false
}

// fits tells why the value can't be decoded into the type, so that the emitted code never fails.
func fits(value any, t *model.Type) error {
	if value == nil || decodesItself(t) {
		return nil
	}
	switch t.Form {
	case model.Pointer:
		return fits(value, t.Elem)
	case model.Basic:
		return fitsBasic(value, t)
	case model.Slice, model.Array:
		return fitsList(value, t)
	case model.Map:
		return fitsMap(value, t)
	case model.Struct:
		return fitsStruct(value, t)
	case model.Interface:
		if len(t.InterfaceMethods) == 0 {
			return nil
		}
	}
	return fmt.Errorf("can't be set on a field of this type: write a SetDefaults_ function")
}

func fitsBasic(value any, t *model.Type) error {
	switch v := value.(type) {
	case string:
		if t.Basic == "string" {
			return nil
		}
	case bool:
		if t.Basic == "bool" {
			return nil
		}
	case json.Number:
		if number(v.String(), t.Basic) {
			return nil
		}
	}
	return fmt.Errorf("is no %s", t.Basic)
}

var bits = map[string]int{
	"int": 64, "int8": 8, "int16": 16, "int32": 32, "int64": 64, "rune": 32,
	"uint": 64, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64, "uintptr": 64, "byte": 8,
	"float32": 32, "float64": 64,
}

func number(text, basic string) bool {
	size, known := bits[basic]
	var err error
	switch {
	case !known:
		return false
	case strings.HasPrefix(basic, "float"):
		_, err = strconv.ParseFloat(text, size)
	case strings.HasPrefix(basic, "int") || basic == "rune":
		_, err = strconv.ParseInt(text, 10, size)
	default:
		_, err = strconv.ParseUint(text, 10, size)
	}
	return err == nil
}

func fitsList(value any, t *model.Type) error {
	if encoded, ok := value.(string); ok && t.Form == model.Slice && isByte(t.Elem) {
		if _, err := base64.StdEncoding.DecodeString(encoded); err != nil {
			return fmt.Errorf("is not base64")
		}
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		return fmt.Errorf("is no list")
	}
	for _, element := range list {
		if err := fits(element, t.Elem); err != nil {
			return err
		}
	}
	return nil
}

// isByte tells whether slices of the type are text in base64.
func isByte(t *model.Type) bool {
	return t.Form == model.Basic && (t.Basic == "byte" || t.Basic == "uint8")
}

func fitsMap(value any, t *model.Type) error {
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("is no map")
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if t.Key.Form == model.Basic && t.Key.Basic != "string" && !decodesItself(t.Key) && !number(key, t.Key.Basic) {
			return fmt.Errorf("has the key %q, which is no %s", key, t.Key.Basic)
		}
		if err := fits(object[key], t.Elem); err != nil {
			return err
		}
	}
	return nil
}

func fitsStruct(value any, t *model.Type) error {
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("is no object")
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		field := fieldNamed(t, key)
		if field == nil {
			return fmt.Errorf("sets %q, which %s does not have", key, t.Name)
		}
		if err := fits(object[key], field.Type); err != nil {
			return fmt.Errorf("%w (in %s)", err, key)
		}
	}
	return nil
}

// fieldNamed finds the field that JSON of that name goes into, as encoding/json does: without regard to case, and in
// embedded structs.
func fieldNamed(t *model.Type, key string) *model.Field {
	var found *model.Field
	embeds(t, map[*model.Type]bool{}, func(t *model.Type) bool {
		for _, field := range t.Fields {
			if !field.Inline && !field.Ignored && strings.EqualFold(field.JSON, key) {
				found = field
				return true
			}
		}
		return false
	})
	return found
}
