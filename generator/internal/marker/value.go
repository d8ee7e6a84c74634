package marker

import (
	"encoding/json"
	"strings"

	"apigen.dev/generator/internal/model"
)

// jsonValue turns a value in controller-gen's grammar into JSON: quoted, bare, {list,list}, {key: value}.
func jsonValue(v string, t *model.Type) string {
	v = strings.TrimSpace(v)
	if t.IsString() {
		if len(v) >= 2 && v[0] == '"' && json.Valid([]byte(v)) {
			return v
		}
		return model.JSONString(Unquote(v))
	}
	if strings.HasPrefix(v, "{") && strings.Trim(v, "{} \t") == "" && t.IsList() {
		return "[]" // controller-gen writes empty lists and empty objects alike
	}
	if json.Valid([]byte(v)) {
		return v
	}
	if strings.HasPrefix(v, "{") && strings.HasSuffix(v, "}") {
		return bracedJSON(v[1:len(v)-1], t)
	}
	if strings.Contains(v, ";") {
		return bracedJSON(strings.ReplaceAll(v, ";", ","), t)
	}
	return model.JSONString(Unquote(v))
}

// bracedJSON turns what stands in braces into an object if it has keys, else into a list.
func bracedJSON(v string, t *model.Type) string {
	var elem *model.Type
	if t = t.Pointee(); t != nil {
		elem = t.Elem
	}
	var out []string
	object := false
	for _, p := range splitOutside(v, ',', "{}[]") {
		key, value, found, _ := cutOutside(p, ':', quotes, "{}[]")
		if found && !t.IsList() {
			object = true
			out = append(out, model.JSONString(Unquote(strings.TrimSpace(key)))+":"+jsonValue(value, elem))
			continue
		}
		out = append(out, jsonValue(p, elem))
	}
	if object {
		return "{" + strings.Join(out, ",") + "}"
	}
	return "[" + strings.Join(out, ",") + "]"
}

// jsonElement returns an element of an enum, which has no quotes any more.
func jsonElement(e string, t *model.Type) string {
	if t.IsString() {
		return model.JSONString(e)
	}
	return jsonValue(e, t)
}
