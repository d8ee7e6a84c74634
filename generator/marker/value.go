package marker

import (
	"encoding/json"
	"strings"

	"apigen.dev/generator/model"
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

// bracedJSON turns what stands in braces into an object where it has keys, else into a list.
func bracedJSON(v string, t *model.Type) string {
	var elem *model.Type
	if t = t.Pointee(); t != nil {
		elem = t.Elem
	}
	var out []string
	object := false
	for _, p := range cutOutside(v, ',') {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		pair := cutOutside(p, ':')
		if len(pair) > 1 && !t.IsList() {
			object = true
			value := p[len(pair[0])+1:]
			out = append(out, model.JSONString(Unquote(strings.TrimSpace(pair[0])))+":"+jsonValue(value, elem))
			continue
		}
		out = append(out, jsonValue(p, elem))
	}
	if object {
		return "{" + strings.Join(out, ",") + "}"
	}
	return "[" + strings.Join(out, ",") + "]"
}

// cutOutside splits at a separator that stands outside of quotes, braces and brackets.
func cutOutside(s string, sep byte) []string {
	var out []string
	start, depth, quote := 0, 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '`' || c == '\'':
			quote = c
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == sep && depth <= 0:
			out, start = append(out, s[start:i]), i+1
		}
	}
	return append(out, s[start:])
}

// jsonElement returns an element of an enum, which has no quotes any more.
func jsonElement(e string, t *model.Type) string {
	if t.IsString() {
		return model.JSONString(e)
	}
	return jsonValue(e, t)
}
