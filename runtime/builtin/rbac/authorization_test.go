package rbac_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/rbac"
	authrbac "apigen.dev/runtime/internal/access/rbac"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/embedded"
	"apigen.dev/runtime/storage/memory"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// running is a server with RBAC. Its users are admin, of system:masters, and all others by their name as a token.
type running struct {
	testing.TB
	url    string
	client *http.Client
	// authority is the server's own, in PEM.
	authority *pem.Block
}

// names authenticates a token as the user of that name.
type names struct{}

func (names) AuthenticateToken(_ context.Context, token string, _ []string) (*auth.Identity, error) {
	user := &auth.User{Name: token, Groups: []string{auth.Authenticated}}
	if token == "admin" {
		user.Groups = append(user.Groups, auth.Masters)
	}
	return &auth.Identity{User: user}, nil
}

// start starts a server on a backend, for widgets, the feature's group and others, and waits until it is ready.
func start(t testing.TB, backend storage.Backend, others ...registry.Group) *running {
	t.Helper()
	tlsServer := httptest.NewTLSServer(nil)
	certificate, authority := tlsServer.TLS.Certificates[0], tlsServer.Certificate()
	tlsServer.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	feature := &rbac.Feature{}
	widgets := registry.Group{
		Name: "shop.example.com", Versions: []string{"v1", "v1beta1"},
		Resources: []registry.Resource{registry.New(shop.Definition())},
	}
	config := server.Config{
		Groups: slices.Concat([]registry.Group{widgets}, feature.Groups(), others), Log: slog.New(slog.DiscardHandler),
		Storage: server.Storage{Backend: backend, Verify: true},
		Serving: server.Serving{Listener: listener, Certificate: certificate, ShutdownTimeout: 10 * time.Second},
		Contribution: server.Contribution{
			Authentication: auth.Authentication{Tokens: []auth.TokenAuthenticator{names{}}},
		},
	}
	if err := config.Use(t.Context(), feature); err != nil {
		t.Fatal(err)
	}
	config.Authorizer = config.Modes["RBAC"]
	s, err := server.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	r := &running{TB: t, url: s.URL(), client: &http.Client{Transport: transport},
		authority: &pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw}}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		transport.CloseIdleConnections()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	r.until(time.Minute, "the server is ready", func() bool { return r.code("admin", "GET", "/readyz", "") == 200 })
	return r
}

// until asks until a condition holds.
func (r *running) until(bound time.Duration, what string, holds func() bool) {
	r.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(bound); !holds(); <-tick.C {
		if time.Now().After(end) {
			r.Fatalf("%s: not within %s", what, bound)
		}
	}
}

func (r *running) do(user, method, path, body string) (code int, answer []byte) {
	r.Helper()
	request, err := http.NewRequestWithContext(r.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+user)
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := r.client.Do(request)
	if err != nil {
		r.Fatal(err)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		r.Fatal(err)
	}
	return response.StatusCode, bytes.TrimSpace(answer)
}

func (r *running) code(user, method, path, body string) int {
	r.Helper()
	code, _ := r.do(user, method, path, body)
	return code
}

// must sends a request of the administrator, which must succeed.
func (r *running) must(method, path, body string) []byte {
	r.Helper()
	code, answer := r.do("admin", method, path, body)
	if code/100 != 2 {
		r.Fatalf("%s %s: %d %s", method, path, code, answer)
	}
	return answer
}

const (
	group    = "/apis/rbac.authorization.k8s.io/v1/"
	bindings = group + "clusterrolebindings"
	roles    = group + "clusterroles"
	widgets  = "/apis/shop.example.com/v1/namespaces/ns/widgets"
)

func bindingOf(name, role string, users ...string) string {
	b := rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
	b.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	for _, user := range users {
		b.Subjects = append(b.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "User", Name: user})
	}
	data, _ := json.Marshal(b)
	return string(data)
}

func (r *running) clusterRole(name string) *rbacv1.ClusterRole {
	r.Helper()
	var role rbacv1.ClusterRole
	if err := json.Unmarshal(r.must("GET", roles+"/"+name, ""), &role); err != nil {
		r.Fatal(err)
	}
	return &role
}

// TestChangeOfABindingHolds: for the next request to the server that answered it, and within a second on another one.
func TestChangeOfABindingHolds(t *testing.T) {
	t.Run("memory", func(t *testing.T) { changeHolds(t, memory.New()) })
	t.Run("etcd", func(t *testing.T) {
		backend, err := embedded.Open(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		changeHolds(t, backend)
	})
}

func changeHolds(t *testing.T, backend storage.Backend) {
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
	})
	first, second := start(t, backend), start(t, backend)
	var took []time.Duration // until the other replica knows
	elsewhere := func(r *running, what, user string, code int) {
		begin := time.Now()
		r.until(time.Minute, what, func() bool { return r.code(user, "GET", widgets, "") == code })
		took = append(took, time.Since(begin))
	}
	for i := range 20 {
		user := fmt.Sprint("ann", i)
		if code := first.code(user, "GET", widgets, ""); code != 403 {
			t.Fatalf("before: %d", code)
		}
		first.must("POST", bindings, bindingOf(user, "view", user))
		if code := first.code(user, "GET", widgets, ""); code != 200 {
			t.Fatalf("bound: %d", code)
		}
		elsewhere(second, "bound", user, 200)
		switch i % 3 {
		case 0:
			second.must("DELETE", bindings+"/"+user, "")
		case 1:
			second.must("PATCH", bindings+"/"+user, `{"subjects":null}`)
		case 2:
			second.must("DELETE", bindings+"?fieldSelector=metadata.name="+user, "")
		}
		if code := second.code(user, "GET", widgets, ""); code != 403 {
			t.Fatalf("unbound: %d", code)
		}
		elsewhere(first, "unbound", user, 403)
	}
	// A busy machine may delay some of them.
	slices.Sort(took)
	if median := took[len(took)/2]; median > time.Second {
		t.Errorf("the other replica knows after %s", median)
	}
	t.Logf("the other replica knows after %s, at most %s", took[len(took)/2], took[len(took)-1])
}

// TestBootstrapRoles: a server is ready with kube-apiserver's roles, and with those of its own kinds.
func TestBootstrapRoles(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	r := start(t, backend)
	if code := r.code("ann", "GET", "/apis", ""); code != 200 {
		t.Errorf("discovery: %d", code)
	}
	code, answer := r.do("ann", "GET", widgets, "")
	want := `widgets.shop.example.com is forbidden: User \"ann\" cannot list resource \"widgets\" in API group ` +
		`\"shop.example.com\" in the namespace \"ns\"`
	if code != 403 || !strings.Contains(string(answer), want) {
		t.Errorf("%d %s", code, answer)
	}
	for role, want := range map[string][2]string{ // a verb that it allows on widgets, and one that it doesn't
		"view": {"list", "create"}, "edit": {"create", "escalate"}, "admin": {"create", ""},
		"shop.example.com:view": {"get", "delete"}, "shop.example.com:edit": {"deletecollection", "get"},
	} {
		has := func(verb string) bool {
			return slices.ContainsFunc(r.clusterRole(role).Rules, func(rule rbacv1.PolicyRule) bool {
				return slices.Contains(rule.Resources, "widgets") && slices.Contains(rule.Verbs, verb)
			})
		}
		if !has(want[0]) || has(want[1]) {
			t.Errorf("%s: %+v", role, r.clusterRole(role).Rules)
		}
	}
	version := r.clusterRole("view").ResourceVersion
	r.must("PATCH", roles+"/system:basic-user", `{"rules":[{"verbs":["get"],"apiGroups":["x"],"resources":["y"]}]}`)
	r.must("PATCH", roles+"/system:monitoring",
		`{"rules":null,"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}}}`)
	r.must("PATCH", bindings+"/system:basic-user", `{"subjects":null}`)
	r.must("DELETE", bindings+"/system:discovery", "")
	r.must("POST", bindings, bindingOf("system:discovery", "view", "ann"))

	again := start(t, backend)
	if rules := again.clusterRole("system:basic-user").Rules; len(rules) < 2 || rules[0].Resources[0] != "y" {
		t.Errorf("missing rules: %+v", rules)
	}
	if rules := again.clusterRole("system:monitoring").Rules; len(rules) > 0 {
		t.Errorf("a role that an administrator keeps: %+v", rules)
	}
	for _, name := range []string{"system:basic-user", "system:discovery"} {
		var b rbacv1.ClusterRoleBinding
		if err := json.Unmarshal(again.must("GET", bindings+"/"+name, ""), &b); err != nil || len(b.Subjects) != 1 ||
			b.Subjects[0].Name != auth.Authenticated || b.RoleRef.Name != name {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
	}
	if now := again.clusterRole("view").ResourceVersion; now != version {
		t.Errorf("a second start wrote view: %s, was %s", now, version)
	}
}

// TestReadyMadeGroups: the roles of kube-apiserver cover the ready-made groups, so that they get no roles of their own.
func TestReadyMadeGroups(t *testing.T) {
	policy, err := authrbac.KubernetesPolicy()
	if err != nil {
		t.Fatal(err)
	}
	before := len(policy.ClusterRoles)
	for _, feature := range builtin.Standalone() {
		for _, group := range feature.Groups() {
			for _, resource := range group.Resources {
				policy.AddKinds([]*verb.Info{resource.Info()})
			}
		}
	}
	for _, added := range policy.ClusterRoles[before:] {
		t.Errorf("the server makes %s", added.Name)
	}
}

// TestAggregation: a role has the rules of those that its selectors select, and is written only when they change.
func TestAggregation(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	r := start(t, backend)
	start(t, backend) // a second one does the same
	has := func(resource string) bool {
		return slices.ContainsFunc(r.clusterRole("edit").Rules, func(rule rbacv1.PolicyRule) bool {
			return slices.Contains(rule.Resources, resource)
		})
	}
	r.must("POST", roles, `{"metadata":{"name":"mine",`+
		`"labels":{"rbac.authorization.k8s.io/aggregate-to-edit":"true"}},`+
		`"rules":[{"verbs":["get"],"apiGroups":["mine.example.com"],"resources":["things"]}]}`)
	r.until(time.Minute, "edit has it", func() bool { return has("things") })
	version := r.clusterRole("edit").ResourceVersion
	r.must("POST", roles, `{"metadata":{"name":"other"},"rules":[]}`)
	r.must("PATCH", roles+"/mine",
		`{"rules":[{"verbs":["get"],"apiGroups":["mine.example.com"],"resources":["others"]}]}`)
	r.until(time.Minute, "edit follows", func() bool { return has("others") && !has("things") })
	r.must("DELETE", roles+"/mine", "")
	r.until(time.Minute, "edit lost it", func() bool { return !has("others") })
	if now := r.clusterRole("edit"); now.ResourceVersion == version || now.ManagedFields[0].Manager == "" {
		t.Errorf("%+v", now.ObjectMeta)
	}
}

// TestAggregationManagedFields: the rules of an aggregated role have the entry that kube-controller-manager leaves: an
// apply of the controller. A user's apply of the same role keeps its own.
func TestAggregationManagedFields(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	r := start(t, backend)
	r.must("POST", roles, `{"metadata":{"name":"part","labels":{"for":"all"}},`+
		`"rules":[{"verbs":["get"],"apiGroups":["mine.example.com"],"resources":["things"]}]}`)
	r.apply("all", `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"all"},`+
		`"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"for":"all"}}]},"rules":[]}`)
	r.until(time.Minute, "all has the rules", func() bool { return len(r.clusterRole("all").Rules) == 1 })
	r.wantManagers("all", "clusterrole-aggregation-controller Apply {\"f:rules\":{}}",
		"user Apply {\"f:aggregationRule\":{\"f:clusterRoleSelectors\":{}}}")
	r.wantManagers("edit", "clusterrole-aggregation-controller Apply {\"f:rules\":{}}",
		`rbac-bootstrap Update {"f:aggregationRule":{".":{},"f:clusterRoleSelectors":{}},`+
			`"f:metadata":{"f:annotations":{".":{},"f:rbac.authorization.kubernetes.io/autoupdate":{}},`+
			`"f:labels":{".":{},"f:kubernetes.io/bootstrapping":{},`+
			`"f:rbac.authorization.k8s.io/aggregate-to-admin":{}}}}`)
	r.must("DELETE", roles+"/part", "")
	r.until(time.Minute, "all has no rules", func() bool { return len(r.clusterRole("all").Rules) == 0 })
	r.wantManagers("all", "user Apply {\"f:aggregationRule\":{\"f:clusterRoleSelectors\":{}}}")
}

// apply applies a ClusterRole as the field manager user.
func (r *running) apply(name, configuration string) {
	r.Helper()
	request, err := http.NewRequestWithContext(r.Context(), http.MethodPatch,
		r.url+roles+"/"+name+"?fieldManager=user", strings.NewReader(configuration))
	if err != nil {
		r.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer admin")
	request.Header.Set("Content-Type", "application/apply-patch+yaml")
	response, err := r.client.Do(request)
	if err != nil {
		r.Fatal(err)
	}
	defer response.Body.Close()
	if answer, _ := io.ReadAll(response.Body); response.StatusCode/100 != 2 {
		r.Fatalf("%d %s", response.StatusCode, answer)
	}
}

func (r *running) wantManagers(name string, want ...string) {
	r.Helper()
	var got []string
	for _, entry := range r.clusterRole(name).ManagedFields {
		got = append(got, fmt.Sprintf("%s %s %s", entry.Manager, entry.Operation, entry.FieldsV1.GetRawString()))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		r.Errorf("managers of %s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestEscalation: nobody grants by a role or a binding what they may not do.
func TestEscalation(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	r := start(t, backend)
	r.must("POST", roles, `{"metadata":{"name":"author"},"rules":[{"verbs":["*"],`+
		`"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles","clusterrolebindings"]}]}`)
	r.must("POST", roles, `{"metadata":{"name":"reader"},"rules":[{"verbs":["get"],`+
		`"apiGroups":["shop.example.com"],"resources":["widgets"]}]}`)
	writer := strings.ReplaceAll(bindingOf("author", "author", "ann"), `"*"`, "")
	r.must("POST", bindings, writer)
	// The verb * has escalate and bind in it; ann gets the others.
	r.must("PATCH", roles+"/author", `{"rules":[{"verbs":["get","create","update","patch"],`+
		`"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles","clusterrolebindings"]}]}`)
	role := `{"metadata":{"name":"x"},"rules":[{"verbs":["get"],"apiGroups":["shop.example.com"],` +
		`"resources":["widgets"]}]}`
	const message = `user \"ann\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not ` +
		`currently held:\n{APIGroups:[\"shop.example.com\"], Resources:[\"widgets\"], Verbs:[\"get\"]}`
	forbidden := func(method, path, body, want string) {
		t.Helper()
		code, answer := r.do("ann", method, path, body)
		if code != 403 || !strings.Contains(string(answer), `"message":"`+want+`","reason":"Forbidden"`) {
			t.Errorf("%s %s: %d %s\nwant %s", method, path, code, answer, want)
		}
	}
	forbidden("POST", roles, role, `clusterroles.rbac.authorization.k8s.io \"x\" is forbidden: `+message)
	forbidden("PUT", roles+"/x", role, `clusterroles.rbac.authorization.k8s.io \"x\" is forbidden: `+message)
	forbidden("POST", bindings, bindingOf("x", "reader", "eve"),
		`clusterrolebindings.rbac.authorization.k8s.io \"x\" is forbidden: `+message)
	if code, answer := r.do("ann", "POST", bindings, bindingOf("x", "gone", "eve")); code != 404 {
		t.Errorf("%d %s", code, answer)
	}
	for _, kind := range []string{"clusterrole", "Deployment", ""} { // no kind of role
		body := strings.Replace(bindingOf("x", "reader", "eve"), `"kind":"ClusterRole"`, `"kind":"`+kind+`"`, 1)
		code, answer := r.do("ann", "POST", bindings, body)
		if code != 422 || !strings.Contains(string(answer), "roleRef.kind") {
			t.Errorf("%s: %d %s", kind, code, answer)
		}
	}
	r.must("POST", bindings, bindingOf("ann-reads", "reader", "ann"))
	for _, write := range [][2]string{{roles, role}, {bindings, bindingOf("x", "reader", "eve")}} {
		if code, answer := r.do("ann", "POST", write[0], write[1]); code != 201 {
			t.Errorf("%d %s", code, answer)
		}
	}
	forbidden("PATCH", roles+"/x", `{"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}}`,
		`clusterroles.rbac.authorization.k8s.io \"x\" is forbidden: must have cluster-admin privileges to use the `+
			`aggregationRule`)
}
