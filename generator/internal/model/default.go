package model

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// JSONString returns a text as a JSON string.
func JSONString(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(data)
}

// Value returns what the literal says, numbers as they are written.
func (d *Default) Value() (any, error) { return JSONValue(d.JSON) }

// JSONValue returns the value of a JSON text, with numbers as they are written.
func JSONValue(text string) (any, error) {
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

// Mismatch says why a value of the type can't have the default; nil if it can. Code that sets a default never fails.
func (d *Default) Mismatch(t *Type) error {
	text := d.JSON
	if d.Ref != nil {
		t = t.Pointee()
		switch {
		case t.Form != Basic:
			return fmt.Errorf("the default ref(%s) is a constant, and the field is not of a basic type: write the "+
				"value as JSON", d.Ref.Name)
		case d.JSON == "":
			return fmt.Errorf("the default ref(%s) names no constant of package %s that can be read: name an "+
				"exported constant, or write the value as JSON", d.Ref.Name, d.Ref.Path)
		}
		text = fmt.Sprintf("ref(%s), which is %s,", d.Ref.Name, d.JSON)
	}
	value, err := d.Value()
	if err == nil {
		err = fits(value, t)
	}
	if err != nil {
		return fmt.Errorf("the default %s %w", text, err)
	}
	return nil
}

// DecodesItself reports whether the type has its own way to read JSON, so that only it knows what it accepts. A struct
// has that of a type that it embeds.
func (t *Type) DecodesItself() bool { return t.decodesItself(map[*Type]bool{}) }

func (t *Type) decodesItself(seen map[*Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	return t.Methods["UnmarshalJSON"] != nil || t.Methods["UnmarshalText"] != nil ||
		slices.ContainsFunc(t.Fields, func(f *Field) bool { return f.Embedded && f.Type.Pointee().decodesItself(seen) })
}

func fits(value any, t *Type) error {
	if value == nil || t.DecodesItself() {
		return nil
	}
	switch t.Form {
	case Pointer:
		return fits(value, t.Elem)
	case Basic:
		return fitsBasic(value, t)
	case Slice, Array:
		return fitsList(value, t)
	case Map:
		return fitsMap(value, t)
	case Struct:
		return fitsStruct(value, t)
	case Interface:
		if len(t.InterfaceMethods) == 0 {
			return nil
		}
	}
	return fmt.Errorf("can't be set on a field of this type: write a SetDefaults_ function")
}

func fitsBasic(value any, t *Type) error {
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

func number(text, basic string) bool {
	var err error
	switch size := integerBits[basic]; {
	case size > 0:
		_, err = strconv.ParseInt(text, 10, size)
	case size < 0:
		_, err = strconv.ParseUint(text, 10, -size)
	case basic == "float32":
		_, err = strconv.ParseFloat(text, 32)
	case basic == "float64":
		_, err = strconv.ParseFloat(text, 64)
	default:
		return false
	}
	return err == nil
}

func fitsList(value any, t *Type) error {
	if encoded, ok := value.(string); ok && t.IsBytes() {
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

func fitsMap(value any, t *Type) error {
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("is no map")
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if t.Key.Form == Basic && t.Key.Basic != "string" && !t.Key.DecodesItself() && !number(key, t.Key.Basic) {
			return fmt.Errorf("has the key %q, which is no %s", key, t.Key.Basic)
		}
		if err := fits(object[key], t.Elem); err != nil {
			return err
		}
	}
	return nil
}

func fitsStruct(value any, t *Type) error {
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("is no object")
	}
	if t.Ambiguous() {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		// encoding/json finds a field without regard to case.
		field := t.Find(func(f *Field) bool { return strings.EqualFold(f.JSON, key) })
		if field == nil {
			return fmt.Errorf("sets %q, which %s does not have", key, t.Name)
		}
		if err := fits(object[key], field.Type); err != nil {
			return fmt.Errorf("%w (in %s)", err, key)
		}
	}
	return nil
}

// EffectiveDefault is the default of a field that asks for something: its own marker, or if it is a pointer that
// of the type it leads to.
func (f *Field) EffectiveDefault() *Default {
	if f.Default != nil {
		return effective(f.Default, f.Type)
	}
	if f.Type.Form == Pointer {
		return f.Type.ElementDefault()
	}
	return nil
}

// ElementDefault is the default of a list's or a map's elements: the first on the way from their type through its
// pointers.
func (t *Type) ElementDefault() *Default {
	at := t
	for at.Default == nil && at.Form == Pointer {
		at = at.Elem
	}
	return effective(at.Default, t)
}

// effective drops a default that asks for nothing: null, or the zero value of the type.
func effective(d *Default, t *Type) *Default {
	if d == nil || d.Ref != nil {
		return d
	}
	value, err := d.Value()
	if err != nil {
		return d // the emitter reports it
	}
	nothing := value == nil
	switch v := value.(type) {
	case string:
		nothing = v == "" && t.Form == Basic
	case bool:
		nothing = !v && t.Form == Basic
	case json.Number:
		zero, err := v.Float64()
		nothing = err == nil && zero == 0 && t.Form == Basic
	case map[string]any:
		nothing = len(v) == 0 && t.Form == Struct && !t.DecodesItself()
	}
	if nothing {
		return nil
	}
	return d
}
