package registry_test

import (
	"context"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// painted are widgets whose color has a path of its own, in two versions that name it differently, with the labels, and
// whose status shares the annotations.
func painted(t *testing.T) *bench {
	d := shop.Definition()
	d.Subresources[0].Metadata = []string{"annotations"}
	d.Subresources = append(d.Subresources, registry.Subresource[*shop.Widget]{
		Name:     "paint",
		Fields:   map[string][]string{"v1": {"spec.color"}, "v1beta1": {"spec.colour"}},
		Metadata: []string{"finalizers", "labels"},
		Copy:     func(from, to *shop.Widget) { to.Color = from.Color },
		Match: func(obj, old *shop.Widget) (errs field.ErrorList) {
			if obj.Color == "none" {
				errs = append(errs, field.Forbidden(field.NewPath("spec", "color"), "paint is not removed"))
			}
			return errs
		},
		Prepare: func(_ context.Context, obj, old *shop.Widget) {
			if obj.Color == "pink" {
				obj.Color = old.Color
			}
		},
		Validate: func(_ context.Context, obj, old *shop.Widget) (errs field.ErrorList) {
			if old.Color != "" && obj.Color == "" {
				errs = append(errs, field.Required(field.NewPath("spec", "color"), "paint stays"))
			}
			return errs
		},
	})
	return openOver(t, memory.New(), registry.New(d), registry.Config{Schemas: documents()})
}

// everything is a write that changes all that there is.
const everything = `,"labels":{"l":"2"},"annotations":{"a":"2"},"finalizers":["x/two"],"ownerReferences":[{` +
	`"apiVersion":"v1","kind":"Node","name":"n","uid":"2"}],"generateName":"g-"`

func (b *bench) writePart(subresource, kind, manager, data string) *shop.WidgetV1 {
	b.Helper()
	opts := verb.WriteOptions{Form: v1, FieldManager: manager, Force: true}
	var r verb.Result
	var err error
	switch kind {
	case "PUT":
		r, err = b.Update(b.ctx(), "ns", "a", subresource, body(data), opts)
	case "apply":
		r, err = b.Patch(b.ctx(), "ns", "a", subresource, verb.ApplyPatch, body(data), opts)
	default:
		r, err = b.Patch(b.ctx(), "ns", "a", subresource, verb.MergePatch, body(data), opts)
	}
	if err != nil {
		b.Fatalf("%s of %s: %v", kind, subresource, err)
	}
	return b.parse(r.Object)
}

// TestPartsOfTheObject: a write of a part changes what the part declares, metadata included, and manages no more.
func TestPartsOfTheObject(t *testing.T) {
	for _, kind := range []string{"PUT", "PATCH", "apply"} {
		t.Run(kind, func(t *testing.T) {
			b := painted(t)
			b.create(config("", `,"spec":{"color":"red","size":1}`))
			w := b.writePart("paint", kind, "painter", config(everything,
				`,"spec":{"color":"blue","size":7,"notes":{"k":"v"}},"status":{"phase":"Up"}`))
			if w.Spec.Color != "blue" || w.Spec.Size != 1 || w.Spec.Notes != nil || w.Status.Phase != "" ||
				w.Labels["l"] != "2" || w.Annotations != nil || len(w.Finalizers) != 1 || w.OwnerReferences != nil ||
				w.GenerateName != "" || w.Generation != 2 {
				t.Errorf("%+v", w)
			}
			// An update manages the maps and lists, too, that it creates.
			owners := strings.ReplaceAll(ownersOf(w), `".":{},`, "")
			if !strings.Contains(owners, ` {"f:metadata":{"f:finalizers":{"v:\"x/two\"":{}},"f:labels":{"f:l":{}}},`+
				`"f:spec":{"f:color":{}}} paint`) {
				t.Error(owners)
			}
			w = b.writePart("status", kind, "agent", config(strings.Replace(everything, `"l":"2"`, `"l":"3"`, 1),
				`,"spec":{"color":"green"},"status":{"phase":"Up"}`))
			if w.Spec.Color != "blue" || w.Status.Phase != "Up" || w.Annotations["a"] != "2" || w.Labels["l"] != "2" ||
				w.OwnerReferences != nil || w.Generation != 2 {
				t.Errorf("%+v", w)
			}
			if owners := ownersOf(w); strings.Contains(owners, "ownerReferences") ||
				!strings.Contains(owners, `"f:phase":{}}} status`) {
				t.Error(owners)
			}
		})
	}
}

// TestPartsAreSharedWithTheObject: a part without Reset is written with the object, too.
func TestPartsAreSharedWithTheObject(t *testing.T) {
	b := painted(t)
	w := b.create(config(everything, `,"spec":{"color":"red"}`))
	if w.Spec.Color != "red" || w.Labels["l"] != "2" || len(w.OwnerReferences) != 1 {
		t.Errorf("%+v", w)
	}
	w = b.writePart("", "PUT", "m", config("", `,"spec":{"color":"blue"}`))
	if w.Spec.Color != "blue" || w.Labels != nil || w.OwnerReferences != nil {
		t.Errorf("%+v", w)
	}
	wantOwners(t, w, `m Update {"f:spec":{"f:color":{}}}`, `unknown Update {"f:spec":{"f:size":{}}}`)
}

// TestPartsInOtherVersions: each version names the fields of a part itself.
func TestPartsInOtherVersions(t *testing.T) {
	b := painted(t)
	b.create(config("", `,"spec":{"color":"red","size":1}`))
	opts := verb.WriteOptions{Form: v1, FieldManager: "old"}
	old := verb.Body{Data: []byte(`{"apiVersion":"shop.example.com/v1beta1","kind":"Widget","metadata":{"name":"a"},` +
		`"spec":{"colour":"blue","size":9}}`), Version: "v1beta1"}
	r, err := b.Patch(b.ctx(), "ns", "a", "paint", verb.MergePatch, old, opts)
	if err != nil {
		t.Fatal(err)
	}
	w := b.parse(r.Object)
	if w.Spec.Color != "blue" || w.Spec.Size != 1 {
		t.Errorf("%+v", w.Spec)
	}
	if owners := ownersOf(w); !strings.Contains(owners, `old Update {"f:spec":{"f:colour":{}}} paint`) {
		t.Error(owners)
	}
}

// TestPartsArePreparedAndValidated: what the author's function takes back isn't the writer's, and the whole object is
// validated.
func TestPartsArePreparedAndValidated(t *testing.T) {
	b := painted(t)
	b.create(config("", `,"spec":{"color":"red","size":1}`))
	w := b.writePart("paint", "PATCH", "painter", `{"spec":{"color":"pink"}}`)
	if w.Spec.Color != "red" || strings.Contains(ownersOf(w), "painter") {
		t.Errorf("%+v %s", w.Spec, ownersOf(w))
	}
	_, err := b.patch("a", "paint", `{"spec":{"color":null}}`)
	wantStatus(t, err, 422, metav1.StatusReasonInvalid,
		`Widget.shop.example.com "a" is invalid: spec.color: Required value: paint stays`)
	_, err = b.patch("a", "paint", `{"spec":{"color":"none"}}`)
	wantStatus(t, err, 422, metav1.StatusReasonInvalid,
		`Widget.shop.example.com "a" is invalid: spec.color: Forbidden: paint is not removed`)
	_, err = b.patch("a", "paint", `{"metadata":{"labels":{"-":"-"}}}`)
	if err == nil || !strings.Contains(err.Error(), "metadata.labels: Invalid value") {
		t.Error(err)
	}
	_, err = b.patch("a", "status", `{"metadata":{"annotations":{"-":"-"}}}`)
	if err == nil || !strings.Contains(err.Error(), "metadata.annotations: Invalid value") {
		t.Error(err)
	}
	if _, err = b.patch("a", "status", `{"metadata":{"labels":{"-":"-"}}}`); err != nil {
		t.Error(err)
	}
}

// TestPartsKeepPreservedFields: an annotation that carries a field of one version is not an annotation to share.
func TestPartsKeepPreservedFields(t *testing.T) {
	b := painted(t)
	b.create(config(`,"annotations":{"apigen.dev/preserved-v1":"1","a":"1"}`, `,"spec":{}`))
	w := b.writePart("status", "PUT", "m", config(`,"annotations":{"apigen.dev/preserved-v2":"2","a":"2"}`, ``))
	if len(w.Annotations) != 2 || w.Annotations["apigen.dev/preserved-v1"] != "1" || w.Annotations["a"] != "2" {
		t.Error(w.Annotations)
	}
}

// TestPartsEndADeletion: a write of a part that removes the last finalizer of a deleted object removes the object.
func TestPartsEndADeletion(t *testing.T) {
	b := painted(t)
	b.create(config(`,"finalizers":["x/one"]`, `,"spec":{}`))
	if _, err := b.delete("a", verb.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.patch("a", "status", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Fatal(err)
	}
	if _, err := b.patch("a", "paint", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Fatal(err)
	}
	_, err := b.Get(b.ctx(), "ns", "a", "", v1)
	wantStatus(t, err, 404, metav1.StatusReasonNotFound, `widgets.shop.example.com "a" not found`)
}

// TestPartsThatContradictThemselves: a definition says which part is wrong.
func TestPartsThatContradictThemselves(t *testing.T) {
	for want, change := range map[string]func(s *registry.Subresource[*shop.Widget]){
		`subresource "status": version v1beta1 has no Fields`: func(s *registry.Subresource[*shop.Widget]) {
			s.Fields = map[string][]string{"v1": {"status"}}
		},
		`subresource "status": "name" is no member of metadata`: func(s *registry.Subresource[*shop.Widget]) {
			s.Metadata = []string{"name"}
		},
		`the verb list is none of get, patch, update`: func(s *registry.Subresource[*shop.Widget]) {
			s.Verbs = []string{"list"}
		},
		`subresource "status": version "v9" is not served`: func(s *registry.Subresource[*shop.Widget]) {
			s.Versions = []string{"v1", "v9"}
		},
		`Copy, and Reset or Fields`: func(s *registry.Subresource[*shop.Widget]) { s.Reset = nil },
	} {
		d := shop.Definition()
		change(&d.Subresources[0])
		_, err := registry.New(d).Open(t.Context(), registry.Config{Backend: memory.New(), Prefix: "/registry"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
