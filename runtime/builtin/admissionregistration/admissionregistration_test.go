package admissionregistration_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/admissionregistration"
	"sigs.k8s.io/yaml"
)

const (
	validWebhook = `
kind: ValidatingWebhookConfiguration
metadata: {name: w}
webhooks:
- name: a.example.com
  clientConfig: {url: "https://x.example.com"}
  sideEffects: None
  admissionReviewVersions: [v1]
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods]}]`
	validPolicy = `
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods]}]
  validations: [{expression: "true"}]`
	validMutation = `
kind: MutatingAdmissionPolicy
metadata: {name: m}
spec:
  matchConstraints:
    resourceRules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods]}]
  reinvocationPolicy: Never
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{}]"}}]`
	validBinding = `
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec:
  policyName: p
  paramRef: {name: c, parameterNotFoundAction: Deny}
  validationActions: [Deny, Audit]`
	validMutatingBinding = `
kind: MutatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: m}`
)

var plurals = map[string]string{
	"ValidatingWebhookConfiguration":   "validatingwebhookconfigurations",
	"ValidatingAdmissionPolicy":        "validatingadmissionpolicies",
	"ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
	"MutatingAdmissionPolicy":          "mutatingadmissionpolicies",
	"MutatingAdmissionPolicyBinding":   "mutatingadmissionpolicybindings",
}

// create creates an object from YAML in a dry run, after replacing parts of it, and returns the answer.
func create(t *testing.T, s *apitest.Server, object string, replace ...string) (code int, body string) {
	t.Helper()
	text := "apiVersion: admissionregistration.k8s.io/v1" + object
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("%s: it lacks %s", text, replace[i])
		}
	}
	data, err := yaml.YAMLToJSON([]byte(strings.NewReplacer(replace...).Replace(text)))
	if err != nil {
		t.Fatal(err)
	}
	kind, _, _ := strings.Cut(strings.TrimPrefix(object, "\nkind: "), "\n")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		s.URL+"/apis/admissionregistration.k8s.io/v1/"+plurals[kind]+"?dryRun=All", strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

// The server sets kube-apiserver's defaults.
func TestDefaults(t *testing.T) {
	s := apitest.Start(t, (&admissionregistration.Feature{}).Groups()...)
	for _, c := range []struct {
		object string
		want   []string
	}{
		{validWebhook, []string{`"failurePolicy":"Fail"`, `"matchPolicy":"Equivalent"`, `"namespaceSelector":{}`,
			`"objectSelector":{}`, `"timeoutSeconds":10`, `"scope":"*"`, `"generation":1`}},
		{validPolicy, []string{`"failurePolicy":"Fail"`, `"matchPolicy":"Equivalent"`, `"generation":1`,
			`"status":{}`}},
		{validMutation, []string{`"failurePolicy":"Fail"`, `"objectSelector":{}`, `"scope":"*"`, `"generation":1`}},
		{validBinding, []string{`"generation":1`}},
		{validMutatingBinding, []string{`"generation":1`}},
	} {
		code, body := create(t, s, c.object)
		if code != http.StatusCreated {
			t.Errorf("%s: %d %s", c.object, code, body)
		}
		for _, part := range c.want {
			if !strings.Contains(body, part) {
				t.Errorf("%s lacks %s", body, part)
			}
		}
	}
}

// The server refuses faulty objects with kube-apiserver's words.
func TestFaults(t *testing.T) {
	s := apitest.Start(t, (&admissionregistration.Feature{}).Groups()...)
	for _, c := range []struct {
		name, object string
		replace      []string
		want         string
	}{
		{"no host", validWebhook, []string{"https://x.example.com", "https://"},
			`webhooks[0].clientConfig.url: Invalid value: \"\": host must be specified; ` +
				`desired format: https://host[/path]`},
		{"no TLS", validWebhook, []string{"https://", "http://"}, `'https' is the only allowed URL scheme`},
		{"short name", validWebhook, []string{"a.example.com", "a"},
			`webhooks[0].name: Invalid value: \"a\": ` +
				`should be a domain with at least three segments separated by dots`},
		{"side effects", validWebhook, []string{"None", "Some"},
			`webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\"`},
		{"review versions", validWebhook, []string{"Versions: [v1]", "Versions: [v2]"},
			`webhooks[0].admissionReviewVersions: Invalid value: [\"v2\"]: must include at least one of v1, v1beta1`},
		{"service", validWebhook, []string{`url: "https://x.example.com"`, "service: {path: //, name: x}"},
			`path: Invalid value: \"//\": segment[0] may not be empty`},
		{"subresources", validWebhook, []string{"[pods]", "[pods/*, pods/exec]"},
			`resources[1]: Invalid value: \"pods/exec\": if 'pods/*' is present, must not specify pods/exec`},
		{"operations", validPolicy, []string{"[CREATE]", "['*', CREATE]"},
			`resourceRules[0].operations: Invalid value: [\"*\",\"CREATE\"]: ` +
				`if '*' is present, must not specify other operations`},
		{"no validations", validPolicy, []string{`validations: [{expression: "true"}]`, "validations: []"},
			`spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item`},
		{"reason", validPolicy, []string{`"true"`, `"true", reason: Gone`},
			`Unsupported value: \"Gone\": supported values: \"Forbidden\", \"Invalid\", \"RequestEntityTooLarge\"`},
		{"kind of parameters", validPolicy, []string{"apiVersion: v1, kind: C", "apiVersion: a/b/c, kind: C"},
			`spec.paramKind.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c`},
		{"variable", validPolicy,
			[]string{"validations:", `variables: [{name: in, expression: "1"}]` + "\n  validations:"},
			`spec.variables[0].name: Invalid value: \"in\": must be a valid CEL identifier`},
		{"syntax", validPolicy, []string{`"true"`, `"object.=="`},
			`spec.validations[0].expression: Invalid value: \"object.==\": ` +
				`compilation failed: ERROR: \u003cinput\u003e:1:8: `},
		{"type", validPolicy, []string{`"true"`, `"1"`},
			`spec.validations[0].expression: Invalid value: \"1\": must evaluate to bool`},
		{"patches are a list", validMutation, []string{`"[JSONPatch{}]"`, `"JSONPatch{op: 'add'}"`},
			`spec.mutations[0].jsonPatch.expression: Invalid value: \"JSONPatch{op: 'add'}\": must evaluate to `},
		{"messages know no authorizer", validPolicy,
			[]string{`{expression: "true"}`,
				`{expression: "true", messageExpression: "authorizer.path('/').check('get').reason()"}`},
			`undeclared reference to 'authorizer'`},
		{"deletion", validMutation, []string{"CREATE", "DELETE"},
			`Unsupported value: \"DELETE\": supported values: \"*\", \"CONNECT\", \"CREATE\", \"UPDATE\"`},
		{"patch", validMutation, []string{"patchType: JSONPatch", "patchType: ApplyConfiguration"},
			`spec.mutations[0].applyConfiguration: Required value: ` +
				`must be specified when patchType is ApplyConfiguration`},
		{"reinvocation", validMutation, []string{"Never", "Always"},
			`spec.reinvocationPolicy: Unsupported value: \"Always\": supported values: \"IfNeeded\", \"Never\"`},
		{"actions", validBinding, []string{"Audit", "Warn"}, `must not contain both Deny and Warn`},
		{"no action", validBinding, []string{"[Deny, Audit]", "[]"}, `spec.validationActions: Required value`},
		{"parameters", validBinding, []string{"name: c", "name: c, selector: {}"},
			`spec.paramRef.name: Forbidden: name and selector are mutually exclusive`},
		{"no parameters", validBinding, []string{"name: c, ", ""},
			`spec.paramRef: Required value: one of name or selector must be specified`},
		{"absent parameters", validBinding, []string{"Action: Deny", "Action: Maybe"},
			`parameterNotFoundAction: Unsupported value: \"Maybe\": supported values: \"Deny\", \"Allow\"`},
		{"no policy", validMutatingBinding, []string{"policyName: m", "paramRef: null"},
			`spec.policyName: Required value`},
	} {
		if code, body := create(t, s, c.object, c.replace...); code != 422 || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s, want %s", c.name, code, body, c.want)
		}
	}
}
