package registry_test

import (
	"fmt"
	"sync"
	"testing"

	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// crowdForms are those in which a crowd has its answers.
var crowdForms = []verb.Form{v1, v1beta1, {Version: "v1", Shape: verb.Metadata}, {Version: "v1", Encoding: verb.CBOR},
	{Version: "v1beta1", Encoding: verb.CBOR, Shape: verb.Metadata}}

// shownIn is an object as an answer shows it.
func shownIn(t *testing.T, form verb.Form, r verb.Rendition) metav1.Object {
	u := &unstructured.Unstructured{}
	var err error
	if form.Encoding == verb.CBOR {
		err = direct.Unmarshal(r.Payload, &u.Object)
	} else {
		u.SetUnstructuredContent(map[string]any{})
		err = u.UnmarshalJSON([]byte(whole(r)))
	}
	if err != nil {
		t.Error(err)
	}
	return u
}

// Who patches one object beside many others is never told of a conflict, loses nothing, and is answered with the state
// that the write made, in every form: no two have one revision, and each has what was written with it.
func TestCrowdOnOneObject(t *testing.T) {
	const writers, writes = 10, 12
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"}}`)
		var told sync.Map // revisions
		var crowd sync.WaitGroup
		for w := range writers {
			crowd.Go(func() {
				form, key := crowdForms[w%len(crowdForms)], fmt.Sprintf("w%d", w)
				for i := range writes {
					r, err := b.crowdWrite(w, i, key, form)
					if err != nil {
						t.Errorf("%s, %d: %v", key, i, err)
						return
					}
					shown := shownIn(t, form, r.Object)
					if got := shown.GetAnnotations()[key]; got != fmt.Sprint("n", i) {
						t.Errorf("%s, %d: the answer has %q", key, i, got)
					}
					if before, twice := told.LoadOrStore(shown.GetResourceVersion(), key); twice ||
						shown.GetResourceVersion() == "" {
						t.Errorf("%s, %d: the revision %q is %v's", key, i, shown.GetResourceVersion(), before)
					}
				}
			})
		}
		crowd.Wait()
		for w := range writers {
			if got := b.get("a").Annotations[fmt.Sprintf("w%d", w)]; got != fmt.Sprint("n", writes-1) {
				t.Errorf("writer %d ends with %q", w, got)
			}
		}
	})
}

// crowdWrite is one write of one of the crowd, by a merge patch, a JSON patch or an apply.
func (b *bench) crowdWrite(w, i int, key string, form verb.Form) (verb.Result, error) {
	opts := verb.WriteOptions{Form: form, FieldManager: key}
	switch w % 3 {
	case 0:
		return b.Patch(b.ctx(), "ns", "a", "", verb.MergePatch,
			body(fmt.Sprintf(`{"metadata":{"annotations":{%q:"n%d"}}}`, key, i)), opts)
	case 1:
		patch := fmt.Sprintf(`[{"op":"add","path":"/metadata/annotations/%s","value":"n%d"}]`, key, i)
		if i == 0 { // there may be none yet
			patch = fmt.Sprintf(`{"metadata":{"annotations":{%q:"n0"}}}`, key)
			return b.Patch(b.ctx(), "ns", "a", "", verb.MergePatch, body(patch), opts)
		}
		return b.Patch(b.ctx(), "ns", "a", "", verb.JSONPatch, body(patch), opts)
	}
	config := fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"a",`+
		`"annotations":{%q:"n%d"}}}`, key, i)
	return b.Patch(b.ctx(), "ns", "a", "", verb.ApplyPatch, body(config), opts)
}
