package server

import (
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/registry"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// widget is a kind of one version.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              widgetSpec `json:"spec,omitempty"`
}

type widgetSpec struct {
	Color string `json:"color,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (w *widget) DeepCopyObject() runtime.Object {
	out := *w
	out.ObjectMeta = *w.ObjectMeta.DeepCopy()
	return &out
}

// widgets is the group shop.example.com, with the kind Widget in namespaces.
func widgets() registry.Group { return widgetsIn("v1") }

// widgetsIn are widgets in versions, the first of which is stored.
func widgetsIn(versions ...string) registry.Group {
	newWidget := func() *widget { return new(widget) }
	var served []codec.Version[*widget]
	for _, name := range versions {
		served = append(served, codec.VersionOf(api.VersionInfo{Name: name},
			codec.Conversion[*widget, *widget]{New: newWidget}))
	}
	return registry.Group{Name: "shop.example.com", Versions: versions, Resources: []registry.Resource{
		registry.New(registry.Definition[*widget]{
			Group:    "shop.example.com",
			Names:    api.Names{Kind: "Widget", ListKind: "WidgetList", Plural: "widgets", Singular: "widget"},
			Scope:    api.Namespaced,
			New:      newWidget,
			Versions: served,
			Storage:  versions[0],
		}),
	}}
}
