package resolve

import (
	"apigen.dev/generator/diag"
	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

// checkNoKind reports markers of kinds on a type that is none.
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
