package conformance

import (
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"
)

// A flunder's life through the dynamic client, in both versions.
func TestDynamic(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		all := newDynamic(t, server.config)
		current, old := all.Resource(flunders).Namespace("default"), all.Resource(oldFlunders).Namespace("default")
		created, err := current.Create(t.Context(), flunder("a"), metav1.CreateOptions{})
		if err != nil || created.GetUID() == "" || created.GetGeneration() != 0 && created.GetGeneration() != 1 {
			t.Fatalf("created: %v, %v", created, err)
		}
		if _, err := current.Create(t.Context(), flunder("a"),
			metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
			t.Errorf("created twice: %v", err)
		}
		got, err := old.Get(t.Context(), "a", metav1.GetOptions{})
		if text, _, _ := unstructured.NestedString(got.Object, "spec", "reference"); err != nil || text != "other" {
			t.Errorf("in v1alpha1: %v, %v", got, err)
		}
		stale := created.DeepCopy()
		if err := unstructured.SetNestedField(created.Object, "b", "spec", "flunderReference"); err != nil {
			t.Fatal(err)
		}
		updated, err := current.Update(t.Context(), created, metav1.UpdateOptions{})
		if err != nil || reference(updated) != "b" || updated.GetResourceVersion() == stale.GetResourceVersion() {
			t.Errorf("updated: %v, %v", updated, err)
		}
		if _, err := current.Update(t.Context(), stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("updated with an old resourceVersion: %v", err)
		}
		patch := []byte(`[{"op":"replace","path":"/spec/reference","value":"c"}]`)
		if _, err := old.Patch(t.Context(), "a", types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
		if got, err = current.Get(t.Context(), "a", metav1.GetOptions{}); err != nil || reference(got) != "c" {
			t.Errorf("patched in v1alpha1: %v, %v", got, err)
		}
		uid := types.UID("another")
		if err := current.Delete(t.Context(), "a",
			metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}); !apierrors.IsConflict(err) {
			t.Errorf("deleted under another uid: %v", err)
		}
		if err := current.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		if _, err := current.Get(t.Context(), "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("deleted: %v", err)
		}
	})
}

// Pages are of one revision, whatever is written between them.
func TestPages(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		client := newDynamic(t, server.config).Resource(flunders).Namespace("default")
		const n = 25
		for i := range n {
			if _, err := client.Create(t.Context(), flunder(nth(i)), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		first, err := client.List(t.Context(), metav1.ListOptions{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if left := first.GetRemainingItemCount(); len(first.Items) != 10 || left == nil || *left != n-10 {
			t.Errorf("the first page has %d items, %v remain", len(first.Items), left)
		}
		if err := client.Delete(t.Context(), nth(20), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		names := namesOf(first.Items)
		for next := first.GetContinue(); next != ""; {
			page, err := client.List(t.Context(), metav1.ListOptions{Limit: 10, Continue: next})
			if err != nil {
				t.Fatal(err)
			}
			if page.GetResourceVersion() != first.GetResourceVersion() {
				t.Errorf("a page of revision %s behind one of %s", page.GetResourceVersion(),
					first.GetResourceVersion())
			}
			names, next = append(names, namesOf(page.Items)...), page.GetContinue()
		}
		var want []string
		for i := range n {
			want = append(want, nth(i))
		}
		if !slices.Equal(names, want) {
			t.Errorf("pages hold %q", names)
		}
		var selected int
		err = pager.New(pager.SimplePageFunc(func(o metav1.ListOptions) (runtimeObject, error) {
			o.LabelSelector = "name in (" + nth(3) + "," + nth(24) + ")"
			return client.List(t.Context(), o)
		})).EachListItem(t.Context(), metav1.ListOptions{Limit: 1},
			func(runtimeObject) error { selected++; return nil })
		if err != nil || selected != 2 {
			t.Errorf("%d selected by label, %v", selected, err)
		}
	})
}

func namesOf(items []unstructured.Unstructured) []string {
	var names []string
	for i := range items {
		names = append(names, items[i].GetName())
	}
	return names
}

// The metadata client reads, watches, patches and deletes without knowing the kinds.
func TestMetadata(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		all := newDynamic(t, server.config)
		client, err := metadata.NewForConfig(server.config)
		if err != nil {
			t.Fatal(err)
		}
		meta := client.Resource(flunders).Namespace("default")
		watching, err := meta.Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer watching.Stop()
		for _, name := range []string{"a", "b"} {
			if _, err := all.Resource(flunders).Namespace("default").Create(t.Context(), flunder(name),
				metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		list, err := meta.List(t.Context(), metav1.ListOptions{LabelSelector: "name=b"})
		// in protobuf, items tell no kind
		if err != nil || len(list.Items) != 1 || list.Items[0].Name != "b" || list.Items[0].UID == "" {
			t.Errorf("listed: %+v, %v", list, err)
		}
		patched, err := meta.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`),
			metav1.PatchOptions{})
		if err != nil || patched.Labels["x"] != "y" || patched.Labels["name"] != "a" {
			t.Errorf("patched: %+v, %v", patched, err)
		}
		if err := meta.DeleteCollection(t.Context(), metav1.DeleteOptions{},
			metav1.ListOptions{LabelSelector: "name=b"}); err != nil {
			t.Error(err)
		}
		want := []string{"ADDED a", "ADDED b", "MODIFIED a", "DELETED b"}
		if got := take(t, watching, len(want)); !slices.Equal(got, want) {
			t.Errorf("watched: %q", got)
		}
	})
}

// take reads events from a watch: type and name.
func take(t *testing.T, from watch.Interface, n int) []string {
	t.Helper()
	var got []string
	for len(got) < n {
		select {
		case event, ok := <-from.ResultChan():
			if !ok {
				t.Fatalf("the watch ended behind %q", got)
			}
			object, ok := event.Object.(metav1.Object)
			if !ok {
				t.Fatalf("%s: %+v", event.Type, event.Object)
			}
			got = append(got, string(event.Type)+" "+object.GetName())
		case <-patience():
			t.Fatalf("nothing came behind %q", got)
		}
	}
	return got
}

// Many writers of one object, each of whom repeats what conflicts: no write is lost.
func TestConflicts(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		client := newDynamic(t, server.config).Resource(fischers)
		if _, err := client.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "wardle.example.com/v1alpha1", "kind": "Fischer", "metadata": map[string]any{"name": "one"},
		}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		const writers, each = 4, 10
		concurrently(writers, func(writer int) {
			for i := range each {
				err := retry.OnError(retryForever, apierrors.IsConflict, func() error {
					got, err := client.Get(t.Context(), "one", metav1.GetOptions{})
					if err != nil {
						return err
					}
					names, _, _ := unstructured.NestedStringSlice(got.Object, "disallowedFlunders")
					if err := unstructured.SetNestedStringSlice(got.Object, append(names, nth(writer*each+i)),
						"disallowedFlunders"); err != nil {
						return err
					}
					_, err = client.Update(t.Context(), got, metav1.UpdateOptions{})
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
		got, err := client.Get(t.Context(), "one", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		names, _, _ := unstructured.NestedStringSlice(got.Object, "disallowedFlunders")
		slices.Sort(names)
		if names = slices.Compact(names); len(names) != writers*each {
			t.Errorf("%d of %d writes are there", len(names), writers*each)
		}
	})
}
