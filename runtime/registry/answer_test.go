package registry_test

import (
	"slices"
	"testing"

	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An update that names a uid is meant for that very object: if it is gone it isn't found, and where the update could
// create another one, the answer is a conflict, as it is where another object took its place.
func TestUpdateOfTheVeryObjectThatIsGone(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		for _, subresource := range []string{"", "status"} {
			_, err := b.Update(b.ctx(), "ns", "a", subresource, body(`{"metadata":{"name":"a","uid":"u-1"}}`),
				verb.WriteOptions{Form: v1})
			wantStatus(t, err, 404, metav1.StatusReasonNotFound, `widgets.shop.example.com "a" not found`)
			_, err = b.Update(b.ctx(), "ns", "a", subresource, body(`{"metadata":{"name":"a"}}`),
				verb.WriteOptions{Form: v1})
			wantStatus(t, err, 404, metav1.StatusReasonNotFound, `widgets.shop.example.com "a" not found`)
		}
	})
}

// What a client is warned of it is warned of also where its request fails: the two may have one cause.
func TestWarningsOfRefusedWrites(t *testing.T) {
	const invalid = `{"metadata":{"name":"a"},"spec":{"size":-1,"sise":1}}`
	warned := func(object string) verb.Body {
		return verb.Body{Version: "v1", Data: []byte(object), Validation: metav1.FieldValidationWarn}
	}
	want := []string{`unknown field "spec.sise"`}
	both(t, func(t *testing.T, b *bench) {
		check := func(what string, result verb.Result, err error) {
			t.Helper()
			if err == nil || !slices.Equal(result.Warnings, want) {
				t.Errorf("%s: warnings %q, error %v; want an error, and the warnings %q", what, result.Warnings, err,
					want)
			}
		}
		result, err := b.Create(b.ctx(), "ns", warned(invalid), verb.WriteOptions{Form: v1})
		check("create", result, err)
		b.create(`{"metadata":{"name":"a"}}`)
		result, err = b.Create(b.ctx(), "ns", warned(`{"metadata":{"name":"a"},"spec":{"sise":1}}`),
			verb.WriteOptions{Form: v1})
		check("create of what exists", result, err)
		result, err = b.Create(b.ctx(), "elsewhere", warned(`{"metadata":{"name":"a","namespace":"ns"},`+
			`"spec":{"sise":1}}`), verb.WriteOptions{Form: v1})
		check("create in another namespace", result, err)
		result, err = b.Update(b.ctx(), "ns", "a", "", warned(invalid), verb.WriteOptions{Form: v1})
		check("update", result, err)
		result, err = b.Update(b.ctx(), "ns", "b", "", warned(invalid), verb.WriteOptions{Form: v1})
		check("update of another name", result, err)
		result, err = b.Patch(b.ctx(), "ns", "a", "", verb.MergePatch, warned(invalid), verb.WriteOptions{Form: v1})
		check("patch", result, err)
	})
}
