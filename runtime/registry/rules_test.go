package registry_test

import (
	"fmt"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestRulesOfVersions: the rules of the version in the URL check what is written, as that version has it, with what was
// there before.
func TestRulesOfVersions(t *testing.T) {
	var calls []string
	d := shop.Ruled(
		func(_ ctxT, op operation.Operation, obj, old *shop.WidgetV1) (errs field.ErrorList) {
			before := "nothing"
			if old != nil {
				before = old.Spec.Color + old.Status.Phase
			}
			calls = append(calls, fmt.Sprintf("v1 %s %d %s to %s", op.Request.SubresourcePath(), op.Type, before,
				obj.Spec.Color+obj.Status.Phase))
			if obj.Spec.Size < 0 {
				errs = append(errs,
					field.Invalid(field.NewPath("spec", "color"), obj.Spec.Color, "must be a color"),
					// as the Strategy says, too
					field.Invalid(field.NewPath("spec", "size"), obj.Spec.Size, "must not be negative"))
			}
			return errs
		},
		func(_ ctxT, op operation.Operation, obj, old *shop.WidgetV1beta1) field.ErrorList {
			calls = append(calls, "v1beta1 "+old.Spec.Colour+" to "+obj.Spec.Colour)
			return field.ErrorList{field.Forbidden(field.NewPath("spec", "colour"), "")}
		})
	b := open(t, registry.New(d), false)
	b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
	if _, err := b.patch("a", "", `{"spec":{"color":"blue"}}`); err != nil {
		t.Fatal(err)
	}
	if _, err := b.patch("a", "status", `{"spec":{"color":"green"},"status":{"phase":"New"}}`); err != nil {
		t.Fatal(err)
	}
	_, err := b.Patch(b.ctx(), "ns", "a", "", verb.MergePatch,
		verb.Body{Version: "v1beta1", Data: []byte(`{"spec":{"colour":"green"}}`)}, verb.WriteOptions{Form: v1})
	wantStatus(t, err, 422, metav1.StatusReasonInvalid, "spec.colour: Forbidden")
	want := []string{"v1 / 0 nothing to red", "v1 / 1 red to blue", "v1 /status 1 blue to blueNew",
		"v1beta1 blue to green"}
	if strings.Join(calls, "\n") != strings.Join(want, "\n") {
		t.Errorf("calls: %q", calls)
	}

	_, err = b.patch("a", "", `{"spec":{"size":-1}}`)
	wantStatus(t, err, 422, metav1.StatusReasonInvalid,
		`[spec.color: Invalid value: "blue": must be a color, spec.size: Invalid value: -1: must not be negative]`)
}
