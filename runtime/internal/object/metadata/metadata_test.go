package metadata

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDeduplicateOwners(t *testing.T) {
	yes, no := true, false
	ref := metav1.OwnerReference{APIVersion: "v1", Kind: "K", Name: "n", UID: "u"}
	controller, other := ref, ref
	controller.Controller, other.Controller = &yes, &no
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{ref,
		controller, ref, other, controller}}}
	warnings := DeduplicateOwners(obj, "")
	if len(obj.OwnerReferences) != 3 || len(warnings) != 1 || !strings.HasSuffix(warnings[0],
		"duplicate UID(s) observed: u, u") {
		t.Errorf("%+v %v", obj.OwnerReferences, warnings)
	}
	if warnings = DeduplicateOwners(obj, ""); warnings != nil {
		t.Error(warnings)
	}
}
