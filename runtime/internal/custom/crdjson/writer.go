package crdjson

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// writer appends JSON. It has failed where a value has no JSON.
type writer struct {
	out    []byte
	failed bool
}

// key appends the name of a member, whose value comes next. It needs no escapes.
func (w *writer) key(name string) {
	if last := w.out[len(w.out)-1]; last != '{' {
		w.out = append(w.out, ',')
	}
	w.out = append(append(append(w.out, '"'), name...), '"', ':')
}

// other appends a value by reflection.
func (w *writer) other(value any) {
	data, err := json.Marshal(value)
	w.out, w.failed = append(w.out, data...), w.failed || err != nil
}

func (w *writer) definition(crd *definition) {
	w.out = append(w.out, '{')
	w.optionalText("kind", crd.Kind)
	w.optionalText("apiVersion", crd.APIVersion)
	w.key("metadata")
	w.other(&crd.ObjectMeta)
	w.key("spec")
	w.spec(&crd.Spec)
	w.key("status")
	w.other(&crd.Status)
	w.out = append(w.out, '}')
}

func (w *writer) spec(s *apiextensionsv1.CustomResourceDefinitionSpec) {
	w.out = append(w.out, '{')
	w.key("group")
	w.text(s.Group)
	w.key("names")
	w.other(&s.Names)
	w.key("scope")
	w.text(string(s.Scope))
	w.key("versions")
	if s.Versions == nil {
		w.out = append(w.out, "null"...)
	} else {
		list(w, s.Versions, w.version)
	}
	if s.Conversion != nil {
		w.key("conversion")
		w.other(s.Conversion)
	}
	w.optionalBool("preserveUnknownFields", s.PreserveUnknownFields)
	w.out = append(w.out, '}')
}

func (w *writer) version(v *apiextensionsv1.CustomResourceDefinitionVersion) {
	w.out = append(w.out, '{')
	w.key("name")
	w.text(v.Name)
	w.key("served")
	w.out = strconv.AppendBool(w.out, v.Served)
	w.key("storage")
	w.out = strconv.AppendBool(w.out, v.Storage)
	w.optionalBool("deprecated", v.Deprecated)
	textAt(w, "deprecationWarning", v.DeprecationWarning)
	if v.Schema != nil {
		w.key("schema")
		w.out = append(w.out, '{')
		if v.Schema.OpenAPIV3Schema != nil {
			w.key("openAPIV3Schema")
			w.schema(v.Schema.OpenAPIV3Schema)
		}
		w.out = append(w.out, '}')
	}
	if v.Subresources != nil {
		w.key("subresources")
		w.other(v.Subresources)
	}
	if len(v.AdditionalPrinterColumns) > 0 {
		w.key("additionalPrinterColumns")
		w.other(v.AdditionalPrinterColumns)
	}
	if len(v.SelectableFields) > 0 {
		w.key("selectableFields")
		w.other(v.SelectableFields)
	}
	w.out = append(w.out, '}')
}

func (w *writer) optionalText(name, value string) {
	if value != "" {
		w.key(name)
		w.text(value)
	}
}

// textAt appends a member that is a text, unless it is nil.
func textAt[S ~string](w *writer, name string, value *S) {
	if value != nil {
		w.key(name)
		w.text(string(*value))
	}
}

func (w *writer) optionalBool(name string, value bool) {
	if value {
		w.key(name)
		w.out = append(w.out, "true"...)
	}
}

func (w *writer) boolAt(name string, value *bool) {
	if value != nil {
		w.key(name)
		w.out = strconv.AppendBool(w.out, *value)
	}
}

func (w *writer) wholeAt(name string, value *int64) {
	if value != nil {
		w.key(name)
		w.out = strconv.AppendInt(w.out, *value, 10)
	}
}

func (w *writer) numberAt(name string, value *float64) {
	if value != nil {
		w.key(name)
		w.other(*value)
	}
}

func (w *writer) texts(name string, values []string) {
	if len(values) > 0 {
		w.key(name)
		list(w, values, func(text *string) { w.text(*text) })
	}
}

func list[V any](w *writer, values []V, write func(*V)) {
	w.out = append(w.out, '[')
	for i := range values {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		write(&values[i])
	}
	w.out = append(w.out, ']')
}

// members appends an object with sorted keys.
func (w *writer) members(name string, members map[string]props) {
	if len(members) == 0 {
		return
	}
	w.key(name)
	w.out = append(w.out, '{')
	for i, key := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.text(key)
		w.out = append(w.out, ':')
		member := members[key]
		w.schema(&member)
	}
	w.out = append(w.out, '}')
}

// text appends a string. As in encoding/json, it has no character that HTML reads, and no invalid UTF-8.
func (w *writer) text(s string) {
	w.out = append(w.out, '"')
	for i := range len(s) {
		if !isPlain(s[i]) {
			w.unusual(s)
			return
		}
	}
	w.out = append(append(w.out, s...), '"')
}

// isPlain reports whether a byte stands for itself in a string.
func isPlain(c byte) bool {
	return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
}

// unusual appends a string whose quote stands already, and some of whose bytes are not plain.
func (w *writer) unusual(s string) {
	const digits = "0123456789abcdef"
	for i := 0; i < len(s); {
		c := s[i]
		if isPlain(c) {
			w.out = append(w.out, c)
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			i += w.rune(s[i:])
			continue
		}
		i++
		switch c {
		case '"', '\\':
			w.out = append(w.out, '\\', c)
		case '\b':
			w.out = append(w.out, '\\', 'b')
		case '\f':
			w.out = append(w.out, '\\', 'f')
		case '\n':
			w.out = append(w.out, '\\', 'n')
		case '\r':
			w.out = append(w.out, '\\', 'r')
		case '\t':
			w.out = append(w.out, '\\', 't')
		default:
			w.out = append(w.out, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	w.out = append(w.out, '"')
}

// rune appends the first rune of a string, and returns its length. The separators of lines and paragraphs are escaped,
// since JavaScript didn't take them.
func (w *writer) rune(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1:
		w.out = append(w.out, `\ufffd`...)
	case r == '\u2028':
		w.out = append(w.out, `\u2028`...)
	case r == '\u2029':
		w.out = append(w.out, `\u2029`...)
	default:
		w.out = append(w.out, s[:size]...)
	}
	return size
}
