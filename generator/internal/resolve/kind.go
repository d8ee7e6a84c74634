package resolve

import (
	"go/token"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/marker"
	"apigen.dev/generator/internal/model"
)

// kind marks a type as a kind if it is one: an exported struct with TypeMeta and ObjectMeta embedded that markers or
// a method say is an object.
func (b *typeBuilder) kind(m *model.Type, ms marker.Markers) {
	if len(m.TypeArgs) > 0 {
		return
	}
	if m.Form != model.Struct || !token.IsExported(m.Name) || !embeds(m, "TypeMeta") || !embeds(m, "ObjectMeta") {
		b.checkNoKind(m, ms)
		return
	}
	k, faults := readKind(m, ms)
	if !m.IsObject() && k.Client == nil {
		b.checkNoKind(m, ms)
		return
	}
	b.marked(m.Package, faults)
	m.Kind = k
}

func readKind(m *model.Type, ms marker.Markers) (*model.Kind, diag.Errors) {
	k := &model.Kind{Client: &model.Client{}}
	faults := ms.ToKind(k, m)
	k.Kubebuilder = k.Kubebuilder || m.Package.Kubebuilder
	k.HasStatus = field(m, "Status") != nil && (k.Manifest.Status || !k.Kubebuilder && !k.Client.NoStatus)
	if !k.Client.Pos.IsValid() {
		k.Client = nil
	} else {
		faults = append(faults, chooseVerbs(k, m)...)
	}
	return k, faults
}

// embeds reports whether a struct embeds a type of metav1 by value.
func embeds(m *model.Type, name string) bool {
	return slices.ContainsFunc(m.Fields, func(f *model.Field) bool { return f.Embedded && f.Type.Is(metaPath, name) })
}

// lists finds the list types of a package's kinds: by their items, which must be of the kind that a list is named
// after.
func lists(f *faults, p *model.Package) {
	for _, t := range p.Types {
		if t.Form != model.Struct || !embeds(t, "TypeMeta") || !embeds(t, "ListMeta") {
			continue
		}
		named := p.Type(strings.TrimSuffix(t.Name, "List"))
		if named == t || named != nil && named.Kind == nil {
			named = nil
		}
		item := itemOf(t)
		if named != nil && item != named {
			f.fault(p, t.Pos, "%s is the list of kind %s by its name, but has no such items: "+
				"it needs a field Items []%s `json:\"items\"`", t.Name, named.Name, named.Name)
			continue
		}
		if item == nil || item.Kind == nil || item.Package != p {
			continue
		}
		if x := itemsOf(t); x.JSON != "items" && x.Tag != "" {
			f.errorf(x.Pos, "the items of a list are called \"items\" on the wire: write `json:\"items\"`")
		}
		if s := f.u.Root(p.Path); s != nil && s.Output && !t.IsObject() {
			f.errorf(t.Pos, "%s is the list of kind %s, and no object: mark it with +kubebuilder:object:root=true or "+
				"+k8s:deepcopy-gen:interfaces=%s.Object", t.Name, item.Name, runtimePath)
		}
		t.ListOf = item
		if item.Kind.ListType == nil || t.Name == item.Name+"List" {
			item.Kind.ListType = t
		}
	}
}

// itemOf returns the type of a list's items, or of what they point to; nil if there are none.
func itemOf(list *model.Type) *model.Type {
	f := itemsOf(list)
	if f == nil {
		return nil
	}
	if item := f.Type.Elem; item.Form == model.Pointer && item.Name == "" {
		return item.Elem
	}
	return f.Type.Elem
}

// itemsOf returns the field of a list's items; nil if there is none.
func itemsOf(list *model.Type) *model.Field {
	if f := model.FieldNamed(list, "Items"); f != nil && f.Type.Form == model.Slice {
		return f
	}
	return nil
}

func (b *typeBuilder) checkNoKind(m *model.Type, ms marker.Markers) {
	if embedsInvalid(m) {
		return
	}
	want := "embed metav1.TypeMeta and metav1.ObjectMeta"
	if m.Form == model.Struct && embeds(m, "TypeMeta") && embeds(m, "ObjectMeta") {
		want = "mark it with +kubebuilder:object:root=true or " +
			"+k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object"
	}
	var faults diag.Errors
	for _, x := range ms.Effective() {
		switch {
		case x.Definition.Subject == marker.Kinds:
			faults.Add(x.Pos, "marker \"+%s\" is for kinds, and %s is none: %s", x.Name, m.Name, want)
		case x.Definition.Subject == marker.KindsAndLists && x.True() && (m.Form != model.Struct || !embeds(m,
			"TypeMeta")):
			faults.Add(x.Pos, "marker \"+%s\" is for kinds and their lists, and %s is none: "+
				"embed metav1.TypeMeta, with metav1.ObjectMeta or metav1.ListMeta", x.Name, m.Name)
		}
	}
	b.marked(m.Package, faults)
}
