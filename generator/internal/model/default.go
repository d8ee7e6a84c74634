package model

import (
	"encoding/json"
	"fmt"
	"slices"
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

// Value returns what the literal says, numbers as they are written. It is JSON: judges take other defaults from the
// model.
func (d *Default) Value() any {
	value, err := JSONValue(d.JSON)
	if err != nil {
		panic(fmt.Sprintf("%s: the default %s %v, and was not judged", d.Pos, d.JSON, err))
	}
	return value
}

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
	value := d.Value()
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
