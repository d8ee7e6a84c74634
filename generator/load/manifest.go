package load

import (
	"strings"

	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

// manifest reads what markers say of a kind for its CustomResourceDefinition alone.
func (b *builder) manifest(ms marker.Markers) model.Manifest {
	m := model.Manifest{Skip: ms.Has("kubebuilder:skipversion"), Status: ms.Has("kubebuilder:subresource:status")}
	for _, x := range ms.All("kubebuilder:metadata") {
		m.Labels = append(m.Labels, b.pairs(x, "labels")...)
		m.Annotations = append(m.Annotations, b.pairs(x, "annotations")...)
	}
	return m
}

// pairs are the elements key=value of an argument.
func (b *builder) pairs(m marker.Marker, arg string) []model.KeyValue {
	var out []model.KeyValue
	list, _ := m.Arg(arg)
	for _, element := range marker.SplitList(list) {
		key, value, ok := strings.Cut(element, "=")
		if !ok || key == "" {
			b.errorf(m.Pos, "%q in marker \"+%s\" is no pair: write %s=\"key=value\"", element, m.Name, arg)
			continue
		}
		out = append(out, model.KeyValue{Key: key, Value: value})
	}
	return out
}

// externalDocs reads a link to documentation; nil where there is none.
func (b *builder) externalDocs(ms marker.Markers) *model.ExternalDocs {
	for _, name := range []string{"kubebuilder:externalDocs", "kubebuilder:validation:ExternalDocs"} {
		m, ok := ms.Get(name)
		if !ok {
			continue
		}
		d := new(model.ExternalDocs)
		d.URL, _ = m.Arg("url")
		d.Description, _ = m.Arg("description")
		if d.URL == "" {
			b.errorf(m.Pos, "marker \"+%s\" needs url=", m.Name)
		}
		return d
	}
	return nil
}
