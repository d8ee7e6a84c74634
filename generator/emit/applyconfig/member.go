package applyconfig

import (
	"strings"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan/clientset"
)

// member is a field of an apply configuration, or what is embedded in it.
type member struct {
	*model.Field
	// in is the embedded apply configuration that the field is in; nil where it is the configuration's own.
	in *embedded
	// owner is the type that declares the field.
	owner *model.Type
}

type embedded struct {
	name string // of its type, without the package
	text string // of its type
	// pointer: it is one field on the wire, and must be made before something is set in it.
	pointer bool
}

func (m member) path() string {
	if m.in == nil {
		return "b." + m.Name
	}
	return "b." + m.in.name + "." + m.Name
}

func hidden(owner *model.Type, f *model.Field) bool {
	if owner.Package != nil && owner.Package.Path == metaPath && owner.Name == "ObjectMeta" &&
		(f.Name == "ManagedFields" || f.Name == "SelfLink") {
		return true
	}
	return strings.HasPrefix(f.Name, "ZZZ_") // on its way to be removed, by custom
}

// fields are the members that a configuration declares: the type's fields, and, as its own, those of inlined structs
// that have no apply configuration.
func (w *writer) fields(t *model.Type) []member {
	var out []member
	for _, f := range t.Fields {
		switch {
		case !written(f) || hidden(t, f):
		case f.Inline && f.Embedded && !w.graph.has(f.Type):
			if inner := deref(f.Type); inner.Form == model.Struct && inner != t {
				out = append(out, w.fields(inner)...)
			}
		default:
			out = append(out, member{Field: f, owner: t})
		}
	}
	return out
}

// settable are the members that can be set: the configuration's own, and those of what is embedded. A name that came
// before is not there again.
func (w *writer) settable(t *model.Type) []member {
	var out []member
	seen := map[string]bool{}
	var add func(t *model.Type, in *embedded)
	add = func(t *model.Type, in *embedded) {
		for _, m := range w.fields(t) {
			if seen[m.Name] {
				continue
			}
			seen[m.Name] = true
			if m.in = in; m.Embedded && w.graph.has(m.Type) {
				add(deref(m.Type), w.embedded(m))
				continue
			}
			out = append(out, m)
		}
	}
	add(t, nil)
	return out
}

func (w *writer) embedded(m member) *embedded {
	inner := deref(m.Type)
	return &embedded{name: clientset.ApplyName(inner.Name), text: w.text(inner), pointer: !m.Inline}
}

// text is the type that an apply configuration has in a type's place.
func (w *writer) text(t *model.Type) string {
	t = deref(t)
	if path, alias := w.graph.home(t); path != "" {
		if alias == "" {
			return w.Qualify(&model.Package{Path: path}, clientset.ApplyName(t.Name))
		}
		if path == w.version.ApplyPath {
			return clientset.ApplyName(t.Name)
		}
		w.Import(alias, path)
		return alias + "." + clientset.ApplyName(t.Name)
	}
	if t.Name == "" && t.Form == model.Slice && w.graph.has(t.Elem) {
		return "[]" + w.text(t.Elem)
	}
	if t.Name == "" && t.Form == model.Map && w.graph.has(t.Elem) && t.Elem.Form == model.Struct {
		return "map[" + w.TypeText(t.Key) + "]" + w.text(t.Elem)
	}
	return w.TypeText(t)
}

func nillable(t *model.Type) bool {
	return t.Name == "" && (t.Form == model.Slice || t.Form == model.Map)
}
