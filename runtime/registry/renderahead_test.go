package registry_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	"apigen.dev/runtime/subresource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// otherwise is the widget whose conversion to v1beta1 is counted.
func otherwise(counted *atomic.Int64) registry.Resource {
	d := shop.Definition()
	d.Versions[1] = codec.VersionOf(api.VersionInfo{Name: "v1beta1"}, codec.Conversion[*shop.Widget,
		*shop.WidgetV1beta1]{
		New: func() *shop.WidgetV1beta1 { return &shop.WidgetV1beta1{} },
		ToHub: func(v *shop.WidgetV1beta1, w *shop.Widget) error {
			w.ObjectMeta, w.Color, w.Size = v.ObjectMeta, v.Spec.Colour, v.Spec.Size
			return nil
		},
		FromHub: func(w *shop.Widget, v *shop.WidgetV1beta1) error {
			counted.Add(1)
			v.ObjectMeta, v.Spec.Colour, v.Spec.Size = w.ObjectMeta, w.Color, w.Size
			return nil
		},
	})
	return registry.New(d)
}

// The answer to a write is what a read returns after it, in every form, and is made once.
func TestAnswersOfWritesInOtherForms(t *testing.T) {
	for _, cached := range []bool{true, false} {
		var rendered atomic.Int64
		b := open(t, otherwise(&rendered), cached)
		for i, form := range []verb.Form{
			v1, v1beta1, {Version: "v1beta1", Shape: verb.Metadata},
			{Version: "v1", Shape: verb.Metadata | verb.V1beta1},
			{Version: "v1beta1", Encoding: verb.CBOR}, {Version: "v1beta1", Encoding: verb.CBOR, Shape: verb.Metadata},
			{Version: "v1", Shape: verb.RowWithMetadata}, {Version: "v1beta1", Shape: verb.RowWithObject},
			{Version: "v1beta1", Shape: verb.Row},
			{Version: "v1beta1", Encoding: verb.CBOR, Shape: verb.RowWithObject},
			{Version: "v1beta1", Encoding: verb.CBOR, Shape: verb.RowWithMetadata},
		} {
			name := fmt.Sprintf("w%d", i)
			opts := verb.WriteOptions{Form: form}
			// Beside a cache somebody else may render, too.
			once := !cached && form.Version == "v1beta1"
			check := func(what string, write func() (verb.Rendition, error)) {
				t.Helper()
				before := rendered.Load()
				answer, err := write()
				if err != nil {
					t.Fatalf("%v: %s: %v", form, what, err)
				}
				if n := rendered.Load() - before; once && n > 1 {
					t.Errorf("%v: %s rendered its answer %d times", form, what, n)
				}
				read, err := b.Get(b.ctx(), "ns", name, "", form)
				if err != nil || whole(read) != whole(answer) || read.VersionAt != answer.VersionAt ||
					read.VersionLen != answer.VersionLen {
					t.Errorf("%v: %s answered\n%q, a read\n%q (%v)", form, what, whole(answer), whole(read), err)
				}
			}
			check("create", func() (verb.Rendition, error) {
				r, err := b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"`+name+`",`+
					`"finalizers":["a.example.com/b"]},"spec":{"color":"red"}}`), opts)
				return r.Object, err
			})
			check("update", func() (verb.Rendition, error) {
				r, err := b.Update(b.ctx(), "ns", name, "", body(`{"metadata":{"name":"`+name+`",`+
					`"finalizers":["a.example.com/b"]},"spec":{"color":"blue"}}`), opts)
				return r.Object, err
			})
			check("patch", func() (verb.Rendition, error) {
				r, err := b.Patch(b.ctx(), "ns", name, "", verb.MergePatch, body(`{"spec":{"size":10}}`), opts)
				return r.Object, err
			})
			check("status", func() (verb.Rendition, error) {
				r, err := b.Patch(b.ctx(), "ns", name, "status", verb.MergePatch, body(`{"status":{"phase":"Done"}}`),
					opts)
				return r.Object, err
			})
			check("delete", func() (verb.Rendition, error) {
				r, err := b.Delete(b.ctx(), "ns", name, verb.DeleteOptions{WriteOptions: opts})
				return r.Object, err
			})
		}
	}
}

// Protobuf is made once, too, and tells the revision that the write got, of however many digits.
func TestAnswersOfWritesInProtobuf(t *testing.T) {
	b := open(t, notes(true), false)
	for _, shape := range []verb.Shape{verb.Whole, verb.Metadata} {
		opts := verb.WriteOptions{Form: verb.Form{Version: "v1", Encoding: verb.Protobuf, Shape: shape}}
		name := fmt.Sprint("n", int(shape))
		for i := range 12 {
			before := written.Load()
			var r verb.Result
			var err error
			if i == 0 {
				r, err = b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"`+name+`"},"text":"0"}`), opts)
			} else {
				r, err = b.Patch(b.ctx(), "ns", name, "", verb.MergePatch, body(fmt.Sprintf(`{"text":"%d"}`, i)), opts)
			}
			if n := written.Load() - before; err != nil || n > 1 {
				t.Fatalf("%v: made %d times, %v", shape, n, err)
			}
			read, err := b.Get(b.ctx(), "ns", name, "", opts.Form)
			if err != nil || whole(read) != whole(r.Object) {
				t.Fatalf("%v: answered\n%q, a read\n%q (%v)", shape, whole(r.Object), whole(read), err)
			}
		}
	}
}

// A column that tells the resourceVersion tells that of the answer.
func TestColumnOfTheRevision(t *testing.T) {
	d := shop.Definition()
	d.Versions = d.Versions[:1]
	d.Versions[0] = codec.VersionOf(api.VersionInfo{Name: "v1",
		Columns: []api.Column{{Name: "Version", Type: "string"}}},
		codec.Conversion[*shop.Widget, *shop.WidgetV1]{
			New: func() *shop.WidgetV1 { return &shop.WidgetV1{} },
			ToHub: func(v *shop.WidgetV1, w *shop.Widget) error {
				w.ObjectMeta, w.Size = v.ObjectMeta, v.Spec.Size
				return nil
			},
			FromHub: func(w *shop.Widget, v *shop.WidgetV1) error {
				v.ObjectMeta, v.Spec.Size = w.ObjectMeta, w.Size
				return nil
			},
			Columns: []func(*shop.WidgetV1) api.Cell{func(w *shop.WidgetV1) api.Cell {
				return api.Text("v" +
					w.ResourceVersion)
			}},
		})
	b := openOver(t, memory.New(), registry.New(d), registry.Config{DisableCache: true})
	for _, form := range []verb.Form{{Version: "v1", Shape: verb.Row}, {Version: "v1", Shape: verb.RowWithObject,
		Encoding: verb.CBOR}} {
		name, opts := fmt.Sprint("w", form.Shape), verb.WriteOptions{Form: form}
		r, err := b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"`+name+`"}}`), opts)
		for i := range 3 {
			if err != nil {
				t.Fatal(err)
			}
			read, err := b.Get(b.ctx(), "ns", name, "", form)
			if err != nil || whole(read) != whole(r.Object) {
				t.Errorf("%v: answered\n%q, a read\n%q (%v)", form, whole(r.Object), whole(read), err)
			}
			r, err = b.Patch(b.ctx(), "ns", name, "", verb.MergePatch, body(fmt.Sprintf(`{"spec":{"size":%d}}`, i+1)),
				opts)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What would be written by a scale, and could not be read again to be answered with, is not written.
func TestScaleThatCouldNotBeAnswered(t *testing.T) {
	d := shop.Definition()
	d.Versions = d.Versions[:1]
	d.Versions[0] = codec.VersionOf(api.VersionInfo{Name: "v1"}, codec.Conversion[*shop.Widget, *shop.WidgetV1]{
		New: func() *shop.WidgetV1 { return &shop.WidgetV1{} },
		ToHub: func(v *shop.WidgetV1, w *shop.Widget) error {
			if v.Spec.Size == 13 {
				return errors.New("no thirteen")
			}
			w.ObjectMeta, w.Size = v.ObjectMeta, v.Spec.Size
			return nil
		},
		FromHub: func(w *shop.Widget, v *shop.WidgetV1) error {
			v.ObjectMeta, v.Spec.Size = w.ObjectMeta, w.Size
			return nil
		},
	})
	d.Extensions = []subresource.Extension[*shop.Widget]{subresource.ScaleOf(subresource.Scale[*shop.Widget]{
		Replicas:    func(w *shop.Widget) int32 { return int32(w.Size) },
		SetReplicas: func(w *shop.Widget, n int32) { w.Size = int64(n) },
	})}
	b := openOver(t, memory.New(), registry.New(d), registry.Config{})
	created := b.create(`{"metadata":{"name":"a"},"spec":{"size":2}}`)
	_, err := b.Extension("scale").Update(b.ctx(), "ns", "a", body(`{"metadata":{"name":"a"},"spec":{"replicas":13}}`),
		verb.WriteOptions{Form: v1})
	wantStatus(t, err, 500, metav1.StatusReasonInternalError, "no thirteen")
	if w := b.get("a"); w.ResourceVersion != created.ResourceVersion || w.Spec.Size != 2 {
		t.Errorf("it was written: %+v", w)
	}
}
