package access

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// eventPatience is how long a test waits for an event.
const eventPatience = time.Minute

// The dynamic client does with the guest's objects all that it does with custom resources.
func testDynamic(t *testing.T, c *chained) {
	client := c.dynamic(t)
	for name, sort := range map[string]objects{
		"flunders": {client.Resource(flunderResource).Namespace("shop"), newFlunder},
		"things":   {client.Resource(thingResource).Namespace("shop"), newThing},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := sort.List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			events, err := sort.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
			if err != nil {
				t.Fatal(err)
			}
			defer events.Stop()
			sort.write(t)
			sort.patch(t)
			sort.page(t)
			sort.deleteAll(t)
			want := []string{"ADDED d-0 one", "MODIFIED d-0 two", "MODIFIED d-0 three", "ADDED d-1 applied",
				"MODIFIED d-1 again", "ADDED d-2 more", "ADDED d-3 more", "ADDED d-4 more", "DELETED d-0 three",
				"DELETED d-1 again", "DELETED d-2 more", "DELETED d-3 more", "DELETED d-4 more"}
			got := take(t, events, len(want))
			slices.Sort(got[len(want)-5:]) // which are deleted at a time
			if !slices.Equal(got, want) {
				t.Errorf("events: %q, want %q", got, want)
			}
			sort.initial(t)
		})
	}
}

// objects are those of one resource in the namespace shop.
type objects struct {
	dynamic.ResourceInterface
	new func(name, text string) *unstructured.Unstructured
}

func (o objects) write(t *testing.T) {
	t.Helper()
	made, err := o.Create(t.Context(), o.new("d-0", "one"), metav1.CreateOptions{})
	if err != nil || textOf(made) != "one" || made.GetUID() == "" {
		t.Fatalf("%v, %v", made, err)
	}
	if _, err := o.Create(t.Context(), o.new("d-0", "one"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("created again: %v", err)
	}
	got, err := o.Get(t.Context(), "d-0", metav1.GetOptions{})
	if err != nil || got.GetResourceVersion() != made.GetResourceVersion() {
		t.Fatalf("%v, %v", got, err)
	}
	if _, err := o.Get(t.Context(), "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("none: %v", err)
	}
	_ = unstructured.SetNestedField(got.Object, "two", "spec", textField(got))
	if got, err = o.Update(t.Context(), got, metav1.UpdateOptions{}); err != nil || textOf(got) != "two" {
		t.Fatalf("%v, %v", got, err)
	}
	if _, err := o.Update(t.Context(), made, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of an old version: %v", err)
	}
}

func (o objects) patch(t *testing.T) {
	t.Helper()
	field := textField(o.new("", ""))
	got, err := o.Patch(t.Context(), "d-0", types.MergePatchType, fmt.Appendf(nil, `{"spec":{%q:"three"}}`, field),
		metav1.PatchOptions{})
	if err != nil || textOf(got) != "three" {
		t.Fatalf("%v, %v", got, err)
	}
	for _, text := range []string{"applied", "again"} {
		got, err = o.Apply(t.Context(), "d-1", o.new("d-1", text), metav1.ApplyOptions{FieldManager: "chain"})
		if err != nil || textOf(got) != text {
			t.Fatalf("%v, %v", got, err)
		}
	}
	if all := got.GetManagedFields(); len(all) != 1 || all[0].Manager != "chain" || all[0].Operation != "Apply" {
		t.Errorf("managed fields: %+v", all)
	}
	other, err := json.Marshal(o.new("d-1", "another's"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = o.Patch(t.Context(), "d-1", types.ApplyPatchType, other, metav1.PatchOptions{FieldManager: "other"})
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "chain"`) {
		t.Errorf("another manager: %v", err)
	}
}

// page lists five objects two at a time.
func (o objects) page(t *testing.T) {
	t.Helper()
	for i := 2; i < 5; i++ {
		if _, err := o.Create(t.Context(), o.new(fmt.Sprintf("d-%d", i), "more"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	var pages [][]string
	options := metav1.ListOptions{Limit: 2}
	for {
		list, err := o.List(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		var page []string
		for i := range list.Items {
			page = append(page, list.Items[i].GetName())
		}
		pages = append(pages, page)
		if options.Continue = list.GetContinue(); options.Continue == "" {
			break
		}
	}
	if got := fmt.Sprint(pages); got != "[[d-0 d-1] [d-2 d-3] [d-4]]" {
		t.Errorf("pages: %s", got)
	}
}

func (o objects) deleteAll(t *testing.T) {
	t.Helper()
	if err := o.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if list, err := o.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// initial checks that a watch may begin with what is there, as informers ask for it.
func (o objects) initial(t *testing.T) {
	t.Helper()
	if _, err := o.Create(t.Context(), o.new("there", "first"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	events, err := o.Watch(t.Context(), metav1.ListOptions{
		SendInitialEvents: new(true), AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if got := take(t, events, 2); !slices.Equal(got, []string{"ADDED there first", "BOOKMARK  "}) {
		t.Errorf("%q", got)
	}
	if err := o.Delete(t.Context(), "there", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := take(t, events, 1); !slices.Equal(got, []string{"DELETED there first"}) {
		t.Errorf("%q", got)
	}
}

// take waits for n events.
func take(t *testing.T, events watch.Interface, n int) (seen []string) {
	t.Helper()
	late := time.After(eventPatience)
	for len(seen) < n {
		select {
		case event, ok := <-events.ResultChan():
			u, is := event.Object.(*unstructured.Unstructured)
			if !ok || !is {
				t.Fatalf("after %q: %+v", seen, event)
			}
			seen = append(seen, fmt.Sprintf("%s %s %s", event.Type, u.GetName(), textOf(u)))
		case <-late:
			t.Fatalf("no event after %q", seen)
		}
	}
	return seen
}
