package registry_test

import (
	"fmt"
	"testing"

	"apigen.dev/runtime/registry"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A list names what it can't read up to a number, and says that there may be more.
func TestListOfMuchThatIsUnreadable(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		for i := range 120 {
			if _, err := b.backend.Put(b.ctx(), fmt.Sprintf("/registry/shop.example.com/widgets/ns/w%03d", i), []byte("junk"), 0, 0); err != nil {
				t.Fatal(err)
			}
		}
		for _, opts := range []registry.ListOptions{{}, {Limit: 7}, {Selection: selection(t, "a=b", "")}} {
			_, err := b.List(b.ctx(), "ns", opts, v1)
			causes := wantStatus(t, err, 500, metav1.StatusReasonStoreReadError, "(and 99 more)").Details.Causes
			if len(causes) != 101 || causes[99].Field != "/registry/shop.example.com/widgets/ns/w099" || causes[100].Type != metav1.CauseTypeTooMany {
				t.Errorf("%d causes: %+v", len(causes), causes[len(causes)-2:])
			}
		}
	})
}

// A page doesn't fail of what is behind it; the one that covers it does.
func TestPageBeforeWhatIsUnreadable(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		for _, name := range []string{"a", "b", "d"} {
			b.create(`{"metadata":{"name":"` + name + `"}}`)
		}
		if _, err := b.backend.Put(b.ctx(), "/registry/shop.example.com/widgets/ns/c", []byte("junk"), 0, 0); err != nil {
			t.Fatal(err)
		}
		for _, sel := range []registry.Selection{{}, selection(t, "a!=b", "")} {
			page, err := b.List(b.ctx(), "ns", registry.ListOptions{Limit: 2, Selection: sel}, v1)
			if err != nil || page.Len != 2 || page.Continue == "" {
				t.Fatalf("%+v %v", page, err)
			}
			_, err = b.List(b.ctx(), "ns", registry.ListOptions{Limit: 2, Selection: sel, Continue: page.Continue}, v1)
			wantStatus(t, err, 500, metav1.StatusReasonStoreReadError, "/ns/c")
		}
	})
}
