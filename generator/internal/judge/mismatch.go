package judge

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/generator/internal/model"
)

// mismatch says why a value of the type can't have the default; nil if it can. Nothing else decides it: what refuses a
// default takes it from the model, and code that sets a default never fails.
func mismatch(d *model.Default, t *model.Type) error {
	text := d.JSON
	if d.Ref != nil {
		t = t.Pointee()
		switch {
		case t.Form != model.Basic && t.Form != model.TypeParam:
			return fmt.Errorf("the default ref(%s) is a constant, and the field is not of a basic type: write the "+
				"value as JSON", d.Ref.Name)
		case d.JSON == "":
			return fmt.Errorf("the default ref(%s) names no constant of package %s that can be read: name an "+
				"exported constant, or write the value as JSON", d.Ref.Name, d.Ref.Path)
		}
		text = fmt.Sprintf("ref(%s), which is %s,", d.Ref.Name, d.JSON)
	}
	value, err := model.JSONValue(d.JSON)
	if err == nil {
		err = fitsType(value, t)
	}
	if err != nil {
		return fmt.Errorf("the default %s %w", text, err)
	}
	return nil
}

// fitsType says why the value of a JSON text is none of the type. A type parameter takes any: its instances are judged.
func fitsType(value any, t *model.Type) error {
	if value == nil || t.DecodesItself() || t.Form == model.TypeParam {
		return nil
	}
	switch t.Form {
	case model.Pointer:
		return fitsType(value, t.Elem)
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
		if number(v.String(), t) {
			return nil
		}
	}
	return fmt.Errorf("is no %s", t.Basic)
}

func number(text string, t *model.Type) bool {
	var err error
	switch size := t.Bits(); {
	case size > 0:
		_, err = strconv.ParseInt(text, 10, size)
	case size < 0:
		_, err = strconv.ParseUint(text, 10, -size)
	case t.Basic == "float32":
		_, err = strconv.ParseFloat(text, 32)
	case t.Basic == "float64":
		_, err = strconv.ParseFloat(text, 64)
	default:
		return false
	}
	return err == nil
}

func fitsList(value any, t *model.Type) error {
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
		if err := fitsType(element, t.Elem); err != nil {
			return err
		}
	}
	return nil
}

func fitsMap(value any, t *model.Type) error {
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("is no map")
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if t.Key.Form == model.Basic && t.Key.Basic != "string" && !t.Key.DecodesItself() && !number(key, t.Key) {
			return fmt.Errorf("has the key %q, which is no %s", key, t.Key.Basic)
		}
		if err := fitsType(object[key], t.Elem); err != nil {
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
	if t.Ambiguous() {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		// encoding/json finds a field without regard to case.
		field := t.Find(func(f *model.Field) bool { return strings.EqualFold(f.JSON, key) })
		if field == nil {
			return fmt.Errorf("sets %q, which %s does not have", key, t.Name)
		}
		if err := fitsType(object[key], field.Type); err != nil {
			return fmt.Errorf("%w (in %s)", err, key)
		}
	}
	return nil
}
