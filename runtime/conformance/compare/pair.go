package main

import (
	"context"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
)

// pair is two servers, in the order of the table's columns.
type pair struct{ servers []*server }

// pairs make the servers of -pair from what is in the folder of the authority.
var pairs = map[string]func(a *authority) ([]*server, error){
	"peer": peerAndOurs, "features": withoutAndWithFeatures, "fairness": withoutAndWithFairness,
}

// noCluster is the kubeconfig that the peer wants of a cluster; it sends nothing to it.
const noCluster = `{"apiVersion":"v1","kind":"Config","current-context":"none",
"clusters":[{"name":"none","cluster":{"server":"https://127.0.0.1:1"}}],
"contexts":[{"name":"none","context":{"cluster":"none","user":"none"}}],
"users":[{"name":"none","user":{"token":"none"}}]}`

// plain returns our server without a feature.
func plain(a *authority, title string) *server {
	return &server{name: "apigen", title: title, program: "apigen.dev/runtime/conformance/compare/wardle",
		stored: "v1beta1", other: "v1alpha1", client: "admin", flags: []string{"--data-dir=" + a.file("data")}}
}

func peerAndOurs(a *authority) ([]*server, error) {
	none := a.file("nocluster.kubeconfig")
	return []*server{
		{name: "peer", title: "k8s.io/apiserver", program: "k8s.io/sample-apiserver", stored: "v1alpha1",
			other: "v1beta1", client: "admin", flags: []string{"--kubeconfig=" + none,
				"--authentication-kubeconfig=" + none, "--authorization-kubeconfig=" + none,
				"--authentication-skip-lookup", "--enable-priority-and-fairness=false",
				"--disable-admission-plugins=NamespaceLifecycle,MutatingAdmissionPolicy,MutatingAdmissionWebhook," +
					"ValidatingAdmissionPolicy,ValidatingAdmissionWebhook"}},
		plain(a, "apigen"),
	}, os.WriteFile(none, []byte(noCluster), 0o600)
}

// auditPolicy records each request.
const auditPolicy = `{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Metadata"}]}`

// withoutAndWithFeatures are our server with nothing but flunders, whose clients are administrators, and the one that
// governs itself: it asks RBAC about clients, with ten thousand bindings of others, queues their requests fairly, runs
// admission, and audits each request.
func withoutAndWithFeatures(a *authority) ([]*server, error) {
	policy := a.file("policy.json")
	all := governed(a, "features", "all features", "--audit-policy-file="+policy,
		"--audit-log-path="+a.file("audit.log"))
	return []*server{plain(a, "no feature"), all}, os.WriteFile(policy, []byte(auditPolicy), 0o600)
}

// withoutAndWithFairness are two servers that govern themselves, one of which queues requests fairly.
func withoutAndWithFairness(a *authority) ([]*server, error) {
	return []*server{
		governed(a, "unfair", "without fairness", "--enable-priority-and-fairness=false"),
		governed(a, "fair", "with fairness"),
	}, nil
}

// governed returns our server with the features of one that governs itself.
func governed(a *authority, name, title string, flags ...string) *server {
	return &server{name: name, title: title, program: "apigen.dev/runtime/conformance/compare/features",
		stored: "v1beta1", other: "v1alpha1", client: "tester", prepare: bind,
		flags: append(flags, "--data-dir="+a.file(name+".data"))}
}

// startPair builds and starts both servers, each on an etcd of its own. If it fails, the pair has all that was started.
func startPair(ctx context.Context, dir string, servers func(*authority) ([]*server, error)) (p pair, err error) {
	a, err := newAuthority(dir)
	if err != nil {
		return p, err
	}
	masters := []string{"system:masters"}
	if err := errors.Join(a.issue("server", pkix.Name{CommonName: "server"}),
		a.issue("admin", pkix.Name{CommonName: "admin", Organization: masters}),
		a.issue("tester", pkix.Name{CommonName: "tester", Organization: []string{"testers"}}),
		a.issue("flooder", pkix.Name{CommonName: "flooder", Organization: masters})); err != nil {
		return p, err
	}
	both, err := servers(a)
	if err != nil {
		return p, err
	}
	programs := map[string]string{"etcd": "apigen.dev/runtime/internal/etcdtest/etcd",
		"flood": "apigen.dev/runtime/conformance/compare/flood"}
	for _, s := range both {
		programs[s.name] = s.program
	}
	for name, program := range programs {
		build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, name), program)
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return p, fmt.Errorf("go build %s: %w", program, err)
		}
	}
	for _, s := range both {
		p.servers = append(p.servers, s)
		if err := s.start(ctx, a); err != nil {
			text, _ := os.ReadFile(filepath.Join(dir, s.name+".log"))
			return p, fmt.Errorf("starting %s: %w\n%s", s.name, err, text)
		}
	}
	return p, nil
}

// wait returns when all processes have ended.
func (p pair) wait() {
	for _, s := range p.servers {
		for _, started := range []*process{s.process, s.etcd} {
			if started != nil {
				<-started.ended
			}
		}
	}
}

const (
	otherNamespaces = 100
	otherBindings   = 100 // in each of them
)

// bind lets testers do everything with flunders and with profiles, and binds ten thousand other users to roles.
func bind(ctx context.Context, s *server, a *authority) error {
	config, err := a.clientConfig("admin")
	if err != nil {
		return err
	}
	admin := *s
	admin.tls = config
	clients := admin.newClients(4)
	defer closeAll(clients)
	create := func(ctx context.Context, c *client, collection string, object any) error {
		body, err := json.Marshal(object)
		if err != nil {
			return err
		}
		return c.skip(ctx, request{method: http.MethodPost, url: s.url + collection, body: body})
	}
	const rbac = "/apis/rbac.authorization.k8s.io/v1"
	type object = map[string]any
	named := func(name string) object { return object{"name": name} }
	bound := func(kind, role, subject, to string) object {
		return object{"metadata": named(to),
			"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
			"subjects": []object{{"apiGroup": "rbac.authorization.k8s.io", "kind": subject, "name": to}}}
	}
	every := []string{"*"}
	if err := errors.Join(
		create(ctx, clients[0], rbac+"/clusterroles", object{"metadata": named("tester"), "rules": []object{
			{"apiGroups": []string{"wardle.example.com"}, "resources": every, "verbs": every},
			{"nonResourceURLs": every, "verbs": every}}}),
		create(ctx, clients[0], rbac+"/clusterrolebindings", bound("ClusterRole", "tester", "Group", "testers")),
	); err != nil {
		return err
	}
	namespace := func(i int) string { return fmt.Sprintf("other-%02d", i) }
	if err := concurrently(ctx, clients, otherNamespaces, func(ctx context.Context, c *client, i int) error {
		return create(ctx, c, "/api/v1/namespaces", object{"metadata": named(namespace(i))})
	}); err != nil {
		return err
	}
	return concurrently(ctx, clients, otherNamespaces*otherBindings, func(ctx context.Context, c *client, i int) error {
		return create(ctx, c, rbac+"/namespaces/"+namespace(i%otherNamespaces)+"/rolebindings",
			bound("Role", fmt.Sprintf("role-%d", i%50), "User", fmt.Sprintf("user-%05d", i)))
	})
}
