package webhook_test

import (
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
)

// TestMatchConditionMetrics: evaluations of match conditions are measured, and those that keep a write from the webhook
// are counted.
func TestMatchConditionMetrics(t *testing.T) {
	h := serve(t, says(admissionv1.AdmissionResponse{Allowed: true}))
	s := start(t, nil, h.validating("picky", func(w *registration.ValidatingWebhook) {
		w.MatchConditions = []registration.MatchCondition{{Name: "c", Expression: "object.metadata.name != 'passed'"}}
	}))
	const maps = "/api/v1/namespaces/default/configmaps"
	for _, name := range []string{"called", "passed"} {
		if code, answer := send(t, s, http.MethodPost, maps, `{"metadata":{"name":"`+name+`"}}`); code != 201 {
			t.Fatalf("%s: %d %s", name, code, answer)
		}
	}
	_, metrics := send(t, s, http.MethodGet, "/metrics", "")
	const prefix, of = "\napiserver_admission_match_condition_", `kind="webhook",name="picky.example.com",` +
		`operation="CREATE",type="validating"`
	if !strings.Contains(metrics, prefix+"exclusions_total{"+of+"} 1\n") {
		t.Errorf("an exclusion isn't counted: %s", metrics)
	}
	if !strings.Contains(metrics, prefix+"evaluation_seconds_bucket{"+of+`,le="0.001"} `) ||
		strings.Contains(metrics, prefix+"evaluation_seconds_count{"+of+"} 1\n") {
		t.Errorf("evaluations aren't measured: %s", metrics)
	}
}
