package applyconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"apigen.dev/generator/internal/emit/layout"
	"apigen.dev/generator/internal/plan/clientset"
)

// atomicName and deducedName are the types of values of which nothing is known: merged as a whole, or as deep as they
// go.
const (
	atomicName  = "__untyped_atomic_"
	deducedName = "__untyped_deduced_"
)

// writeParser adds the file with the schema that extracts a manager's fields, in structured-merge-diff's terms.
func writeParser(w *layout.Writer, s *clientset.Set) {
	definitions := definitions(s)
	var out translation
	out.line("", "types:")
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		out.line("", "- name: %s", name)
		out.atom(definitions[name], "  ", false)
	}
	out.line("", "- name: %s", atomicName)
	out.untyped("  ", atomicName, "atomic")
	out.line("", "- name: %s", deducedName)
	out.untyped("  ", deducedName, "separable")
	f := w.File(s, s.ParserPath, "internal", "Package internal has the schema of all apply configurations.")
	f.Add(`// Parser returns the schema of all apply configurations. It is made once, and shared.
func Parser() *typed.Parser { return parser() }

var parser = sync.OnceValue(func() *typed.Parser {
	parser, err := typed.NewParser(schemaYAML)
	if err != nil {
		panic(fmt.Sprintf("the schema of apply configurations can't be parsed: %v", err))
	}
	return parser
})

`)
	f.Add("var schemaYAML = typed.YAMLObject(`" + strings.ReplaceAll(out.String(), "`", "` + \"`\" + `") + "`)\n")
}

func definitions(s *clientset.Set) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, v := range s.Versions() {
		maps.Copy(out, v.Schemas)
		for _, k := range v.Applied() {
			out[k.SchemeName] = v.Schemas[k.Schema]
		}
	}
	return out
}

type translation struct {
	strings.Builder
}

// line writes a line, or several.
func (y *translation) line(indent, format string, args ...any) {
	fmt.Fprintf(y, indent+strings.ReplaceAll(format, "\n", "\n"+indent)+"\n", args...)
}

// atom writes what is known of values with a schema. Preserve says that fields which the schema doesn't know may be
// there.
func (y *translation) atom(s map[string]any, indent string, preserve bool) {
	if s["x-kubernetes-preserve-unknown-fields"] == true {
		preserve = true
	}
	typ, _ := s["type"].(string)
	properties, _ := s["properties"].(map[string]any)
	elements, _ := s["additionalProperties"].(map[string]any)
	switch typ {
	case "array":
		y.list(s, indent, preserve)
	case "integer", "number":
		y.line(indent, "scalar: numeric")
	case "boolean":
		y.line(indent, "scalar: boolean")
	case "string":
		switch s["format"] {
		case "date-time", "int-or-string": // as upstream has them; other formats constrain strings
			y.line(indent, "scalar: untyped")
		default:
			y.line(indent, "scalar: string")
		}
	default:
		switch {
		case s["oneOf"] != nil || s["anyOf"] != nil || s["x-kubernetes-int-or-string"] == true:
			y.line(indent, "scalar: untyped")
		case len(properties) == 0 && elements == nil && typ == "object":
			y.line(indent, "map:\n  elementType:")
			y.untyped(indent+"    ", deducedName, "separable")
		case len(properties) == 0 && elements == nil:
			y.untyped(indent, deducedName, "separable")
		default:
			y.mapping(s, properties, elements, indent, preserve)
		}
	}
}

// untyped writes what is known of values of which nothing is.
func (y *translation) untyped(indent, name, relationship string) {
	y.line(indent, `scalar: untyped
list:
  elementType:
    namedType: %s
  elementRelationship: atomic
map:
  elementType:
    namedType: %s
  elementRelationship: %s`, atomicName, name, relationship)
}

func (y *translation) mapping(s, properties, elements map[string]any, indent string, preserve bool) {
	y.line(indent, "map:")
	if len(properties) > 0 {
		y.line(indent, "  fields:")
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p, _ := properties[name].(map[string]any)
		y.line(indent, "  - name: %s\n    type:", scalar(name))
		y.reference(p, indent+"      ", preserve)
		if d, ok := p["default"]; ok {
			y.line(indent, "    default: %s", scalar(d))
		}
	}
	switch {
	case elements != nil:
		y.line(indent, "  elementType:")
		y.reference(elements, indent+"    ", preserve)
	case preserve:
		y.line(indent, "  elementType:\n    namedType: %s", deducedName)
	}
	if r := mapRelationship(s); r != "" {
		y.line(indent, "  elementRelationship: %s", r)
	}
}

func mapRelationship(s map[string]any) string {
	switch s["x-kubernetes-map-type"] {
	case "atomic":
		return "atomic"
	case "granular":
		return "separable"
	}
	return ""
}

func (y *translation) list(s map[string]any, indent string, preserve bool) {
	y.line(indent, "list:\n  elementType:")
	items, _ := s["items"].(map[string]any)
	y.reference(items, indent+"    ", preserve)
	keys, _ := s["x-kubernetes-list-map-keys"].([]string)
	relationship := "atomic"
	switch s["x-kubernetes-list-type"] {
	case "set":
		relationship, keys = "associative", nil
	case "map":
		relationship = "associative"
	case nil:
		strategy, _ := s["x-kubernetes-patch-strategy"].(string)
		if keys = nil; strings.HasPrefix(strategy, "merge") {
			relationship = "associative"
			if key, ok := s["x-kubernetes-patch-merge-key"].(string); ok {
				keys = []string{key}
			}
		}
	default:
		keys = nil
	}
	y.line(indent, "  elementRelationship: %s", relationship)
	if len(keys) > 0 {
		y.line(indent, "  keys:")
	}
	for _, key := range keys {
		y.line(indent, "  - %s", scalar(key))
	}
}

func (y *translation) reference(s map[string]any, indent string, preserve bool) {
	ref, _ := s["$ref"].(string)
	if parts, ok := s["allOf"].([]any); ok && len(parts) == 1 {
		if part, ok := parts[0].(map[string]any); ok {
			ref, _ = part["$ref"].(string)
		}
	}
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	switch {
	case name == "":
		y.atom(s, indent, preserve)
	case strings.HasSuffix(name, ".apimachinery.pkg.runtime.RawExtension"):
		y.line(indent, "namedType: %s", atomicName)
	default:
		y.line(indent, "namedType: %s", name)
		if r := mapRelationship(s); r != "" {
			y.line(indent, "elementRelationship: %s", r)
		}
	}
}

// scalar is a value as YAML: JSON is, and words need no quotes.
func scalar(v any) string {
	if s, ok := v.(string); ok && plain(s) {
		return s
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(data)
}

func plain(s string) bool {
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf":
		return false
	}
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || (r < '0' || r > '9') && r != '-' && r != '.') {
			return false
		}
	}
	return true
}
