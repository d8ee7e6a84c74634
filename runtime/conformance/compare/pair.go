package main

import (
	"context"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pair is two servers, in the order of the table's columns.
type pair struct{ servers []*server }

// pairs make the servers of -pair from what is in the folder of the authority.
var pairs = map[string]func(a *authority) ([]*server, error){
	"peer": peerAndOurs, "audit": auditedPeerAndOurs, "plain": plainTwice,
	"features": withoutAndWithFeatures, "access": withoutAndWithAccess,
	"fairness": withoutAndWithFairness, "observed": withoutAndWithObservation,
}

func pairNames() string { return strings.Join(slices.Sorted(maps.Keys(pairs)), ", ") }

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

// peer returns the server of k8s.io/sample-apiserver, which serves without a cluster.
func peer(a *authority, flags ...string) (*server, error) {
	none := a.file("nocluster.kubeconfig")
	flags = append(flags, "--kubeconfig="+none, "--authentication-kubeconfig="+none,
		"--authorization-kubeconfig="+none, "--authentication-skip-lookup", noFairness,
		"--disable-admission-plugins=NamespaceLifecycle,MutatingAdmissionPolicy,MutatingAdmissionWebhook,"+
			"ValidatingAdmissionPolicy,ValidatingAdmissionWebhook")
	return &server{name: "peer", title: "k8s.io/apiserver", program: "k8s.io/sample-apiserver", stored: "v1alpha1",
		other: "v1beta1", client: "admin", flags: flags}, os.WriteFile(none, []byte(noCluster), 0o600)
}

func peerAndOurs(a *authority) ([]*server, error) {
	peer, err := peer(a)
	return []*server{peer, plain(a, "apigen")}, err
}

// plainTwice are two servers without a feature: with -before, what commits since then cost such a server.
func plainTwice(a *authority) ([]*server, error) {
	ours := plain(a, "apigen")
	again := *ours
	again.name, again.flags = "again", []string{"--data-dir=" + a.file("again.data")}
	return []*server{ours, &again}, nil
}

// auditPolicy records each request.
const auditPolicy = `{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Metadata"}]}`

// audit returns the flags with which a server audits each request.
func audit(a *authority, server string) ([]string, error) {
	policy := a.file("policy.json")
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + a.file(server+".audit.log")},
		os.WriteFile(policy, []byte(auditPolicy), 0o600)
}

const (
	noFairness = "--enable-priority-and-fairness=false"
	// noAdmission turns off what runs for flunders.
	noAdmission = "--disable-admission-plugins=NamespaceLifecycle,ResourceQuota,MutatingAdmissionPolicy," +
		"MutatingAdmissionWebhook,ValidatingAdmissionPolicy,ValidatingAdmissionWebhook"
)

// auditedPeerAndOurs both audit each request. Ours asks RBAC about clients, with ten thousand bindings of others; the
// peer has no authorizer of its own, and its clients are administrators.
func auditedPeerAndOurs(a *authority) ([]*server, error) {
	theirs, err := audit(a, "peer")
	if err != nil {
		return nil, err
	}
	peer, err := peer(a, theirs...)
	if err != nil {
		return nil, err
	}
	ours, err := accessed(a, "apigen")
	return []*server{peer, ours}, err
}

// withoutAndWithAccess are two servers that hold ten thousand bindings of others: one lets everybody do everything, and
// one asks RBAC about clients, and audits each request.
func withoutAndWithAccess(a *authority) ([]*server, error) {
	ours, err := accessed(a, "RBAC, audit")
	free := governed(a, "free", "neither", noFairness, noAdmission, "--authorization-mode=AlwaysAllow")
	return []*server{free, ours}, err
}

func accessed(a *authority, title string) (*server, error) {
	flags, err := audit(a, "access")
	return governed(a, "access", title, append(flags, noFairness, noAdmission)...), err
}

// withoutAndWithFeatures are our server with nothing but flunders, and the one that governs itself: beside RBAC and
// audit, it queues requests fairly and runs admission.
func withoutAndWithFeatures(a *authority) ([]*server, error) {
	flags, err := audit(a, "features")
	return []*server{plain(a, "no feature"), governed(a, "features", "all features", flags...)}, err
}

// withoutAndWithFairness are two servers that govern themselves, one of which queues requests fairly.
func withoutAndWithFairness(a *authority) ([]*server, error) {
	return []*server{
		governed(a, "unfair", "without fairness", noFairness),
		governed(a, "fair", "with fairness"),
	}, nil
}

// tracingConfiguration traces a hundredth of the requests. The collector isn't there: spans are made and dropped.
const tracingConfiguration = `{"apiVersion":"apiserver.config.k8s.io/v1","kind":"TracingConfiguration",
"endpoint":"127.0.0.1:1","samplingRatePerMillion":10000}`

// withoutAndWithObservation are two servers that govern themselves: one without fairness, and one that queues requests
// fairly, traces them, and logs each.
func withoutAndWithObservation(a *authority) ([]*server, error) {
	tracing := a.file("tracing.json")
	return []*server{
		governed(a, "unobserved", "without", noFairness),
		governed(a, "observed", "fairness, tracing, log", "--tracing-config-file="+tracing, "--v=3"),
	}, os.WriteFile(tracing, []byte(tracingConfiguration), 0o600)
}

// governed returns our server with the features of one that governs itself.
func governed(a *authority, name, title string, flags ...string) *server {
	return &server{name: name, title: title, program: "apigen.dev/runtime/conformance/compare/features",
		stored: "v1beta1", other: "v1alpha1", client: "tester", prepare: bind,
		flags: append(flags, "--data-dir="+a.file(name+".data"))}
}

// servers returns what makes the servers of the pair. A program of an earlier commit gets no flags of features: it may
// lack them.
func (o options) servers() func(*authority) ([]*server, error) {
	if o.before == "" {
		return pairs[o.pair]
	}
	return func(a *authority) ([]*server, error) {
		both, err := pairs[o.pair](a)
		if err != nil {
			return nil, err
		}
		before := *both[0]
		before.name, before.title, before.flags = "before", "before", []string{"--data-dir=" + a.file("before.data")}
		before.binary, err = filepath.Abs(o.before)
		return []*server{&before, both[1]}, err
	}
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
		if s.binary == "" {
			programs[s.name] = s.program
		} else if err := os.Symlink(s.binary, filepath.Join(dir, s.name)); err != nil {
			return p, err
		}
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
