package registry_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A list names what it can't read up to a number, and says that there may be more.
func TestListOfMuchThatIsUnreadable(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		for i := range 120 {
			if _, err := b.backend.Put(b.ctx(), fmt.Sprintf("/registry/shop.example.com/widgets/ns/w%03d", i),
				[]byte("junk"), 0, 0); err != nil {
				t.Fatal(err)
			}
		}
		for _, opts := range []verb.ListOptions{{}, {Limit: 7}, {Selection: selection(t, "a=b", "")}} {
			_, err := b.List(b.ctx(), "ns", opts, v1)
			causes := wantStatus(t, err, 500, metav1.StatusReasonStoreReadError, "(and 99 more)").Details.Causes
			if len(causes) != 101 || causes[99].Field != "/registry/shop.example.com/widgets/ns/w099" ||
				causes[100].Type != metav1.CauseTypeTooMany {
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
		if _, err := b.backend.Put(b.ctx(), "/registry/shop.example.com/widgets/ns/c", []byte("junk"), 0,
			0); err != nil {
			t.Fatal(err)
		}
		for _, sel := range []api.Selection{{}, selection(t, "a!=b", "")} {
			page, err := b.List(b.ctx(), "ns", verb.ListOptions{Limit: 2, Selection: sel}, v1)
			if err != nil || page.Len != 2 || page.Continue == "" {
				t.Fatalf("%+v %v", page, err)
			}
			_, err = b.List(b.ctx(), "ns", verb.ListOptions{Limit: 2, Selection: sel, Continue: page.Continue}, v1)
			wantStatus(t, err, 500, metav1.StatusReasonStoreReadError, "/ns/c")
		}
	})
}

// initial is how a watch that begins with the state ends, and how many objects it sent before.
func (b *bench) initial(opts api.WatchOptions, form verb.Form) (sent int, err error) {
	b.Helper()
	w, err := b.Watch(b.ctx(), "ns", opts, form)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for {
		events, err := w.Next(b.ctx())
		for _, e := range events {
			if e.Type == api.Bookmark {
				return sent, nil
			}
			sent++
		}
		if err != nil {
			return sent, err
		}
	}
}

// A watch that begins with the state names what of it can't be read, as a list does, and sends what came before.
func TestWatchOfStateThatIsUnreadable(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		for i := range 600 {
			name := fmt.Sprintf("w%03d", i)
			if i < 300 || i%100 != 0 {
				b.create(`{"metadata":{"name":"` + name + `"}}`)
			} else if _, err := b.backend.Put(b.ctx(), "/registry/shop.example.com/widgets/ns/"+name, []byte("junk"), 0,
				0); err != nil {
				t.Fatal(err)
			}
		}
		begin := true
		for _, opts := range []api.WatchOptions{{}, {SendInitialEvents: &begin, AllowBookmarks: true},
			{Selection: selection(t, "a!=b", "")}} {
			sent, err := b.initial(opts, v1)
			causes := wantStatus(t, err, 500, metav1.StatusReasonStoreReadError, "widgets/ns/w300").Details.Causes
			if sent != 300 || len(causes) != 3 || causes[2].Field != "/registry/shop.example.com/widgets/ns/w500" {
				t.Errorf("%d objects, and then %+v", sent, causes)
			}
		}
	})
}

// What can be read and not be shown in the version that was asked for is named all the same, up to a number; other
// versions show it.
func TestListAndWatchOfWhatCantBeShown(t *testing.T) {
	d := shop.Definition()
	d.Versions[1] = codec.VersionOf(api.VersionInfo{Name: "v1beta1"}, codec.Conversion[*shop.Widget,
		*shop.WidgetV1beta1]{
		New:   func() *shop.WidgetV1beta1 { return &shop.WidgetV1beta1{} },
		ToHub: func(v *shop.WidgetV1beta1, w *shop.Widget) error { w.ObjectMeta = v.ObjectMeta; return nil },
		FromHub: func(w *shop.Widget, v *shop.WidgetV1beta1) error {
			if v.ObjectMeta = w.ObjectMeta; w.Color == "infrared" {
				return errors.New("no word for infrared")
			}
			return nil
		},
	})
	for _, cached := range []bool{true, false} {
		b := open(t, registry.New(d), cached)
		for i := range 300 {
			b.create(fmt.Sprintf(`{"metadata":{"name":"w%03d"},"spec":{"color":%q}}`, i,
				map[bool]string{true: "infrared", false: "red"}[i > 290]))
		}
		wanted := func(err error) {
			t.Helper()
			s := wantStatus(t, err, 500, metav1.StatusReasonInternalError,
				"ns/w291 can't be shown in version v1beta1: ")
			if c := s.Details.Causes; len(c) != 9 || c[8].Field != "/registry/shop.example.com/widgets/ns/w299" ||
				!strings.HasSuffix(s.Message, "no word for infrared (and 8 more)") {
				t.Errorf("%+v", s)
			}
		}
		for _, opts := range []verb.ListOptions{{}, {Limit: 295}, {Selection: selection(t, "a!=b", "")}} {
			_, err := b.List(b.ctx(), "ns", opts, v1beta1)
			wanted(err)
			page, err := b.List(b.ctx(), "ns", opts, v1)
			if err != nil {
				t.Fatal(err)
			}
			page.Close()
		}
		_, err := b.List(b.ctx(), "ns", verb.ListOptions{Selection: selection(t, "", "metadata.name=w295")}, v1beta1)
		wantStatus(t, err, 500, metav1.StatusReasonInternalError, "ns/w295 can't be shown")
		sent, err := b.initial(api.WatchOptions{}, v1beta1)
		if wanted(err); sent != 291 {
			t.Errorf("%d objects before that", sent)
		}
	}
}
