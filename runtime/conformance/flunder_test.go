package conformance

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var (
	flunders    = schema.GroupVersionResource{Group: group, Version: "v1beta1", Resource: "flunders"}
	oldFlunders = schema.GroupVersionResource{Group: group, Version: "v1alpha1", Resource: "flunders"}
	fischers    = schema.GroupVersionResource{Group: group, Version: "v1alpha1", Resource: "fischers"}
)

// flunder makes an object to create, in v1beta1.
func flunder(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "wardle.example.com/v1beta1", "kind": "Flunder",
		"metadata": map[string]any{"name": name, "namespace": "default", "labels": map[string]any{"name": name}},
		"spec":     map[string]any{"flunderReference": "other", "referenceType": "Flunder"},
	}}
}

func newDynamic(t *testing.T, config *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// stored reads what storage holds: key to resourceVersion.
func stored(t *testing.T, config *rest.Config, resource schema.GroupVersionResource) map[string]string {
	t.Helper()
	list, err := newDynamic(t, config).Resource(resource).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return versions(list.Items)
}

func versions(items []unstructured.Unstructured) map[string]string {
	out := make(map[string]string, len(items))
	for i := range items {
		out[items[i].GetNamespace()+"/"+items[i].GetName()] = items[i].GetResourceVersion()
	}
	return out
}

// reference is what a flunder of v1beta1 refers to.
func reference(u *unstructured.Unstructured) string {
	text, _, _ := unstructured.NestedString(u.Object, "spec", "flunderReference")
	return text
}

// nth names an object.
func nth(i int) string { return fmt.Sprintf("f-%04d", i) }
