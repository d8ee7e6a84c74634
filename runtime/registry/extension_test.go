package registry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/subresource"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// extended is the widget with a scale, an action whose body has a version for each of the widget's, and a request.
func extended() registry.Definition[*shop.Widget] {
	d := shop.Definition()
	payload := codec.Kind[*shop.Widget]{Group: d.Group, Kind: "Widget", New: d.New, Versions: d.Versions}
	d.Extensions = []subresource.Extension[*shop.Widget]{
		subresource.ScaleOf(subresource.Scale[*shop.Widget]{
			Replicas:    func(w *shop.Widget) int32 { return int32(w.Size) },
			SetReplicas: func(w *shop.Widget, n int32) { w.Size = int64(n) },
			Selector:    func(w *shop.Widget) string { return "color=" + w.Color },
			Paths:       map[string][]string{"v1": {"spec", "size"}, "v1beta1": {"spec", "size"}},
		}),
		subresource.ActionOf(subresource.Action[*shop.Widget, *shop.Widget]{
			Name: "paint", Body: payload,
			Do: func(_ context.Context, w, in *shop.Widget) error {
				if in.Color == "none" {
					return errors.New("out of paint")
				}
				w.Color, w.Clicks, in.Color = in.Color, w.Clicks+1, "used"
				return nil
			},
		}),
		subresource.RemovalOf(subresource.Removal[*shop.Widget, *shop.Widget]{Name: "discard", Body: payload,
			Do: discard}),
		subresource.RequestOf(subresource.Request[*shop.Widget, *shop.Widget, *shop.Widget]{
			Name: "look", Body: payload, Answer: payload,
			Do: func(_ context.Context, w, in *shop.Widget) (*shop.Widget, error) {
				in.Color = w.Color
				return in, nil
			},
		}),
		subresource.RequestOf(subresource.Request[*shop.Widget, *metav1.PartialObjectMetadata,
			*metav1.PartialObjectMetadata]{
			Name: "label", Body: partial(), Answer: partial(),
			Do: func(_ context.Context, w *shop.Widget,
				in *metav1.PartialObjectMetadata) (*metav1.PartialObjectMetadata, error) {
				w.Labels, in.Annotations = in.Labels, map[string]string{"color": w.Color}
				return in, nil
			},
		}),
		subresource.ProjectionOf(subresource.Projection[*shop.Widget, *string, *shop.Widget]{
			Name: "shade", Answer: payload,
			Options: subresource.Options[*string]{New: func() *string { return new(string) }, Decode: func(q url.Values,
				prefix *string) error {
				return subresource.QueryValue(q, "prefix", subresource.QueryText, prefix)
			}},
			Show: func(_ context.Context, w *shop.Widget, prefix *string) (*shop.Widget, error) {
				if *prefix == "nothing" {
					return nil, nil
				}
				out := &shop.Widget{Color: *prefix + w.Color}
				out.Name = w.Name
				return out, nil
			},
		}),
		subresource.StreamOf(subresource.Stream[*shop.Widget, *bool]{
			Name: "log", Options: subresource.Options[*bool]{New: func() *bool { return new(bool) },
				Decode: func(q url.Values, loud *bool) error {
					return subresource.QueryValue(q, "loud", subresource.QueryBool, loud)
				}},
			Open: func(_ context.Context, w *shop.Widget, loud *bool) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(fmt.Sprint(w.Color, *loud))), nil
			},
		}),
	}
	return d
}

// partial is a kind that brings its own protobuf.
func partial() codec.Kind[*metav1.PartialObjectMetadata] {
	empty := func() *metav1.PartialObjectMetadata { return new(metav1.PartialObjectMetadata) }
	return codec.Kind[*metav1.PartialObjectMetadata]{
		Group: "label.example.com", Kind: "Label", New: empty,
		Versions: []codec.Version[*metav1.PartialObjectMetadata]{codec.VersionOf(api.VersionInfo{Name: "v1"},
			codec.Conversion[*metav1.PartialObjectMetadata, *metav1.PartialObjectMetadata]{
				New: empty, Proto: codec.ProtoOf[*metav1.PartialObjectMetadata](),
			})},
	}
}

// A request is read and answered as protobuf where its kinds have it, and nobody is told so where they have not.
func TestRequestInProtobuf(t *testing.T) {
	both2(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
		message, err := (&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a",
			Labels: map[string]string{"x": "y"}}}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		body := verb.Body{Version: "v1", Encoding: verb.Protobuf,
			Data: wire.Enveloped(wire.EnvelopeHead("Label", "label.example.com/v1"), message)}
		r, err := b.Extension("label").Create(b.ctx(), "ns", "a", body,
			verb.WriteOptions{Form: verb.Form{Version: "v1", Encoding: verb.Protobuf}})
		if err != nil {
			t.Fatal(err)
		}
		answer := new(metav1.PartialObjectMetadata)
		if err := answer.Unmarshal(r.Object.Payload); err != nil || answer.Annotations["color"] != "red" ||
			r.Object.Head != wire.EnvelopeHead("Label", "label.example.com/v1") {
			t.Errorf("%+v, %v, %q", answer, err, r.Object.Head)
		}
		if w := b.get("a"); w.Labels["x"] != "y" {
			t.Errorf("%+v", w)
		}
		for name, want := range map[string][2]bool{"label": {true, true}, "paint": {false, true},
			"look": {false, false}, "shade": {false, false}, "scale": {true, true}} {
			if e := b.Info().Extension(name); e.TakesProtobuf != want[0] || e.GivesProtobuf != want[1] {
				t.Errorf("%s: takes protobuf is %t, gives it %t", name, e.TakesProtobuf, e.GivesProtobuf)
			}
		}
	})
}

func TestScaleThroughVersions(t *testing.T) {
	both2(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"},"spec":{"color":"red","size":3}}`)
		scale := b.Extension("scale")
		r, err := scale.Get(b.ctx(), "ns", "a", "", v1beta1)
		if want := `"spec":{"replicas":3},"status":{"replicas":0,"selector":"color=red"}}`; err != nil ||
			!strings.HasSuffix(whole(r), want) {
			t.Fatalf("%s, %v", whole(r), err)
		}
		write := func(version, data string) (verb.Result, error) {
			return scale.Update(b.ctx(), "ns", "a", verb.Body{Version: version, Data: []byte(data),
				Validation: metav1.FieldValidationStrict},
				verb.WriteOptions{Form: verb.Form{Version: version}, FieldManager: "scaler"})
		}
		if _, err := write("v1beta1", `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a"},`+
			`"spec":{"replicas":7}}`); err != nil {
			t.Fatal(err)
		}
		if w := b.get("a"); w.Spec.Size != 7 || w.Spec.Color != "red" || w.Generation != 2 {
			t.Errorf("scaled: %+v of generation %d", w.Spec, w.Generation)
		}
		for data, is := range map[string]func(error) bool{
			`{"metadata":{"name":"b"},"spec":{"replicas":8}}`:                               apierrors.IsBadRequest,
			`{"metadata":{"name":"a"},"spec":{"replicas":-8}}`:                              apierrors.IsInvalid,
			`{"metadata":{"name":"a"},"spec":{"replicas":8,"x":1}}`:                         apierrors.IsBadRequest,
			`{"metadata":{"name":"a","uid":"other"},"spec":{"replicas":8}}`:                 apierrors.IsConflict,
			`{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"replicas":8}}`:         apierrors.IsConflict,
			`{"kind":"Widget","metadata":{"name":"a"},"spec":{"replicas":8}}`:               apierrors.IsBadRequest,
			`{"apiVersion":"autoscaling/v2","metadata":{"name":"a"},"spec":{"replicas":8}}`: apierrors.IsBadRequest,
		} {
			if _, err := write("v1", data); !is(err) {
				t.Errorf("%s: %v", data, err)
			}
		}
		for kind, patch := range map[verb.PatchType]string{
			verb.MergePatch: `{"apiVersion":null,"spec":{"replicas":8}}`,
			verb.JSONPatch:  `[{"op":"remove","path":"/apiVersion"}]`,
		} {
			if _, err := scale.Patch(b.ctx(), "ns", "a", kind, body(patch),
				verb.WriteOptions{Form: v1}); !apierrors.IsBadRequest(err) {
				t.Errorf("%s: %v", patch, err)
			}
		}
		form := verb.Form{Version: "v1", Shape: verb.Row}
		if r, err = scale.Get(b.ctx(), "ns", "a", "", form); err != nil || !strings.HasPrefix(string(r.Payload),
			`"cells":["a",7,0,`) {
			t.Errorf("%s, %v", r.Payload, err)
		}
		if _, err := scale.Get(b.ctx(), "ns", "missing", "", v1); !apierrors.IsNotFound(err) {
			t.Errorf("the scale of nothing: %v", err)
		}
	})
}

// both2 is both, for extended.
func both2(t *testing.T, test func(t *testing.T, b *bench)) {
	t.Helper()
	for name, cached := range map[string]bool{"cache": true, "bare": false} {
		t.Run(name, func(t *testing.T) { test(t, open(t, registry.New(extended()), cached)) })
	}
}

// Actions of a moment all happen, each on what the one before made.
func TestActionsAreNotLost(t *testing.T) {
	both2(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
		var all sync.WaitGroup
		const n = 20
		for i := range n {
			all.Go(func() {
				data := verb.Body{Version: "v1beta1", Data: fmt.Appendf(nil, `{"spec":{"colour":"c%d"}}`, i)}
				r, err := b.Extension("paint").Create(b.ctx(), "ns", "a", data, verb.WriteOptions{Form: v1beta1})
				if err != nil || !r.Created || !strings.Contains(whole(r.Object), `"status":"Success"`) {
					t.Errorf("%v %s", err, whole(r.Object))
				}
			})
		}
		all.Wait()
		if w := b.get("a"); w.Status.Clicks != n || !strings.HasPrefix(w.Spec.Color, "c") {
			t.Errorf("%d of %d, %s", w.Status.Clicks, n, w.Spec.Color)
		}
	})
}

func TestAction(t *testing.T) {
	both2(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"},"spec":{"color":"red","size":2}}`)
		before := b.get("a").ResourceVersion
		post := func(extension, name, data string, opts verb.WriteOptions) (verb.Result, error) {
			opts.Form = v1
			return b.Extension(extension).Create(b.ctx(), "ns", name, body(data), opts)
		}
		for data, is := range map[string]func(error) bool{
			`{"spec":{"color":"none"}}`:                                 apierrors.IsInternalError,
			`{"metadata":{"name":"b"}}`:                                 apierrors.IsBadRequest,
			`{"metadata":{"namespace":"other"}}`:                        apierrors.IsBadRequest,
			`{"spec":{"x":1}}`:                                          apierrors.IsBadRequest,
			`{"kind":"Other","apiVersion":"shop.example.com/v1"}`:       apierrors.IsBadRequest,
			`{"kind":"Widget","apiVersion":"shop.example.com/v1beta1"}`: apierrors.IsBadRequest,
		} {
			if _, err := post("paint", "a", data, verb.WriteOptions{}); !is(err) {
				t.Errorf("%s: %v", data, err)
			}
		}
		if _, err := post("paint", "missing", `{}`, verb.WriteOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("painting nothing: %v", err)
		}
		if _, err := post("paint", "a", `{"spec":{"color":"blue"}}`, verb.WriteOptions{DryRun: true}); err != nil {
			t.Error(err)
		}
		r, err := post("look", "a", `{}`, verb.WriteOptions{})
		if err != nil || b.parse(r.Object).Spec.Color != "red" {
			t.Errorf("%v %s", err, whole(r.Object))
		}
		if w := b.get("a"); w.ResourceVersion != before {
			t.Errorf("what changes nothing was written: %+v", w)
		}
		if _, err := post("paint", "a", `{"spec":{"color":"blue"}}`,
			verb.WriteOptions{FieldManager: "painter"}); err != nil {
			t.Fatal(err)
		}
		w := b.get("a")
		painted := slices.ContainsFunc(w.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
			return e.Manager == "painter" && e.Subresource == "paint" && strings.Contains(e.FieldsV1.String(),
				"f:color")
		})
		if w.Spec.Color != "blue" || w.Generation != 2 || !painted {
			t.Errorf("%+v of generation %d, %+v", w.Spec, w.Generation, w.ManagedFields)
		}
	})
}

func TestProjection(t *testing.T) {
	b := open(t, registry.New(extended()), true)
	b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
	show := b.Extension("shade").View
	r, err := show(b.ctx(), "ns", "a", url.Values{"prefix": {"dark"}}, v1beta1)
	want := `"apiVersion":"shop.example.com/v1beta1","metadata":{"name":"a"},"spec":{"colour":"darkred"}`
	if err != nil || !strings.Contains(whole(r), want) {
		t.Errorf("%s, %v", whole(r), err)
	}
	if r, err = show(b.ctx(), "ns", "a", nil, verb.Form{Version: "v1", Shape: verb.Row}); err != nil ||
		!strings.HasPrefix(string(r.Payload), `"cells":["a","red",`) {
		t.Errorf("%s, %v", r.Payload, err)
	}
	for name, query := range map[string]url.Values{"b": nil, "a": {"prefix": {"nothing"}}} {
		if _, err := show(b.ctx(), "ns", name, query, v1); !apierrors.IsNotFound(err) {
			t.Errorf("%s %v: %v", name, query, err)
		}
	}
}

func TestStream(t *testing.T) {
	b := open(t, registry.New(extended()), true)
	b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
	out, err := b.Extension("log").Stream(b.ctx(), "ns", "a", url.Values{"loud": {""}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(out)
	if err = errors.Join(err, out.Close()); err != nil || string(data) != "redtrue" || out.ContentType != "text/plain" {
		t.Errorf("%q of %s, %v", data, out.ContentType, err)
	}
	if _, err := b.Extension("log").Stream(b.ctx(), "ns", "b", nil); !apierrors.IsNotFound(err) {
		t.Errorf("the log of nothing: %v", err)
	}
}

func TestBadExtensions(t *testing.T) {
	scale := func(w *shop.Widget) int32 { return 0 }
	set := func(*shop.Widget, int32) {}
	for want, extensions := range map[string][]subresource.Extension[*shop.Widget]{
		"was not made by": {{}},
		`"scale" is declared twice`: {subresource.ScaleOf(subresource.Scale[*shop.Widget]{Replicas: scale,
			SetReplicas: set}), subresource.ScaleOf(subresource.Scale[*shop.Widget]{Replicas: scale,
			SetReplicas: set})},
		"needs Replicas and SetReplicas": {subresource.ScaleOf(subresource.Scale[*shop.Widget]{})},
		`version "v7" is not served`: {subresource.ScaleOf(subresource.Scale[*shop.Widget]{Replicas: scale,
			SetReplicas: set, Paths: map[string][]string{"v7": {"x"}}})},
		"Do is not set": {subresource.ActionOf(subresource.Action[*shop.Widget, *shop.Widget]{Name: "x"})},
		`"status" is declared twice`: {subresource.ConnectionOf(subresource.Connection[*shop.Widget, *bool]{
			Name: "status", Options: subresource.Options[*bool]{New: func() *bool { return nil }},
			Connect: func(context.Context, *shop.Widget, *bool) (http.Handler, error) { return nil, nil }})},
		"needs Connect and Options": {subresource.ConnectionOf(subresource.Connection[*shop.Widget, *bool]{Name: "x"})},
	} {
		d := shop.Definition()
		d.Extensions = extensions
		h, err := registry.New(d).Open(t.Context(), registry.Config{Backend: newMemory(t), Prefix: "/registry"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if h != nil {
			t.Error("a handle beside an error")
		}
	}
}

// TestNegativeReplicas: a number below zero at a path of the subresource scale is refused, as of a custom resource: in
// the object, and in its status where that is written.
func TestNegativeReplicas(t *testing.T) {
	d := shop.Definition()
	d.Extensions = []subresource.Extension[*shop.Widget]{subresource.ScaleOf(subresource.Scale[*shop.Widget]{
		Replicas:       func(w *shop.Widget) int32 { return int32(w.Size) },
		SetReplicas:    func(w *shop.Widget, n int32) { w.Size = int64(n) },
		StatusReplicas: func(w *shop.Widget) int32 { return int32(w.Clicks) },
		SpecPath:       ".spec.size", StatusPath: ".status.clicks",
	})}
	b := open(t, registry.New(d), true)
	write := func(subresource, members string) error {
		if subresource == "" {
			_, err := b.Create(b.ctx(), "ns", body(config("", members)), verb.WriteOptions{Form: v1})
			return err
		}
		_, err := b.Update(b.ctx(), "ns", "a", subresource, body(config("", members)), verb.WriteOptions{Form: v1})
		return err
	}
	for _, c := range []struct{ subresource, members, want string }{
		{"", `,"spec":{"size":-1}`, ".spec.size: Invalid value: -1: should be a non-negative integer"},
		{"", `,"spec":{"color":"red"}`, ""},
		{"status", `,"status":{"clicks":-2}`, ".status.clicks: Invalid value: -2: should be a non-negative integer"},
		{"status", `,"spec":{"size":-1},"status":{"clicks":2}`, ""},
	} {
		err := write(c.subresource, c.members)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s: %v, want %q", c.subresource, c.members, err, c.want)
		}
	}
}

func TestQuery(t *testing.T) {
	type color string
	query := url.Values{"n": {"3", "4"}, "s": {"x"}, "b": {""}, "no": {"False"}, "big": {"300"},
		"t": {"2026-01-02T03:04:05Z"}}
	var n int32
	var p *int64
	var all []int
	var s color
	b, no := false, true
	var at metav1.Time
	err := errors.Join(
		subresource.QueryValue(query, "n", subresource.QueryInt, &n), subresource.QueryPointer(query, "n",
			subresource.QueryInt, &p),
		subresource.QueryValues(query, "n", subresource.QueryInt, &all), subresource.QueryValue(query, "s",
			subresource.QueryText, &s),
		subresource.QueryValue(query, "b", subresource.QueryBool, &b), subresource.QueryValue(query, "no",
			subresource.QueryBool, &no),
		subresource.QueryValue(query, "t", subresource.QueryParsed[metav1.Time], &at))
	if err != nil || n != 3 || *p != 3 || len(all) != 2 || all[1] != 4 || s != "x" || !b || no || at.Year() != 2026 {
		t.Error(err, n, *p, all, s, b, no, at)
	}
	p = nil
	if err := subresource.QueryPointer(query, "none", subresource.QueryInt, &p); err != nil || p != nil {
		t.Error(err, p)
	}
	var small int8
	for _, name := range []string{"big", "s"} {
		if err := subresource.QueryValue(query, name, subresource.QueryInt, &small); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
