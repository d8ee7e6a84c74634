package crd

import (
	"encoding/json"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
)

// accepted holds our document to the checks of kube-apiserver, structural schemas and the cost of rules among them. What
// these have against it, they must have against controller-gen's, too: the approval of a group of Kubernetes', or a list of
// the project that may become too long for its rules.
func accepted(t *testing.T, name string, theirs, ours any) {
	t.Helper()
	faults := map[string]bool{}
	for _, f := range refusals(t, theirs) {
		faults[f] = true
	}
	for _, f := range refusals(t, ours) {
		if !faults[f] {
			t.Errorf("%s: a cluster refuses it: %s", name, f)
		}
	}
}

// refusals are what kube-apiserver has against a definition that is to be created.
func refusals(t *testing.T, document any) []string {
	t.Helper()
	scheme := runtime.NewScheme()
	install.Install(scheme)
	data, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	var v1 apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(data, &v1); err != nil {
		t.Fatal(err)
	}
	scheme.Default(&v1)
	var hub apiextensions.CustomResourceDefinition
	if err := scheme.Convert(&v1, &hub, nil); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range validation.ValidateCustomResourceDefinition(t.Context(), &hub) {
		out = append(out, e.Error())
	}
	for _, v := range hub.Spec.Versions {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		structural, err := schema.NewStructural(v.Schema.OpenAPIV3Schema)
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		for _, e := range schema.ValidateStructural(nil, structural) {
			out = append(out, e.Error())
		}
	}
	return out
}
