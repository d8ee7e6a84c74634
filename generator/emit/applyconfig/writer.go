package applyconfig

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"apigen.dev/generator/emit/layout"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan/clientset"
	"apigen.dev/generator/spelling"
)

type writer struct {
	*layout.File
	graph   *graph
	version *clientset.Version
	// schemeNames are the names of kinds in the schema.
	schemeNames map[*model.Type]string
}

// printf writes to a buffer, which never fails.
func printf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

func (w *writer) configuration(t *model.Type) {
	w.declaration(t)
	kind := w.kind(t)
	typeMeta := slices.ContainsFunc(t.Fields, func(f *model.Field) bool {
		return f.Embedded && f.Type.Name == "TypeMeta" && f.Type.Package != nil && f.Type.Package.Path == metaPath
	})
	switch {
	case kind != nil:
		w.kindConstructor(kind)
		if kind.Applied() {
			w.extract(kind)
		}
	case typeMeta:
		printf(w, "// %s returns an apply configuration of that kind.\nfunc %s() *%s {\n\tb := &%s{}\n", t.Name, t.Name,
			clientset.ApplyName(t.Name), clientset.ApplyName(t.Name))
		w.identity(t)
	default:
		printf(w, "// %s returns an apply configuration that sets nothing.\nfunc %s() *%s {\n\treturn &%s{}\n}\n\n",
			t.Name, t.Name, clientset.ApplyName(t.Name), clientset.ApplyName(t.Name))
	}
	if kind != nil || typeMeta {
		printf(w, "// IsApplyConfiguration marks apply configurations of whole objects.\nfunc (b %s) "+
			"IsApplyConfiguration() {}\n\n", clientset.ApplyName(t.Name))
	}
	w.setters(t)
}

func (w *writer) kind(t *model.Type) *clientset.Kind {
	for _, k := range w.version.Kinds {
		if k.Type == t {
			return k
		}
	}
	return nil
}

func (w *writer) declaration(t *model.Type) {
	name := clientset.ApplyName(t.Name)
	printf(w, "// %s is what is to be applied of type %s: fields that are nil are left to others.\n", name, t.Name)
	if t.Doc != "" {
		w.Add("//\n")
		w.comment(t.Doc)
	}
	printf(w, "type %s struct {\n", name)
	for _, m := range w.fields(t) {
		w.comment(m.Doc)
		text := w.text(m.Type)
		switch {
		case m.Embedded && m.Inline:
			printf(w, "\t%s `json:\",inline\"`\n", text)
		case m.Embedded && w.graph.has(m.Type):
			printf(w, "\t*%s `json:\"%s,omitempty\"`\n", text, m.JSON)
		case nillable(m.Type):
			printf(w, "\t%s %s `json:\"%s,omitempty\"`\n", m.Name, text, m.JSON)
		default:
			printf(w, "\t%s *%s `json:\"%s,omitempty\"`\n", m.Name, text, m.JSON)
		}
	}
	w.Add("}\n\n")
}

func (w *writer) comment(doc string) {
	if doc == "" {
		return
	}
	for line := range strings.Lines(doc) {
		w.Add(strings.TrimRight("// "+strings.TrimRight(line, "\r\n"), " \t") + "\n")
	}
}

func (w *writer) kindConstructor(k *clientset.Kind) {
	name, params := clientset.ApplyName(k.Name()), "name string"
	if k.NonNamespaced || !k.Namespaced {
		printf(w, "// %s returns an apply configuration of the object of that name.\n", k.Name())
	} else {
		params = "name, namespace string"
		printf(w, "// %s returns an apply configuration of the object of that name in a namespace.\n", k.Name())
	}
	printf(w, "func %s(%s) *%s {\n\tb := &%s{}\n\tb.WithName(name)\n", k.Name(), params, name, name)
	if k.Namespaced {
		w.Add("\tb.WithNamespace(namespace)\n")
	}
	w.identity(k.Type)
}

func (w *writer) identity(t *model.Type) {
	printf(w, "\tb.WithKind(%q)\n\tb.WithAPIVersion(%q)\n\treturn b\n}\n\n", t.Name, w.version.GroupVersion())
}

func (w *writer) extract(k *clientset.Kind) {
	name, api := clientset.ApplyName(k.Name()), w.Qualify(k.Type.Package, k.Type.Name)
	printf(w, `// Extract%[1]sFrom returns what the manager has applied of an object and still owns, `+
		`to be changed and applied again. The
// object must be as the server returned it. The subresource is that through which it was applied: status, scale; `+
		`empty is
// the object's own.
func Extract%[1]sFrom(object *%[2]s, fieldManager string, subresource string) (*%[3]s, error) {
	b := &%[3]s{}
	err := managedfields.ExtractInto(object, internal.Parser().Type(%[4]q), fieldManager, b, subresource)
	if err != nil {
		return nil, err
	}
	b.WithName(object.GetName())
`, k.Name(), api, name, w.schemeNames[k.Type])
	if k.Namespaced {
		w.Add("\tb.WithNamespace(object.GetNamespace())\n")
	}
	printf(w, "\tb.WithKind(%q)\n\tb.WithAPIVersion(%q)\n\treturn b, nil\n}\n\n", k.Name(), w.version.GroupVersion())
	printf(w, `// Extract%[1]s is Extract%[1]sFrom for what was applied to the object itself. `+
		`Where the manager owns nothing, only the name,
// the kind and its version are set.
func Extract%[1]s(object *%[2]s, fieldManager string) (*%[3]s, error) {
	return Extract%[1]sFrom(object, fieldManager, "")
}

`, k.Name(), api, name)
	for _, sub := range subresources(k) {
		printf(w, `// Extract%[1]s%[5]s is Extract%[1]sFrom for what was applied to the %[4]s.
func Extract%[1]s%[5]s(object *%[2]s, fieldManager string) (*%[3]s, error) {
	return Extract%[1]sFrom(object, fieldManager, %[4]q)
}

`, k.Name(), api, name, sub, title(sub))
	}
}

// subresources are those of a kind that can be applied, sorted.
func subresources(k *clientset.Kind) []string {
	var out []string
	if !k.NoStatus && slices.ContainsFunc(k.Type.Fields, func(f *model.Field) bool { return f.Name == "Status" }) {
		out = append(out, "status")
	}
	for _, m := range k.Methods {
		if m.Subresource != "" {
			out = append(out, m.Subresource)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func title(sub string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(sub,
		func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
		out.WriteString(spelling.UpperFirst(word))
	}
	return out.String()
}
