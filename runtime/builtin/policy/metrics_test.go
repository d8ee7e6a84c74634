package policy_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestMetrics: checks that fail or have an effect are counted under kube-apiserver's names.
func TestMetrics(t *testing.T) {
	s := start(t)
	policy := func(kind, name, spec string) {
		t.Helper()
		create(t, s, registration+strings.ToLower(kind[:len(kind)-1])+"ies",
			"apiVersion: admissionregistration.k8s.io/v1\nkind: "+kind+"\nmetadata: {name: "+name+"}\nspec:"+
				constraints+"\n"+spec)
	}
	bind := func(kind, name, spec string) {
		t.Helper()
		create(t, s, registration+strings.ToLower(kind)+"bindings",
			"apiVersion: admissionregistration.k8s.io/v1\nkind: "+kind+"Binding\nmetadata: {name: "+name+
				"}\nspec: {policyName: "+name+spec+"}")
	}
	const validating, mutating = "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"
	policy(validating, "small", `  validations: [{expression: "!has(object.data)"}]`)
	policy(validating, "broken", `  failurePolicy: Ignore
  validations: [{expression: "object.data.missing == 'x'"}]`)
	policy(mutating, "label", `  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'a': 'b'}}}"}`)
	bind(validating, "small", ", validationActions: [Deny, Audit]")
	bind(validating, "broken", ", validationActions: [Warn]")
	bind(mutating, "label", "")
	const big = "{metadata: {name: big}, data: {a: b}}"
	eventually(t, s, http.MethodPost, maps+"?dryRun=All", big, has(http.StatusUnprocessableEntity, "small"))
	const fine = "{metadata: {name: fine}}"
	eventually(t, s, http.MethodPost, maps+"?dryRun=All", fine, has(http.StatusCreated, `"a":"b"`))
	const check = "_admission_policy_check_"
	for _, want := range []string{
		"validating" + check + `total{enforcement_action="deny",error_type="invalid_error",policy="small",` +
			`policy_binding="small"} `,
		"validating" + check + `total{enforcement_action="audit",error_type="invalid_error",policy="small",` +
			`policy_binding="small"} `,
		"validating" + check + `total{enforcement_action="allow",error_type="invalid_error",policy="broken",` +
			`policy_binding="broken"} `,
		"validating" + check + `duration_seconds_bucket{enforcement_action="deny",error_type="invalid_error",` +
			`policy="small",policy_binding="small",le="+Inf"} `,
		"mutating" + check + `total{error_type="no_error",policy="label",policy_binding="label"} `,
		"mutating" + check + `duration_seconds_count{error_type="no_error",policy="label",policy_binding="label"} `,
	} {
		eventually(t, s, http.MethodGet, "/metrics", "", func(a answer) bool {
			send(t, s, http.MethodPost, maps+"?dryRun=All", fine) // a policy may be in effect only now
			return has(http.StatusOK, "\napiserver_"+want)(a)
		})
	}
	if strings.Contains(send(t, s, http.MethodGet, "/metrics", "").body, `enforcement_action="warn"`) {
		t.Error("a failure that is ignored warned")
	}
}
