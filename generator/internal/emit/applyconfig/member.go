package applyconfig

import (
	"fmt"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/clientset"
)

// member is a field of an apply configuration, or what is embedded in it, as the templates show it.
type member struct {
	*model.Field
	configuration configuration
	// In is the embedded apply configuration that the field is in; nil if it is the configuration's own.
	In *embedded
	// Ensures is In for the first of its fields, if it must be made before something is set in it.
	Ensures *embedded
	// owner is the type that declares the field.
	owner *model.Type
}

// embedded is an embedded apply configuration: the name of its type without the package, and its type. Pointer says
// that it is one field on the wire, and must be made before something is set in it.
type embedded struct {
	Name, Text string
	Pointer    bool
}

// Of is the name of the apply configuration.
func (m member) Of() string { return m.configuration.Name() }

// Text is the type of the field without pointers, as the file writes it.
func (m member) Text() string { return m.configuration.text(m.Type) }

// Path leads to the field from the receiver.
func (m member) Path() string {
	if m.In == nil {
		return "b." + m.Name
	}
	return "b." + m.In.Name + "." + m.Name
}

// Declaration is the line that declares the field in the configuration.
func (m member) Declaration() string {
	text, name := m.Text(), m.Name+" "
	switch {
	case m.Embedded && m.Inline:
		return text + " `json:\",inline\"`"
	case m.Embedded && m.Applied():
		name, text = "", "*"+text
	case !m.Nilable():
		text = "*" + text
	}
	return fmt.Sprintf("%s%s `json:\"%s,omitempty\"`", name, text, m.JSON)
}

// Applied reports whether values of the field have apply configurations, Nilable whether they are lists or maps.
func (m member) Applied() bool { return m.configuration.graph.has(m.Type) }
func (m member) Nilable() bool { return nilable(m.Type) }

// Appended reports whether a list is set by adding elements, and AppliedElements whether these have apply
// configurations.
func (m member) Appended() bool {
	list := deref(m.Type)
	return nilable(list) && list.Form == model.Slice && (m.AppliedElements() || list == m.Type)
}
func (m member) AppliedElements() bool { return m.configuration.graph.has(deref(m.Type).Elem) }

// Element is the type of the elements that are added to a list.
func (m member) Element() string {
	list := deref(m.Type)
	if m.AppliedElements() {
		return "*" + m.configuration.text(list.Elem)
	}
	return m.configuration.TypeText(list)[len("[]"):]
}

// HasGetter tells the fields by which clients know what is applied.
func (m member) HasGetter() bool {
	return model.IsNamed(m.owner, metaPath, "ObjectMeta") && (m.Name == "Name" || m.Name == "Namespace") ||
		model.IsNamed(m.owner, metaPath, "TypeMeta") && (m.Name == "Kind" || m.Name == "APIVersion")
}

func hidden(owner *model.Type, f *model.Field) bool {
	return model.IsNamed(owner, metaPath, "ObjectMeta") && (f.Name == "ManagedFields" || f.Name == "SelfLink") ||
		strings.HasPrefix(f.Name, "ZZZ_") // on its way to be removed, by custom
}

// Fields are the members that a configuration declares: the type's fields, and, as its own, those of inlined structs
// that have no apply configuration.
func (c configuration) Fields() []member { return c.fields(c.Type) }

func (c configuration) fields(t *model.Type) []member {
	var out []member
	for _, f := range t.Fields {
		switch {
		case !written(f) || hidden(t, f):
		case f.Inline && f.Embedded && !c.graph.has(f.Type):
			if inner := deref(f.Type); inner.Form == model.Struct && inner != t {
				out = append(out, c.fields(inner)...)
			}
		default:
			out = append(out, member{Field: f, owner: t, configuration: c})
		}
	}
	return out
}

// Settable are the members that can be set: the configuration's own, and those of what is embedded. A name that came
// before is not there again.
func (c configuration) Settable() []member {
	var out []member
	seen, ensured := map[string]bool{}, map[string]bool{}
	var add func(t *model.Type, in *embedded)
	add = func(t *model.Type, in *embedded) {
		for _, m := range c.fields(t) {
			if seen[m.Name] {
				continue
			}
			seen[m.Name] = true
			if m.In = in; m.Embedded && m.Applied() {
				inner := deref(m.Type)
				add(inner, &embedded{clientset.ApplyName(inner.Name), m.Text(), !m.Inline})
				continue
			}
			if in != nil && in.Pointer && !ensured[in.Name] {
				ensured[in.Name], m.Ensures = true, in
			}
			out = append(out, m)
		}
	}
	add(c.Type, nil)
	return out
}

// text is the type that an apply configuration has in a type's place.
func (c configuration) text(t *model.Type) string {
	t = deref(t)
	if path, alias := c.graph.home(t); path != "" {
		if alias == "" {
			return c.Qualify(&model.Package{Path: path}, clientset.ApplyName(t.Name))
		}
		if path == c.Version.ApplyPath {
			return clientset.ApplyName(t.Name)
		}
		c.Import(alias, path)
		return alias + "." + clientset.ApplyName(t.Name)
	}
	if t.Name == "" && t.Form == model.Slice && c.graph.has(t.Elem) {
		return "[]" + c.text(t.Elem)
	}
	if t.Name == "" && t.Form == model.Map && c.graph.has(t.Elem) && t.Elem.Form == model.Struct {
		return "map[" + c.TypeText(t.Key) + "]" + c.text(t.Elem)
	}
	return c.TypeText(t)
}

func nilable(t *model.Type) bool {
	return t.Name == "" && (t.Form == model.Slice || t.Form == model.Map)
}
