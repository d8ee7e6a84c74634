package policy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/admissionregistration"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/builtin/lifecycle"
	"apigen.dev/runtime/builtin/policy"
	"apigen.dev/runtime/internal/testbed"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"
)

func start(t *testing.T) *apitest.Server {
	t.Helper()
	s, _ := startWithOutage(t)
	return s
}

func startWithOutage(t *testing.T) (s *apitest.Server, outage *testbed.Outage) {
	t.Helper()
	var groups []registry.Group
	groups = append(groups, (&core.Feature{}).Groups()...)
	groups = append(groups, (&admissionregistration.Feature{}).Groups()...)
	s = apitest.StartWith(t, func(config *server.Config) {
		outage = testbed.NewOutage(config.Backend)
		config.Backend = outage
		for _, feature := range []server.Feature{new(lifecycle.Feature), new(policy.Feature)} {
			if err := config.Use(t.Context(), feature); err != nil {
				t.Fatal(err)
			}
		}
	}, groups...)
	return s, outage
}

const (
	maps         = "/api/v1/namespaces/default/configmaps"
	registration = "/apis/admissionregistration.k8s.io/v1/"
)

type answer struct {
	code    int
	body    string
	warning string
}

// send sends a body that is in YAML.
func send(t *testing.T, s *apitest.Server, method, path, body string) answer {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if body == "" {
		data = nil
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, string(text), response.Header.Get("Warning")}
}

func create(t *testing.T, s *apitest.Server, path, body string) {
	t.Helper()
	if got := send(t, s, http.MethodPost, path, body); got.code != http.StatusCreated {
		t.Fatalf("%s: %d %s", body, got.code, got.body)
	}
}

// eventually sends a request, until its answer is as wanted.
func eventually(t *testing.T, s *apitest.Server, method, path, body string, want func(answer) bool) answer {
	t.Helper()
	var last answer
	if err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, 2*time.Minute, true,
		func(context.Context) (bool, error) {
			last = send(t, s, method, path, body)
			return want(last), nil
		}); err != nil {
		t.Fatalf("%s %s %s: %+v", method, path, body, last)
	}
	return last
}

func has(code int, text string) func(answer) bool {
	return func(a answer) bool { return a.code == code && strings.Contains(a.body+a.warning, text) }
}

const constraints = `
  matchConstraints:
    resourceRules: [{operations: ['*'], apiGroups: [''], apiVersions: [v1], resources: [configmaps]}]`

func TestValidation(t *testing.T) {
	s := start(t)
	create(t, s, registration+"validatingadmissionpolicies", `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:`+constraints+`
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConditions: [{name: c, expression: "object.metadata.name != 'params'"}]
  variables: [{name: size, expression: "has(object.data) ? size(object.data) : 0"}]
  validations:
  - expression: "variables.size <= int(params.data.max)"
    messageExpression: "'at most ' + params.data.max + ', not ' + string(variables.size)"
    reason: Forbidden
  - {expression: "namespaceObject == null || true"}
  - {expression: "object.metadata.?labels['no'] != optional.of('') ", message: no label}`)
	create(t, s, registration+"validatingadmissionpolicybindings", `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, paramRef: {name: params, parameterNotFoundAction: Deny}, validationActions: [Deny]}`)
	dry := maps + "?dryRun=All"
	const big = `{metadata: {name: x}, data: {a: a, b: b}}`
	eventually(t, s, http.MethodPost, dry, big, has(422, "configmaps \\\"x\\\" is forbidden: "+
		"ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed to configure binding: no params found "+
		"for policy binding with `Deny` parameterNotFoundAction"))
	send(t, s, http.MethodDelete, registration+"validatingadmissionpolicybindings/b", "")
	eventually(t, s, http.MethodPost, dry, big, has(201, ""))
	create(t, s, maps, `{metadata: {name: params}, data: {max: "1"}}`)
	create(t, s, registration+"validatingadmissionpolicybindings", `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, paramRef: {name: params, parameterNotFoundAction: Deny}, validationActions: [Deny]}`)
	eventually(t, s, http.MethodPost, dry, big, has(403, "denied request: at most 1, not 2"))
	eventually(t, s, http.MethodPost, dry, `{metadata: {name: x, labels: {"no": ""}}}`,
		has(422, "denied request: no label"))
	if got := send(t, s, http.MethodPost, dry, `{metadata: {name: x}, data: {a: a}}`); got.code != 201 {
		t.Errorf("%+v", got)
	}
	// A deletion has no object: the condition fails, and so does the write.
	eventually(t, s, http.MethodDelete, maps+"/params?dryRun=All", "", has(422, "no such key: metadata"))
	create(t, s, registration+"validatingadmissionpolicybindings", `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: a}
spec: {policyName: p, paramRef: {name: params, parameterNotFoundAction: Deny}, validationActions: [Warn]}`)
	eventually(t, s, http.MethodPost, dry, big, has(403,
		`Validation failed for ValidatingAdmissionPolicy 'p' with binding 'a': at most 1, not 2`))
}

func TestMutation(t *testing.T) {
	s := start(t)
	for name, spec := range map[string]string{
		"a": `
  reinvocationPolicy: IfNeeded
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{metadata: Object.metadata{labels: {'a': string(size(object.?data.orValue({})))}}}`,
		"b": `
  reinvocationPolicy: Never
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        [JSONPatch{op: 'test', path: '/metadata/name', value: 'y'}, JSONPatch{op: 'remove', path: '/data'}]
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        [JSONPatch{op: 'add', path: '/data', value: {'b': object.metadata.labels['a']}},
         JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('x/b'), value: 'set'}]`,
	} {
		create(t, s, registration+"mutatingadmissionpolicies", `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: `+name+`}
spec:`+strings.ReplaceAll(constraints, "['*']", "[CREATE, UPDATE]")+spec)
		create(t, s, registration+"mutatingadmissionpolicybindings", `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: `+name+`}
spec: {policyName: `+name+`}`)
	}
	// The first sees the data of the second in the second pass.
	eventually(t, s, http.MethodPost, maps+"?dryRun=All", `{metadata: {name: x}}`,
		has(201, `"labels":{"a":"1","x/b":"set"}`))
	got := send(t, s, http.MethodPost, maps, `{metadata: {name: x}}`)
	if got.code != 201 || !strings.Contains(got.body, `"data":{"b":"0"}`) {
		t.Errorf("%+v", got)
	}
	send(t, s, http.MethodDelete, registration+"mutatingadmissionpolicies/b", "")
	create(t, s, registration+"mutatingadmissionpolicies", `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: b}
spec:`+strings.ReplaceAll(constraints, "['*']", "[CREATE, UPDATE]")+`
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{data: Object.metadata{}}"}`)
	got = eventually(t, s, http.MethodPost, maps+"?dryRun=All", `{metadata: {name: z}}`, has(403, "type mismatch"))
	if !strings.Contains(got.body, `"message":"policy 'b' with binding 'b' denied request: type mismatch: `) ||
		!strings.Contains(got.body, `"reason":"Invalid"`) {
		t.Errorf("%+v", got)
	}
	// What removes an object has none to change.
	if got := send(t, s, http.MethodDelete, maps+"/x", ""); got.code != 200 {
		t.Errorf("%+v", got)
	}
}

// The status of a policy that could not be written while storage was away is written later.
func TestTypeCheckingWhileStorageIsAway(t *testing.T) {
	s, outage := startWithOutage(t)
	policies := registration + "validatingadmissionpolicies"
	outage.Changes("validatingadmissionpolicies/p")
	create(t, s, policies, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{operations: ['*'], apiGroups: [''], apiVersions: [v1], resources: [configmaps]}]
  validations: [{expression: "true"}]`)
	outage.Await(t)
	outage.Await(t)
	outage.End()
	eventually(t, s, http.MethodGet, policies+"/p", "", has(http.StatusOK, `"observedGeneration":1`))
}

// The status of a policy tells what is wrong with its expressions, for each kind that its rules name.
func TestTypeChecking(t *testing.T) {
	s := start(t)
	policies := registration + "validatingadmissionpolicies"
	create(t, s, policies, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules:
    - {operations: ['*'], apiGroups: [''], apiVersions: [v1], resources: [configmaps, secrets, configmaps/none]}
    - {operations: ['*'], apiGroups: ['*'], apiVersions: [v1], resources: [namespaces]}
  paramKind: {apiVersion: v1, kind: ConfigMap}
  variables:
  - {name: name, expression: object.metadata.name}
  validations:
  - expression: object.type == ''
    messageExpression: string(params.data.x + variables.name)
  - expression: variables.name == 3 && params.dat == null
  - expression: has(object.metadata.creationTimestamp) && authorizer.requestResource.check('x').allowed()`)
	got := eventually(t, s, http.MethodGet, policies+"/p", "", has(http.StatusOK, `"observedGeneration":1`))
	var p struct {
		Status struct {
			TypeChecking struct {
				ExpressionWarnings []struct{ FieldRef, Warning string }
			}
		}
	}
	if err := yaml.Unmarshal([]byte(got.body), &p); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, w := range p.Status.TypeChecking.ExpressionWarnings {
		lines = append(lines, w.FieldRef+": "+w.Warning)
	}
	const want = `spec.validations[0].expression: /v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'type'
 | object.type == ''
 | ......^

spec.validations[1].expression: /v1, Kind=ConfigMap: ERROR: <input>:1:16: found no matching overload for '_==_' ` +
		`applied to '(string, int)'
 | variables.name == 3 && params.dat == null
 | ...............^
ERROR: <input>:1:30: undefined field 'dat'
 | variables.name == 3 && params.dat == null
 | .............................^

/v1, Kind=Secret: ERROR: <input>:1:16: found no matching overload for '_==_' applied to '(string, int)'
 | variables.name == 3 && params.dat == null
 | ...............^
ERROR: <input>:1:30: undefined field 'dat'
 | variables.name == 3 && params.dat == null
 | .............................^
`
	if text := strings.Join(lines, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// startWith starts a server that has no policies but those of files. The groups are those that it serves.
func startWith(t *testing.T, files map[string]string, groups ...registry.Group) (*apitest.Server, error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, feature := &server.Config{}, &policy.Feature{}
	if err := config.Use(t.Context(), feature); err != nil {
		t.Fatal(err)
	}
	for _, plugin := range config.Admission {
		data := fmt.Sprintf(`{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "%sConfiguration",
			"staticManifestsDir": %q}`, plugin.Name, filepath.Join(dir))
		if plugin.Name == "ValidatingAdmissionPolicy" {
			if err := plugin.Configure([]byte(data), ""); err != nil {
				return nil, err
			}
		}
	}
	return apitest.StartWith(t, func(of *server.Config) {
		of.Admission, of.Hooks = config.Admission, config.Hooks
	}, groups...), nil
}

const staticPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p.static.k8s.io}
spec:
  matchConstraints:
    resourceRules:
    - {operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*']}
  validations: [{expression: "object.metadata.name != 'no'"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b.static.k8s.io}
spec: {policyName: p.static.k8s.io, validationActions: [Deny]}
`

// A server without policies among its kinds has those of files, from its first request on.
func TestStaticManifests(t *testing.T) {
	s, err := startWith(t, map[string]string{"p.yaml": staticPolicy}, (&core.Feature{}).Groups()...)
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, "/api/v1/namespaces", "metadata: {name: default}")
	got := send(t, s, http.MethodPost, maps, "metadata: {name: 'no'}")
	if !has(http.StatusUnprocessableEntity, "ValidatingAdmissionPolicy 'p.static.k8s.io' with binding "+
		"'b.static.k8s.io' denied request: failed expression: object.metadata.name != 'no'")(got) {
		t.Errorf("%+v", got)
	}
	create(t, s, maps, "metadata: {name: 'yes'}")
}

// Only policies from files see writes of policies.
func TestStaticManifestsGuardPolicies(t *testing.T) {
	s, err := startWith(t, map[string]string{"p.yaml": staticPolicy},
		append((&core.Feature{}).Groups(), (&admissionregistration.Feature{}).Groups()...)...)
	if err != nil {
		t.Fatal(err)
	}
	const binding = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: '%s'}
spec: {policyName: p, validationActions: [Deny]}`
	path := registration + "validatingadmissionpolicybindings"
	create(t, s, path, fmt.Sprintf(binding, "yes"))
	got := send(t, s, http.MethodPost, path, fmt.Sprintf(binding, "no"))
	if !has(http.StatusUnprocessableEntity, "denied request")(got) {
		t.Errorf("%+v", got)
	}
}

// A server doesn't start with a directory that it can't use.
func TestStaticManifestsErrors(t *testing.T) {
	for _, test := range []struct{ old, now, want string }{
		{"spec:", "spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}", "spec.paramKind: Forbidden"},
		{"policyName: p.", "paramRef: {name: x}, policyName: p.", "spec.paramRef: Forbidden"},
		{"policyName: p.", "policyName: q.", `references policy "q.static.k8s.io" which does not exist`},
		{"object.metadata.name !=", "object.metadata.name ! =", "spec.validations[0].expression: Invalid value"},
		{"validationActions: [Deny]", "validationActions: []", "spec.validationActions: Required value"},
	} {
		file := strings.Replace(staticPolicy, test.old, test.now, 1)
		if _, err := startWith(t, map[string]string{"p.yaml": file}); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.now, err)
		}
	}
}

// Many policies that concern a write all judge it, and neither compiling nor running them takes much memory.
func TestManyPolicies(t *testing.T) {
	many := 200
	if os.Getenv("APIGEN_LONG") != "" {
		many = 1000
	}
	s := start(t)
	create(t, s, registration+"validatingadmissionpolicybindings", `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: last}
spec: {policyName: p`+fmt.Sprint(many-1)+`, validationActions: [Deny]}`)
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := heap()
	for i := range many {
		name := fmt.Sprintf("p%d", i)
		create(t, s, registration+"validatingadmissionpolicies", `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: `+name+`}
spec:`+constraints+`
  variables: [{name: labels, expression: 'has(object.metadata.labels) ? object.metadata.labels : {}'}]
  validations:
  - expression: "!('`+name+`' in variables.labels)"
    messageExpression: "'not by `+name+`: ' + object.metadata.name"`)
		if i < many-1 {
			create(t, s, registration+"validatingadmissionpolicybindings", `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: `+name+`}
spec: {policyName: `+name+`, validationActions: [Deny]}`)
		}
	}
	for _, name := range []string{"p0", fmt.Sprint("p", many/2), fmt.Sprint("p", many-1)} {
		eventually(t, s, http.MethodPost, maps+"?dryRun=All", `metadata: {name: x, labels: {`+name+`: a}}`,
			has(http.StatusUnprocessableEntity, "not by "+name+": x"))
	}
	create(t, s, maps, `metadata: {name: x}`)
	used := heap() - before
	t.Logf("%d policies take %d MiB", many, used>>20)
	if used > uint64(many)<<18 {
		t.Error("that is too much")
	}
}
