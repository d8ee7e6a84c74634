package fromcrd

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/generator/internal/spelling"
)

const validation = "+kubebuilder:validation:"

// markers returns the markers of a schema at its place, but for those of its type and of its presence. It refuses what
// has none.
func (w *writer) markers(n *node, path string) (out []string) {
	add := func(name, value string) { out = append(out, validation+name+"="+value) }
	for _, bound := range []struct {
		name  string
		of    string
		value *int64
	}{
		{"MinLength", "string", n.MinLength}, {"MaxLength", "string", n.MaxLength}, {"MinItems", "array", n.MinItems},
		{"MaxItems", "array", n.MaxItems}, {"MinProperties", "object", n.MinProperties},
		{"MaxProperties", "object", n.MaxProperties},
	} {
		if bound.value != nil {
			w.fits(n, path, bound.name, bound.of)
			add(bound.name, strconv.FormatInt(*bound.value, 10))
		}
	}
	for _, bound := range []struct {
		name  string
		value *json.Number
	}{{"Minimum", n.Minimum}, {"Maximum", n.Maximum}, {"MultipleOf", n.MultipleOf}} {
		if bound.value != nil {
			add(bound.name, bound.value.String())
		}
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"ExclusiveMinimum", n.ExclusiveMinimum}, {"ExclusiveMaximum", n.ExclusiveMaximum},
		{"UniqueItems", n.UniqueItems},
	} {
		if flag.set {
			add(flag.name, "true")
		}
	}
	if n.Pattern != "" {
		w.fits(n, path, "Pattern", "string")
		add("Pattern", quoted(n.Pattern))
	}
	if len(n.Enum) > 0 {
		add("Enum", enum(n.Enum))
	}
	if n.ListType != "" {
		out = append(out, "+listType="+n.ListType)
	}
	for _, key := range n.ListMapKeys {
		out = append(out, "+listMapKey="+key)
	}
	if n.MapType != "" {
		out = append(out, "+mapType="+n.MapType)
	}
	for _, r := range n.Validations {
		out = append(out, validation+"XValidation:"+r.arguments())
	}
	if n.Preserve {
		out = append(out, "+kubebuilder:pruning:PreserveUnknownFields")
	}
	return append(out, w.remarks(n, path)...)
}

// fits refuses a keyword that constrains values of another type than that of the schema: it does nothing, and no marker
// says so.
func (w *writer) fits(n *node, path, keyword, of string) {
	if n.Type != "" && n.Type != of {
		w.refuse(path, spelling.LowerFirst(keyword)+" does nothing at a value of type "+n.Type+": remove it")
	}
}

// remarks returns the markers that constrain nothing, and refuses combinations of schemas.
func (w *writer) remarks(n *node, path string) (out []string) {
	if n.Title != "" {
		out = append(out, "+kubebuilder:title="+quoted(n.Title))
	}
	if n.Example != nil {
		out = append(out, "+kubebuilder:example="+compact(n.Example))
	}
	if d := n.ExternalDocs; d != nil {
		text := validation + "ExternalDocs:url=" + quoted(d.URL)
		if d.Description != "" {
			text += ",description=" + quoted(d.Description)
		}
		out = append(out, text)
	}
	for name, part := range map[string]bool{
		"allOf": len(n.AllOf) > 0, "oneOf": len(n.OneOf) > 0, "not": n.Not != nil,
		"anyOf": len(n.AnyOf) > 0 && !(n.IntOrString && isIntOrString(n.AnyOf)),
	} {
		if part {
			w.refuse(path, name+" can't be said by a Go type: write it as a rule in CEL, x-kubernetes-validations")
		}
	}
	return out
}

// isIntOrString reports whether schemas are the two of an integer or a string.
func isIntOrString(schemas []*node) bool {
	return len(schemas) == 2 && fingerprint(schemas[0]) == `{"type":"integer"}` &&
		fingerprint(schemas[1]) == `{"type":"string"}`
}

func (r *rule) arguments() string {
	out := []string{"rule=" + quoted(r.Rule)}
	for _, a := range []struct{ name, value string }{
		{"message", r.Message}, {"messageExpression", r.MessageExpression}, {"reason", r.Reason},
		{"fieldPath", r.FieldPath},
	} {
		if a.value != "" {
			out = append(out, a.name+"="+quoted(a.value))
		}
	}
	if r.OptionalOldSelf {
		out = append(out, "optionalOldSelf=true")
	}
	return strings.Join(out, ",")
}

var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)

// words that aren't strings where they stand without quotes.
var words = []string{"true", "false", "null"}

func enum(values []json.RawMessage) string {
	var out []string
	for _, value := range values {
		var text string
		if json.Unmarshal(value, &text) == nil && plainWord.MatchString(text) && !slices.Contains(words, text) {
			out = append(out, text)
		} else {
			out = append(out, compact(value))
		}
	}
	return strings.Join(out, ";")
}

// quoted writes text as a string of Go, raw if it can be.
func quoted(text string) string {
	if strings.ContainsAny(text, "\\\"") && strconv.CanBackquote(text) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}
