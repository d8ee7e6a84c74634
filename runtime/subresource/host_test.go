package subresource_test

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/subresource"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// fakeWriter is a Host's Writer that keeps one gadget and stores nothing.
type fakeWriter struct {
	subresource.Writer[*shop.Gadget]
	gadget *shop.Gadget
	acted  int
}

func (w *fakeWriter) Act(
	_ context.Context, _ subresource.Target, _ verb.WriteOptions, do func(*shop.Gadget) (verb.Rendition, error),
) (verb.Result, error) {
	w.acted++
	answer, err := do(w.gadget)
	return verb.Result{Object: answer, Created: true, Warnings: []string{"from the writer"}}, err
}

func (*fakeWriter) ServedVersion(name string) (schema.GroupVersion, error) {
	return schema.GroupVersion{Group: "shop.example.com", Version: name}, nil
}

// fakeHost is a host of gadgets in namespaces, with one object: ns/a.
func fakeHost() (subresource.Host[*shop.Gadget], *fakeWriter) {
	w := &fakeWriter{gadget: &shop.Gadget{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}}
	info := &verb.Info{Group: "shop.example.com", Scope: api.Namespaced,
		Subresources: []verb.Subresource{{Name: "status", Verbs: []string{"get", "patch", "update"}}}}
	info.Names.Plural = "gadgets"
	return subresource.Host[*shop.Gadget]{
		Info: info, Writer: w,
		Object: func(_ context.Context, namespace, name, _ string) (*shop.Gadget, error) {
			if namespace != "ns" || name != "a" {
				return nil, apierrors.NewNotFound(info.GroupResource(), name)
			}
			return w.gadget, nil
		},
	}, w
}

// charge is the kind that the action charge takes.
func charge() codec.Kind[*shop.Gadget] {
	empty := func() *shop.Gadget { return new(shop.Gadget) }
	conversion := codec.Conversion[*shop.Gadget, *shop.Gadget]{New: empty}
	return codec.Kind[*shop.Gadget]{
		Group: "shop.example.com", Kind: "Charge", New: empty,
		Versions: []codec.Version[*shop.Gadget]{codec.VersionOf(api.VersionInfo{Name: "v1"}, conversion)},
	}
}

func openOne(
	t *testing.T, h subresource.Host[*shop.Gadget], e subresource.Extension[*shop.Gadget],
) *verb.ExtensionHandle {
	t.Helper()
	opened, err := subresource.Open([]subresource.Extension[*shop.Gadget]{e}, h)
	if err != nil {
		t.Fatal(err)
	}
	return opened[e.Name()]
}

func TestActionChecksItsPayload(t *testing.T) {
	h, w := fakeHost()
	action := openOne(t, h, subresource.ActionOf(subresource.Action[*shop.Gadget, *shop.Gadget]{
		Name: "charge", Body: charge(),
		Do: func(_ context.Context, obj, in *shop.Gadget) error {
			if in.Name != "a" || in.Namespace != "ns" {
				t.Errorf("Do gets %s/%s", in.Namespace, in.Name)
			}
			obj.Spec.Power += in.Spec.Power
			return nil
		},
	}))
	for name, c := range map[string]struct {
		body, want string
		acted      int
	}{
		"the names of the URL":   {`{"metadata":{"namespace":"ns","name":"a"},"spec":{"power":2}}`, "", 1},
		"names that are missing": {`{"spec":{"power":2}}`, "", 1},
		"another name":           {`{"metadata":{"name":"b"}}`, "does not match the name on the URL (a)", 0},
		"another namespace":      {`{"metadata":{"namespace":"other"}}`, "the namespace of the provided object", 0},
		"another kind":           {`{"kind":"Gadget"}`, "the kind in the data does not match the expected kind", 0},
		"no object":              {`[]`, "cannot", 0},
	} {
		w.acted, w.gadget.Spec.Power = 0, 1
		body := verb.Body{Version: "v1", Data: []byte(c.body)}
		r, err := action.Create(t.Context(), "ns", "a", body, verb.WriteOptions{Form: verb.Form{Version: "v1"}})
		switch {
		case w.acted != c.acted:
			t.Errorf("%s: the object was written %d times, want %d", name, w.acted, c.acted)
		case c.want != "":
			if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			}
		case err != nil || w.gadget.Spec.Power != 3 || !strings.Contains(string(r.Object.Payload), `"Success"`):
			t.Errorf("%s: got %s, %v", name, r.Object.Payload, err)
		}
	}
}

func TestActionKeepsTheWarningsOfItsPayload(t *testing.T) {
	h, _ := fakeHost()
	action := openOne(t, h, subresource.ActionOf(subresource.Action[*shop.Gadget, *shop.Gadget]{
		Name: "charge", Body: charge(), Do: func(context.Context, *shop.Gadget, *shop.Gadget) error { return nil },
	}))
	body := verb.Body{Version: "v1", Data: []byte(`{"spex":{}}`), Validation: metav1.FieldValidationWarn}
	r, err := action.Create(t.Context(), "ns", "a", body, verb.WriteOptions{Form: verb.Form{Version: "v1"}})
	if got := strings.Join(r.Warnings, "; "); err != nil || got != `unknown field "spex"; from the writer` {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestStreamReadsItsOptionsFirst(t *testing.T) {
	h, _ := fakeHost()
	type options struct{ lines int64 }
	output := io.NopCloser(strings.NewReader("log"))
	stream := openOne(t, h, subresource.StreamOf(subresource.Stream[*shop.Gadget, *options]{
		Name: "log",
		Options: subresource.Options[*options]{
			New: func() *options { return new(options) },
			Decode: func(query url.Values, into *options) error {
				return subresource.QueryValue(query, "lines", subresource.QueryInt[int64], &into.lines)
			},
		},
		Open: func(context.Context, *shop.Gadget, *options) (io.ReadCloser, error) { return output, nil },
	}))
	out, err := stream.Stream(t.Context(), "ns", "a", url.Values{"lines": {"3"}})
	if err != nil || out.ContentType != "text/plain" {
		t.Errorf("got %+v, %v", out, err)
	}
	if _, err := stream.Stream(t.Context(), "ns", "b", url.Values{"lines": {"x"}}); !apierrors.IsBadRequest(err) {
		t.Errorf("a wrong option of an absent object: got %v", err)
	}
	if _, err := stream.Stream(t.Context(), "ns", "b", nil); !apierrors.IsNotFound(err) {
		t.Errorf("an absent object: got %v", err)
	}
	output = nil
	if _, err := stream.Stream(t.Context(), "ns", "a", nil); !apierrors.IsInternalError(err) {
		t.Errorf("no output: got %v", err)
	}
}

func TestOpenRefusesExtensionsThatCannotWork(t *testing.T) {
	type extension = subresource.Extension[*shop.Gadget]
	do := func(context.Context, *shop.Gadget, *shop.Gadget) error { return errors.New("not called") }
	action := func(name string) extension {
		return subresource.ActionOf(subresource.Action[*shop.Gadget, *shop.Gadget]{Name: name, Body: charge(), Do: do})
	}
	for want, c := range map[string]struct {
		extensions []extension
		readOnly   bool
	}{
		"was not made by one of":                 {extensions: []extension{{}}},
		`subresource "charge" is declared twice`: {extensions: []extension{action("charge"), action("charge")}},
		`subresource "status" is declared twice`: {extensions: []extension{action("status")}},
		"nothing is stored of it":                {extensions: []extension{action("charge")}, readOnly: true},
		"a Scale needs Replicas": {
			extensions: []extension{subresource.ScaleOf(subresource.Scale[*shop.Gadget]{})},
		},
		"a Stream needs Open": {
			extensions: []extension{subresource.StreamOf(subresource.Stream[*shop.Gadget, *int]{Name: "log"})},
		},
		"Do is not set": {
			extensions: []extension{subresource.ActionOf(subresource.Action[*shop.Gadget,
				*shop.Gadget]{Name: "charge"})},
		},
	} {
		h, _ := fakeHost()
		if c.readOnly {
			h.Writer = nil
		}
		if _, err := subresource.Open(c.extensions, h); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
