package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/request"
)

const head = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ policy, want string }{
		{"", "failed decoding: Object 'Kind' is missing"},
		{"{", "failed decoding"},
		{"[]", "failed decoding"},
		{"apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: [{level: None}]",
			"unknown group version field audit.k8s.io/v1beta1, Kind=Policy in policy"},
		{"apiVersion: audit.k8s.io/v1\nkind: Event\nrules: [{level: None}]", "is no Policy"},
		{head, "loaded illegal policy with 0 rules"},
		{head + "rules: [{level: None, user: [a]}]", `strict decoding error: unknown field "rules[0].user"`},
		{head + "rules: [{level: None, level: None}]", "already set"},
		{head + "rules: [{}]", "rules[0].level: Required value"},
		{head + "rules: [{level: All}]", `rules[0].level: Unsupported value: "All": supported values: ` +
			`"None", "Metadata", "Request", "RequestResponse"`},
		{head + "rules: [{level: None, nonResourceURLs: [a]}]", "must begin with a '/' character"},
		{head + "rules: [{level: None, nonResourceURLs: [/a*b]}]", "must be the final character of the rule"},
		{head + "rules: [{level: None, nonResourceURLs: [/a], namespaces: [a]}]",
			"rules cannot apply to both regular resources and non-resource URLs"},
		{head + "rules: [{level: None, resources: [{group: a/v1}]}]", "rules[0].resources.group: Invalid value"},
		{head + "rules: [{level: None, resources: [{resourceNames: [a]}]}]",
			"using resourceNames requires at least one resource"},
		{head + "omitStages: [Never]\nrules: [{level: None}]", "omitStages[0]: Invalid value: \"Never\": allowed " +
			"stages are RequestReceived,ResponseStarted,ResponseComplete,Panic"},
	} {
		if _, err := Parse([]byte(test.policy)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.policy, err, test.want)
		}
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte(head), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err == nil || !strings.HasSuffix(err.Error(), "0 rules: from file "+path) {
		t.Error(err)
	}
}

func attributes(user, verb, group, resource, subresource, namespace, name string) auth.Attributes {
	return auth.Attributes{User: &auth.User{Name: user, Groups: []string{"dev"}}, Info: &request.Info{
		IsResource: true, Verb: verb, Group: group, Resource: resource, Subresource: subresource, Namespace: namespace,
		Name: name,
	}}
}

func path(p string) auth.Attributes {
	return auth.Attributes{Info: &request.Info{Path: p, Verb: "get"}}
}

func TestDecide(t *testing.T) {
	for _, test := range []struct {
		rule string
		a    auth.Attributes
		want bool
	}{
		{"", attributes("a", "get", "", "pods", "", "ns", "x"), true},
		{"users: [a]", attributes("a", "get", "", "pods", "", "ns", "x"), true},
		{"users: [a]", attributes("b", "get", "", "pods", "", "ns", "x"), false},
		{"users: [a]", path("/x"), false}, // nobody authenticated
		{"userGroups: [ops, dev]", attributes("b", "get", "", "pods", "", "ns", "x"), true},
		{"userGroups: [ops]", path("/x"), false},
		{"verbs: [list]", attributes("b", "get", "", "pods", "", "ns", "x"), false},
		{"namespaces: [ns]", attributes("b", "get", "", "pods", "", "ns", "x"), true},
		{`namespaces: [""]`, attributes("b", "get", "", "nodes", "", "", "x"), true},
		{`namespaces: [""]`, path("/x"), false},
		{"resources: [{group: apps}]", attributes("b", "get", "", "pods", "", "ns", "x"), false},
		{`resources: [{group: "*"}]`, attributes("b", "get", "apps", "pods", "", "ns", "x"), true},
		{"resources: [{resources: [pods]}]", attributes("b", "get", "", "pods", "log", "ns", "x"), false},
		{"resources: [{resources: [pods/log]}]", attributes("b", "get", "", "pods", "log", "ns", "x"), true},
		{"resources: [{resources: [pods/*]}]", attributes("b", "get", "", "pods", "", "ns", "x"), true},
		{`resources: [{resources: ["*/log"]}]`, attributes("b", "get", "", "pods", "log", "ns", "x"), true},
		{`resources: [{resources: ["*/log"]}]`, attributes("b", "get", "", "pods", "", "ns", "x"), false},
		{`resources: [{resources: ["*"]}]`, attributes("b", "get", "", "pods", "log", "ns", "x"), true},
		{"resources: [{resources: [pods], resourceNames: [z]}]", attributes("b", "get", "", "pods", "", "ns", "x"),
			false},
		{"nonResourceURLs: [/healthz*]", path("/healthz/etcd"), true},
		{"nonResourceURLs: [/healthz]", path("/healthz/etcd"), false},
		{`nonResourceURLs: ["*"]`, attributes("b", "get", "", "pods", "", "ns", "x"), false},
	} {
		policy, err := Parse([]byte(head + "rules:\n- level: Metadata\n  " + test.rule))
		if err != nil {
			t.Fatalf("%s: %v", test.rule, err)
		}
		if got := NewEvaluator(policy).Decide(test.a).Level == trail.Metadata; got != test.want {
			t.Errorf("%s: %v", test.rule, got)
		}
	}
}

// TestDecisions: the first rule decides, and has the stages and managed fields of the policy beside its own.
func TestDecisions(t *testing.T) {
	policy, err := Parse([]byte(head + `
omitStages: [Panic]
omitManagedFields: true
rules:
- {level: Request, verbs: [get], omitStages: [RequestReceived], omitManagedFields: false}
- {level: Metadata, verbs: [get, list]}
`))
	if err != nil {
		t.Fatal(err)
	}
	e := NewEvaluator(policy)
	get := e.Decide(attributes("a", "get", "", "pods", "", "ns", "x"))
	list := e.Decide(attributes("a", "list", "", "pods", "", "ns", ""))
	watch := e.Decide(attributes("a", "watch", "", "pods", "", "ns", ""))
	if get.Level != trail.Request || len(get.Omit) != 2 || get.OmitManagedFields {
		t.Errorf("get: %+v", get)
	}
	if list.Level != trail.Metadata || len(list.Omit) != 1 || !list.OmitManagedFields {
		t.Errorf("list: %+v", list)
	}
	if watch.Level != trail.None {
		t.Errorf("watch: %+v", watch)
	}
}

func TestDecideAllocatesNothing(t *testing.T) {
	policy, err := Parse([]byte(head + `
rules:
- {level: Request, userGroups: [ops], resources: [{group: "*", resources: [pods/log, "*/status"]}]}
- {level: Request, users: [a], resources: [{resources: [pods/log, "*/status"], resourceNames: [z]}]}
- {level: Metadata, nonResourceURLs: [/a*]}
- {level: Metadata}
`))
	if err != nil {
		t.Fatal(err)
	}
	e, a := NewEvaluator(policy), attributes("a", "get", "", "pods", "status", "ns", "x")
	if n := testing.AllocsPerRun(100, func() { e.Decide(a) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzParse: no text makes the parser panic, and what it accepts has rules with levels.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head + "rules: [{level: None, resources: [{group: apps, resources: [a/b]}]}]"))
	f.Add([]byte(`{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"None","nonResourceURLs":[""]}]}`))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		policy, err := Parse(data)
		if err != nil {
			return
		}
		for _, rule := range policy.Rules {
			if rule.Level != trail.None && !rule.Level.AtLeast(trail.Metadata) {
				t.Errorf("level %q", rule.Level)
			}
		}
		e := NewEvaluator(policy)
		e.Decide(path("/x"))
		e.Decide(attributes("a", "get", "", "pods", "log", "ns", "x"))
	})
}
