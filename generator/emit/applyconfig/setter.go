package applyconfig

import (
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan/clientset"
)

// setters writes the functions that set, and the few that get, a configuration's fields.
func (w *writer) setters(t *model.Type) {
	name := clientset.ApplyName(t.Name)
	members := w.settable(t)
	ensured := map[string]bool{}
	for _, m := range members {
		if m.in != nil && m.in.pointer && !ensured[m.in.name] {
			ensured[m.in.name] = true
			printf(w, "func (b *%[1]s) ensure%[2]sExists() {\n"+
				"\tif b.%[2]s == nil {\n\t\tb.%[2]s = &%[3]s{}\n\t}\n}\n\n", name, m.in.name, m.in.text)
		}
		w.setter(name, m)
	}
	for _, m := range members {
		if needsGetter(m) {
			printf(w, "// Get%[2]s returns the field %[2]s, which is nil where it isn't set.\nfunc (b *%[1]s) "+
				"Get%[2]s() *%[3]s {\n", name, m.Name, w.text(m.Type))
			w.ensure(m)
			printf(w, "\treturn %s\n}\n\n", m.path())
		}
	}
}

// needsGetter tells the fields by which clients know what is applied.
func needsGetter(m member) bool {
	if m.owner.Package == nil || m.owner.Package.Path != metaPath {
		return false
	}
	switch m.owner.Name {
	case "ObjectMeta":
		return m.Name == "Name" || m.Name == "Namespace"
	case "TypeMeta":
		return m.Name == "Kind" || m.Name == "APIVersion"
	}
	return false
}

func (w *writer) ensure(m member) {
	if m.in != nil && m.in.pointer {
		printf(w, "\tb.ensure%sExists()\n", m.in.name)
	}
}

func (w *writer) setter(name string, m member) {
	inner := deref(m.Type)
	switch list := nillable(inner) && inner.Form == model.Slice; {
	case list && (w.graph.has(inner.Elem) || inner == m.Type):
		w.appender(name, m, inner)
	case nillable(m.Type):
		w.putter(name, m)
	default:
		param, value := w.text(m.Type), "&value"
		if w.graph.has(m.Type) {
			param, value = "*"+param, "value"
		}
		printf(w, "// With%[2]s sets the field %[2]s, and returns the receiver.\nfunc (b *%[1]s) With%[2]s(value "+
			"%[3]s) *%[1]s {\n", name, m.Name, param)
		w.ensure(m)
		printf(w, "\t%s = %s\n\treturn b\n}\n\n", m.path(), value)
	}
}

func (w *writer) appender(name string, m member, list *model.Type) {
	param, value := w.elementText(list), "value"
	applied := w.graph.has(list.Elem)
	if applied {
		param, value = "*"+w.text(list.Elem), "*value"
	}
	printf(w, "// With%[2]s adds values to the list %[2]s, and returns the receiver.\nfunc (b *%[1]s) "+
		"With%[2]s(values ...%[3]s) *%[1]s {\n", name, m.Name, param)
	w.ensure(m)
	path := m.path()
	if list != m.Type {
		printf(w, "\tif %[1]s == nil {\n\t\t%[1]s = &%[2]s{}\n\t}\n", path, w.text(list))
		path = "*" + path
	}
	w.Add("\tfor _, value := range values {\n")
	if applied {
		printf(w, "\t\tif value == nil {\n\t\t\tpanic(\"nil value passed to With%s\")\n\t\t}\n", m.Name)
	}
	printf(w, "\t\t%[1]s = append(%[1]s, %[2]s)\n\t}\n\treturn b\n}\n\n", path, value)
}

func (w *writer) elementText(list *model.Type) string { return w.TypeText(list)[len("[]"):] }

func (w *writer) putter(name string, m member) {
	text := w.text(m.Type)
	printf(w, "// With%[2]s puts entries into the map %[2]s, over those of the same keys, and returns the "+
		"receiver.\nfunc (b *%[1]s) With%[2]s(entries %[3]s) *%[1]s {\n", name, m.Name, text)
	w.ensure(m)
	printf(w, "\tif %[1]s == nil && len(entries) > 0 {\n\t\t%[1]s = make(%[2]s, len(entries))\n\t}\n\tfor k, v := "+
		"range entries {\n\t\t%[1]s[k] = v\n\t}\n\treturn b\n}\n\n", m.path(), text)
}
