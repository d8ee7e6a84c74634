package conformance

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var books = schema.GroupVersionResource{Group: "library.example.com", Version: "v1", Resource: "books"}

// book makes what is applied to a book.
func book(name string, more map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "library.example.com/v1", "kind": "Book",
		"metadata": map[string]any{"name": name}}}
	for key, value := range more {
		u.Object[key] = value
	}
	return u
}

func condition(kind, status string) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": "R", "message": "",
		"lastTransitionTime": "2026-01-01T00:00:00Z"}
}

// Two controllers apply conditions to one list, whose items are told apart by their type, through client-go.
func TestDynamicApply(t *testing.T) {
	all := newDynamic(t, startMemory(t).config).Resource(books).Namespace("default")
	spec := map[string]any{"spec": map[string]any{"title": "Emma", "pages": int64(474)}}
	if _, err := all.Apply(t.Context(), "emma", book("emma", spec),
		metav1.ApplyOptions{FieldManager: "shop"}); err != nil {
		t.Fatal(err)
	}
	apply := func(manager string, conditions ...any) (*unstructured.Unstructured, error) {
		status := map[string]any{"status": map[string]any{"conditions": conditions}}
		return all.ApplyStatus(t.Context(), "emma", book("emma", status), metav1.ApplyOptions{FieldManager: manager})
	}
	if _, err := apply("one", condition("Available", "True"), condition("Bound", "False")); err != nil {
		t.Fatal(err)
	}
	if _, err := apply("two", condition("Lent", "False")); err != nil {
		t.Fatal(err)
	}
	if _, err := apply("two", condition("Available", "False")); !apierrors.IsConflict(err) {
		t.Errorf("another's condition: %v", err)
	}
	got, err := apply("one", condition("Available", "False"))
	if err != nil {
		t.Fatal(err)
	}
	conditions, _, _ := unstructured.NestedSlice(got.Object, "status", "conditions")
	if len(conditions) != 2 || conditions[0].(map[string]any)["type"] != "Available" ||
		conditions[1].(map[string]any)["type"] != "Lent" {
		t.Errorf("conditions: %v", conditions)
	}
	if title, _, _ := unstructured.NestedString(got.Object, "spec", "title"); title != "Emma" ||
		got.GetGeneration() != 1 {
		t.Errorf("%v", got)
	}
}

// A controller of controller-runtime applies what it reads from nobody.
func TestClientApply(t *testing.T) {
	server := startMemory(t)
	c, err := client.New(server.config, client.Options{Scheme: newScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	u := flunder("a")
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("one")); err != nil {
		t.Fatal(err)
	}
	if u.GetUID() == "" || len(u.GetManagedFields()) != 1 || u.GetManagedFields()[0].Manager != "one" {
		t.Errorf("%v", u)
	}
	other := flunder("a")
	if err := unstructured.SetNestedField(other.Object, "b", "spec", "flunderReference"); err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(other),
		client.FieldOwner("two")); !apierrors.IsConflict(err) {
		t.Errorf("%v", err)
	}
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(other), client.FieldOwner("two"),
		client.ForceOwnership); err != nil || reference(other) != "b" {
		t.Errorf("%v %v", err, other)
	}
	// Typed clients patch strategically.
	before := u.DeepCopy()
	u.SetFinalizers([]string{"example.com/a"})
	if err := c.Patch(t.Context(), u, client.MergeFrom(before)); err != nil {
		t.Error(err)
	}
}
