package fromcrd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/spelling"
)

// Imports of the types, by the name that code uses.
var imports = map[string]string{
	"metav1":   `metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"`,
	"intstr":   `"k8s.io/apimachinery/pkg/util/intstr"`,
	"resource": `"k8s.io/apimachinery/pkg/api/resource"`,
	"runtime":  `"k8s.io/apimachinery/pkg/runtime"`,
}

// Types returns the Go source of the kind in a version, without markers of the package. The error joins everything
// that Go types and markers can't say, each with its path.
func (d *Definition) Types(v *Version) ([]byte, error) {
	w := &writer{kind: d.Spec.Names.Kind, declared: map[string]string{}, imports: map[string]bool{"metav1": true}}
	var body bytes.Buffer
	w.root(&body, d, v)
	for len(w.queue) > 0 {
		next := w.queue[0]
		w.queue = w.queue[1:]
		next(&body)
	}
	w.list(&body)
	if err := errors.Join(w.errs...); err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %s, version %s:\n%w", d.Metadata.Name, v.Name, err)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "package %s\n\nimport (\n", v.Name)
	for _, name := range slices.Sorted(maps.Keys(w.imports)) {
		fmt.Fprintf(&out, "\t%s\n", imports[name])
	}
	out.WriteString(")\n")
	out.Write(body.Bytes())
	return format.Source(out.Bytes())
}

// writer writes the types of a version.
type writer struct {
	kind string
	// declared are the names of types, each with the schema that it was made of.
	declared map[string]string
	// queue are the types that are yet to be written.
	queue   []func(*bytes.Buffer)
	imports map[string]bool
	errs    []error
}

// refuse notes what can't be said, at a path.
func (w *writer) refuse(path, what string) {
	w.errs = append(w.errs, fmt.Errorf("%s: %s", path, what))
}

// typeMembers are the members of every object.
var typeMembers = []string{"apiVersion", "kind", "metadata"}

func (w *writer) root(out *bytes.Buffer, d *Definition, v *Version) {
	root := v.Schema.Root
	w.document(out, root.Description, slices.Concat([]string{"+kubebuilder:object:root=true"}, kindMarkers(d, v),
		w.markers(root, "schema")))
	fmt.Fprintf(out, "type %s struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n", w.kind)
	if slices.Contains(root.Required, "metadata") {
		out.WriteString("\t// +required\n\tmetav1.ObjectMeta `json:\"metadata\"`\n\n")
	} else {
		out.WriteString("\t// +optional\n\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n\n")
	}
	fields := *root
	fields.Properties = maps.Clone(root.Properties)
	if m := fields.Properties["metadata"]; m != nil && len(m.Properties)+len(m.Validations) > 0 {
		w.refuse("metadata", "constraints of metadata are no part of a Go type: check them in ValidateName or Validate")
	}
	for _, name := range typeMembers {
		delete(fields.Properties, name)
	}
	w.fields(out, &fields, w.kind, "")
	out.WriteString("}\n")
}

func (w *writer) list(out *bytes.Buffer) {
	fmt.Fprintf(out, "\n// %[1]sList is a list of %[1]s objects.\n//\n// +kubebuilder:object:root=true\n"+
		"type %[1]sList struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n"+
		"\tmetav1.ListMeta `json:\"metadata,omitempty\"`\n\tItems []%[1]s `json:\"items\"`\n}\n", w.kind)
}

// kindMarkers say what a definition says beside the schema.
func kindMarkers(d *Definition, v *Version) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if v.Subresources.Status != nil {
		add("+kubebuilder:subresource:status")
	}
	if s := v.Subresources.Scale; s != nil {
		selector := ""
		if s.LabelSelectorPath != "" {
			selector = ",selectorpath=" + s.LabelSelectorPath
		}
		add("+kubebuilder:subresource:scale:specpath=%s,statuspath=%s%s", s.SpecReplicasPath, s.StatusReplicasPath,
			selector)
	}
	if v.Storage && len(d.Spec.Versions) > 1 {
		add("+kubebuilder:storageversion")
	}
	if !v.Served {
		add("+kubebuilder:unservedversion")
	}
	if v.Deprecated {
		warning := ""
		if v.DeprecationWarning != "" {
			warning = ":warning=" + quoted(v.DeprecationWarning)
		}
		add("+kubebuilder:deprecatedversion%s", warning)
	}
	if resource := resourceArguments(d); resource != "" {
		add("+kubebuilder:resource:%s", resource)
	}
	for _, c := range v.Columns {
		text := fmt.Sprintf("name=%s,type=%s", quoted(c.Name), c.Type)
		if c.Format != "" {
			text += ",format=" + c.Format
		}
		if c.Description != "" {
			text += ",description=" + quoted(c.Description)
		}
		if c.Priority != 0 {
			text += ",priority=" + strconv.Itoa(c.Priority)
		}
		add("+kubebuilder:printcolumn:%s,JSONPath=%s", text, quoted(c.JSONPath))
	}
	for _, f := range v.Selectable {
		add("+kubebuilder:selectablefield:JSONPath=%s", quoted(f.JSONPath))
	}
	for _, pairs := range []struct {
		name   string
		values map[string]string
	}{{"annotations", d.Metadata.Annotations}, {"labels", d.Metadata.Labels}} {
		for _, key := range slices.Sorted(maps.Keys(pairs.values)) {
			add("+kubebuilder:metadata:%s=%s", pairs.name, quoted(key+"="+pairs.values[key]))
		}
	}
	return out
}

func resourceArguments(d *Definition) string {
	names := d.Spec.Names
	var out []string
	if names.Plural != model.KubebuilderPlural(names.Kind) {
		out = append(out, "path="+names.Plural)
	}
	if names.Singular != "" && names.Singular != strings.ToLower(names.Kind) {
		out = append(out, "singular="+names.Singular)
	}
	if d.Spec.Scope == "Cluster" {
		out = append(out, "scope=Cluster")
	}
	if len(names.ShortNames) > 0 {
		out = append(out, "shortName="+strings.Join(names.ShortNames, ";"))
	}
	if len(names.Categories) > 0 {
		out = append(out, "categories="+strings.Join(names.Categories, ";"))
	}
	return strings.Join(out, ",")
}

// fields writes the fields of a struct, in the order of their names.
func (w *writer) fields(out *bytes.Buffer, n *node, owner, path string) {
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		p, at := n.Properties[name], strings.TrimPrefix(path+"."+name, ".")
		if strings.ContainsAny(name, "\"`,\\") || name == "-" || name == "" {
			w.refuse(at, "the name of the field can't be written in a tag of Go")
			continue
		}
		field := goName(name)
		for taken[field] {
			field += "_"
		}
		taken[field] = true
		required := slices.Contains(n.Required, name)
		t, markers := w.value(p, owner, field, at)
		tag, presence := name, "+required"
		if !required {
			tag, presence = name+",omitempty", "+optional"
			if optionalPointer(t) {
				t = "*" + t
			}
		}
		if p.Nullable {
			markers = append(markers, "+nullable")
			if !strings.HasPrefix(t, "*") && optionalPointer(t) {
				t = "*" + t
			}
		}
		if p.Default != nil {
			markers = append(markers, "+kubebuilder:default="+compact(p.Default))
		}
		comment(out, "\t", p.Description)
		w.write(out, "\t", append([]string{presence}, markers...))
		fmt.Fprintf(out, "\t%s %s `json:%s`\n", field, t, strconv.Quote(tag))
	}
	for _, name := range n.Required {
		if n.Properties[name] == nil && (path != "" || !slices.Contains(typeMembers, name)) {
			w.refuse(path, fmt.Sprintf("the field %q is required, and not described", name))
		}
	}
}

// optionalPointer reports whether a field of a type is a pointer if it may be absent.
func optionalPointer(t string) bool {
	return !strings.HasPrefix(t, "[]") && !strings.HasPrefix(t, "map[")
}

// quantityPattern is that of resource.Quantity.
const quantityPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))` +
	`(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

// value returns the Go type of a value, and the markers of its place. A struct is called by its owner and its field.
func (w *writer) value(n *node, owner, field, path string) (string, []string) {
	markers := w.markers(n, path)
	switch {
	case n.IntOrString:
		if n.Pattern == quantityPattern {
			w.imports["resource"] = true
			return "resource.Quantity", without(markers, "Pattern")
		}
		w.imports["intstr"] = true
		return "intstr.IntOrString", markers
	case n.Embedded && len(n.Properties) == 0:
		w.imports["runtime"] = true
		markers = append(markers, "+kubebuilder:validation:EmbeddedResource")
		return "runtime.RawExtension", markers
	case n.Embedded:
		w.refuse(path, "x-kubernetes-embedded-resource with properties is no Go type")
		return "any", nil
	case len(n.Properties) > 0:
		if n.Additional != nil {
			w.refuse(path, "properties beside additionalProperties are no Go type")
		}
		return w.structure(n, owner+field, path), markers
	}
	switch n.Type {
	case "string":
		switch n.Format {
		case "date-time":
			return "metav1.Time", markers
		case "byte":
			return "[]byte", markers
		case "":
			return "string", markers
		}
		return "string", append(markers, "+kubebuilder:validation:Format="+n.Format)
	case "integer":
		switch n.Format {
		case "int32", "int64":
			return n.Format, markers
		case "":
			return "int", markers
		}
		return "int64", append(markers, "+kubebuilder:validation:Format="+n.Format)
	case "number":
		if n.Format != "" {
			markers = append(markers, "+kubebuilder:validation:Format="+n.Format)
		}
		return "float64", markers
	case "boolean":
		return "bool", markers
	case "array":
		if n.Items == nil {
			w.refuse(path, "an array without items is no Go type")
			return "any", nil
		}
		return "[]" + w.element(n.Items, owner, singular(field), path+"[]"), markers
	case "object":
		return w.object(n, owner, field, path, markers)
	case "":
		if n.Preserve {
			w.imports["runtime"] = true
			return "runtime.RawExtension", append(markers, "+kubebuilder:validation:Schemaless")
		}
	}
	w.refuse(path, fmt.Sprintf("a value of type %q is no Go type", n.Type))
	return "any", nil
}

// object returns the type of an object without properties: a map, what is kept as it is, or an empty struct.
func (w *writer) object(n *node, owner, field, path string, markers []string) (string, []string) {
	switch {
	case n.Additional == nil && n.Preserve:
		w.imports["runtime"] = true
		return "runtime.RawExtension", markers
	case n.Additional == nil:
		return w.structure(n, owner+field, path), markers
	case !bytes.HasPrefix(n.Additional, []byte("{")):
		w.refuse(path, "additionalProperties: "+string(n.Additional)+" is no Go type: describe the values")
		return "any", nil
	}
	members := &node{}
	decoder := json.NewDecoder(bytes.NewReader(n.Additional))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	if err := decoder.Decode(members); err != nil {
		w.refuse(path, err.Error())
		return "any", nil
	}
	return "map[string]" + w.element(members, owner, singular(field), path+"{}"), markers
}

// element returns the type of the elements of a list or map. Constraints and a description are those of a type with a
// name.
func (w *writer) element(n *node, owner, field, path string) string {
	if n.Default != nil {
		w.refuse(path, "the default of an element can't be written in Go")
	}
	t, markers := w.value(n, owner, field, path)
	if n.Nullable {
		markers = append(markers, "+nullable")
	}
	isStruct := len(n.Properties) > 0 && !n.IntOrString
	if isStruct || len(markers) == 0 && n.Description == "" {
		return t
	}
	name := w.name(owner+field, n)
	if w.declared[name] == "" {
		w.declared[name] = fingerprint(n)
		w.queue = append(w.queue, func(out *bytes.Buffer) {
			out.WriteString("\n")
			w.document(out, n.Description, markers)
			fmt.Fprintf(out, "type %s %s\n", name, t)
		})
	}
	return name
}

// structure returns the name of the struct of a schema, and has it written.
func (w *writer) structure(n *node, name, path string) string {
	name = w.name(name, n)
	if w.declared[name] == "" {
		w.declared[name] = fingerprint(n)
		w.queue = append(w.queue, func(out *bytes.Buffer) {
			out.WriteString("\n")
			var markers []string
			if strings.HasSuffix(path, "[]") || strings.HasSuffix(path, "{}") {
				markers = w.markers(n, path)
			}
			w.document(out, n.Description, markers)
			fmt.Fprintf(out, "type %s struct {\n", name)
			w.fields(out, n, name, path)
			out.WriteString("}\n")
		})
	}
	return name
}

// name returns a name that no type of another schema has.
func (w *writer) name(want string, n *node) string {
	is := fingerprint(n)
	name := want
	for i := 2; w.declared[name] != "" && w.declared[name] != is || name == w.kind || name == w.kind+"List"; i++ {
		name = want + strconv.Itoa(i)
	}
	return name
}

func fingerprint(n *node) string {
	text, err := json.Marshal(n)
	if err != nil {
		panic(err) // a node was JSON
	}
	return string(text)
}

func without(markers []string, name string) []string {
	return slices.DeleteFunc(markers, func(m string) bool {
		return strings.HasPrefix(m, "+kubebuilder:validation:"+name+"=")
	})
}

// goName makes an exported name of one on the wire: podIP becomes PodIP, and foo-bar FooBar.
func goName(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	out := ""
	for _, part := range parts {
		out += spelling.UpperFirst(part)
	}
	if out == "" || !token.IsExported(out) {
		out = "X" + out
	}
	return out
}

// singular is the name of an element of what has a name: Port for Ports.
func singular(name string) string {
	switch {
	case strings.HasSuffix(name, "ies"):
		return strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "sses"):
		return strings.TrimSuffix(name, "es")
	case strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss"):
		return strings.TrimSuffix(name, "s")
	}
	return name + "Item"
}

// document writes the comment of a type.
func (w *writer) document(out *bytes.Buffer, description string, markers []string) {
	comment(out, "", description)
	if description != "" && len(markers) > 0 {
		out.WriteString("//\n")
	}
	w.write(out, "", markers)
}

// write writes markers. It refuses one with a line break, behind which would be Go code.
func (w *writer) write(out *bytes.Buffer, indent string, markers []string) {
	for _, marker := range markers {
		if strings.ContainsAny(marker, "\r\n") {
			w.refuse(strconv.Quote(marker), "a marker is one line")
			continue
		}
		fmt.Fprintf(out, "%s// %s\n", indent, marker)
	}
}

// lineBreaks makes one of all line breaks. Go ignores a carriage return, and would join what it separates.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// comment writes a description. None of its lines becomes a marker.
func comment(out *bytes.Buffer, indent, text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(lineBreaks.Replace(text), "\n") {
		out.WriteString(indent + strings.TrimRight("// "+model.EscapeDocLine(line), " ") + "\n")
	}
}

func compact(data json.RawMessage) string {
	var out bytes.Buffer
	if err := json.Compact(&out, data); err != nil {
		return string(data)
	}
	return out.String()
}
