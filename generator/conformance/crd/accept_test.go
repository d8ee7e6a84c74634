package crd

import (
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit/crd"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// accepted holds a document to the checks of kube-apiserver, structural schemas and the cost of rules among them.
func accepted(t *testing.T, name string, document any) {
	t.Helper()
	for _, f := range refusals(t, document) {
		t.Errorf("%s: a cluster refuses it: %s", name, f)
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
	if v1.Annotations == nil {
		v1.Annotations = map[string]string{}
	}
	// Projects in groups of Kubernetes' add this annotation afterwards.
	v1.Annotations["api-approved.kubernetes.io"] = "unapproved, tests"
	scheme.Default(&v1)
	var hub apiextensions.CustomResourceDefinition
	if err := scheme.Convert(&v1, &hub, nil); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range validation.ValidateCustomResourceDefinition(t.Context(), &hub) {
		out = append(out, e.Error())
	}
	schemas := []*apiextensions.CustomResourceValidation{hub.Spec.Validation} // where all versions have the same one
	for _, v := range hub.Spec.Versions {
		schemas = append(schemas, v.Schema)
	}
	for _, s := range schemas {
		if s == nil {
			continue
		}
		structural, err := schema.NewStructural(s.OpenAPIV3Schema)
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

// TestRefused: of each definition that a cluster refuses there is a warning, and no other.
func TestRefused(t *testing.T) {
	s := source{below: "apigen.dev/generator/conformance/crd/refused", patterns: []string{"./refused/..."}}
	p := s.program(t)
	warnings := crd.Emitter().Warnings(plan.New(p))
	for name, document := range s.ours(t) {
		if len(refusals(t, document)) == 0 {
			t.Errorf("a cluster accepts %s", name)
		}
	}
	var kinds []string
	for _, r := range p.Groups[0].Resources {
		if n := len(slices.DeleteFunc(slices.Clone(warnings), func(w diag.Error) bool {
			return !of(w, r.Hub)
		})); n != 1 {
			kinds = append(kinds, r.Kind)
		}
	}
	if len(kinds) > 0 || len(warnings) != len(p.Groups[0].Resources) {
		t.Errorf("not one warning each of %v: %v", kinds, warnings)
	}
}

// of reports whether a warning stands at a field of a kind, or in the comment above it.
func of(w diag.Error, t *model.Type) bool {
	markers := t.Pos.Line
	for _, f := range t.Kind.Selectable {
		markers = min(markers, f.Pos.Line)
	}
	for _, c := range t.Kind.Columns {
		markers = min(markers, c.Pos.Line)
	}
	if s := t.Kind.Scale; s != nil {
		markers = min(markers, s.Pos.Line)
	}
	for _, r := range t.Schema.Rules {
		markers = min(markers, r.Pos.Line)
	}
	return markers <= w.Pos.Line && w.Pos.Line <= t.Fields[len(t.Fields)-1].Pos.Line
}
