//go:build peer

package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// prefix is upstream's default: its keys are <prefix>/<group>/<resource>/...
const prefix = "/registry/wardle.example.com"

// nocluster is the kubeconfig of the cluster that upstream's server is told to ask, and never needs to.
const nocluster = `apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
users: [{name: none, user: {token: none}}]
current-context: none
`

// pair is our server and upstream's on one etcd.
type pair struct {
	store        *etcdtest.Process
	ours, theirs *rest.Config
}

// startPair starts both, with flags that both know; the build of upstream's takes minutes where the compiler's cache is
// cold.
func startPair(t *testing.T, flags ...string) *pair {
	t.Helper()
	store := etcdtest.Start(t)
	own := startProcess(t, append([]string{"--etcd-servers=" + store.Endpoint(),
		"--etcd-prefix=" + prefix}, flags...)...)
	p := &pair{store: store, ours: newTarget(t, own.kubeconfig()).config}
	p.theirs = startUpstream(t, store, filepath.Join(own.dir, "data", "pki", "ca.crt"), p.ours, flags...)
	return p
}

// startUpstream runs k8s.io/sample-apiserver. Who is an administrator of our server is one of this one, too.
func startUpstream(
	t *testing.T, store *etcdtest.Process, authority string, admin *rest.Config, flags ...string,
) *rest.Config {
	t.Helper()
	dir := t.TempDir()
	binary, kubeconfig := filepath.Join(dir, "sample-apiserver"), filepath.Join(dir, "nocluster.kubeconfig")
	goRun(t, "build", "-ldflags=-s -w", "-o", binary, "k8s.io/sample-apiserver")
	if err := os.WriteFile(kubeconfig, []byte(nocluster), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	port := etcdtest.FreePort(t)
	command := exec.Command(binary, "--etcd-servers="+store.Endpoint(), "--bind-address=127.0.0.1",
		"--secure-port="+strconv.Itoa(port),
		"--cert-dir="+dir, "--client-ca-file="+authority, "--authentication-skip-lookup", "--kubeconfig="+kubeconfig,
		"--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
		"--enable-priority-and-fairness=false",
		"--disable-admission-plugins=NamespaceLifecycle,MutatingAdmissionPolicy,MutatingAdmissionWebhook,"+
			"ValidatingAdmissionPolicy,ValidatingAdmissionWebhook")
	command.Args = append(command.Args, flags...)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		_ = log.Close()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("upstream's log:\n%s", text)
		}
	})
	config := rest.CopyConfig(admin)
	config.Host = fmt.Sprintf("https://127.0.0.1:%d", port)
	config.Insecure, config.CAData, config.CAFile = true, nil, "" // its certificate is one that it made for itself
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	ready := func() bool {
		response, err := client.Get(config.Host + "/readyz")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	}
	eventually(t, ready, func() string { return "upstream's server does not get ready" })
	return config
}

// each runs a test both ways: what the one writes, the other reads.
func (p *pair) each(t *testing.T, test func(t *testing.T, writer, reader *rest.Config)) {
	t.Run("ours to theirs", func(t *testing.T) { test(t, p.ours, p.theirs) })
	t.Run("theirs to ours", func(t *testing.T) { test(t, p.theirs, p.ours) })
}

// TestPeer: two servers, one storage, and no client can tell which of them it talks to.
func TestPeer(t *testing.T) {
	p := startPair(t)
	t.Run("lives", func(t *testing.T) { p.each(t, testLives) })
	t.Run("watches", func(t *testing.T) { p.each(t, testWatches) })
	t.Run("pages", func(t *testing.T) { p.each(t, testPages) })
	t.Run("fischers", func(t *testing.T) { p.each(t, testFischers) })
	t.Run("churn", func(t *testing.T) { testSharedChurn(t, p) })
	t.Run("keys", func(t *testing.T) { testKeys(t, p) })
}

// old is a flunder of v1alpha1.
func old(name string) *unstructured.Unstructured {
	u := flunder(name)
	u.SetAPIVersion("wardle.example.com/v1alpha1")
	u.Object["spec"] = map[string]any{"reference": "someone"} // its type is defaulted
	return u
}

// testLives: an object that is written in either version, changed and deleted by turns, is the same on both servers, in
// both versions, byte for byte of JSON.
func testLives(t *testing.T, writer, reader *rest.Config) {
	for _, written := range []struct {
		resource schema.GroupVersionResource
		object   *unstructured.Unstructured
	}{{flunders, flunder("life")}, {oldFlunders, old("life")}} {
		mine := newDynamic(t, writer).Resource(written.resource).Namespace("default")
		other := newDynamic(t, reader).Resource(written.resource).Namespace("default")
		created, err := mine.Create(t.Context(), written.object, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, writer, reader, "life", created, written.resource)
		patched, err := other.Patch(t.Context(), "life", types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"by":"the-other"},"finalizers":["example.com/hold"]}}`),
			metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, writer, reader, "life", patched, written.resource)
		if _, err := mine.Update(t.Context(), created, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("an update over one of the other server: %v", err)
		}
		patched.SetAnnotations(map[string]string{"by": "me"})
		updated, err := mine.Update(t.Context(), patched, metav1.UpdateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, writer, reader, "life", updated, written.resource)
		if err := mine.Delete(t.Context(), "life", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		held, err := other.Get(t.Context(), "life", metav1.GetOptions{})
		if err != nil || held.GetDeletionTimestamp() == nil {
			t.Fatalf("deleted, with a finalizer: %v, %v", held, err)
		}
		same(t, writer, reader, "life", held, written.resource)
		if _, err := other.Patch(t.Context(), "life", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
			metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := mine.Get(t.Context(), "life", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("released: %v", err)
		}
	}
}

// same checks that both servers show an object alike, in every version, and as it was answered.
func same(
	t *testing.T, writer, reader *rest.Config, name string, answered *unstructured.Unstructured,
	in schema.GroupVersionResource,
) {
	t.Helper()
	for _, resource := range []schema.GroupVersionResource{flunders, oldFlunders} {
		one, other := shown(t, writer, resource, name), shown(t, reader, resource, name)
		if diff := cmp.Diff(one, other); diff != "" {
			t.Errorf("%s: the servers differ (-writer +reader):\n%s", resource.Version, diff)
		}
		if diff := cmp.Diff(answered.Object, one); resource == in && diff != "" {
			t.Errorf("%s: what was answered is not what is read:\n%s", resource.Version, diff)
		}
	}
}

func shown(t *testing.T, config *rest.Config, resource schema.GroupVersionResource, name string) map[string]any {
	t.Helper()
	got, err := newDynamic(t, config).Resource(resource).Namespace("default").Get(t.Context(), name,
		metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return got.Object
}

// testWatches: a watch at one server sees what is written at the other, from the revision on that either gave out.
func testWatches(t *testing.T, writer, reader *rest.Config) {
	for _, resource := range []schema.GroupVersionResource{flunders, oldFlunders} {
		mine := newDynamic(t, writer).Resource(flunders).Namespace("default")
		other := newDynamic(t, reader).Resource(resource).Namespace("default")
		list, err := mine.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		watching, err := other.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
		if err != nil {
			t.Fatal(err)
		}
		defer watching.Stop()
		created, err := mine.Create(t.Context(), flunder("seen"), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mine.Patch(t.Context(), "seen", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`),
			metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := mine.Delete(t.Context(), "seen", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if got, want := take(t, watching, 3),
			[]string{"ADDED seen", "MODIFIED seen", "DELETED seen"}; !cmp.Equal(got, want) {
			t.Errorf("%s: %q", resource.Version, got)
		}
		again, err := other.Watch(t.Context(), metav1.ListOptions{ResourceVersion: created.GetResourceVersion()})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Stop()
		if got, want := take(t, again, 2), []string{"MODIFIED seen", "DELETED seen"}; !cmp.Equal(got, want) {
			t.Errorf("%s, from the creation on: %q", resource.Version, got)
		}
	}
}

// testPages: a list that was begun at one server is finished by the other.
func testPages(t *testing.T, writer, reader *rest.Config) {
	mine, other := newDynamic(t, writer).Resource(flunders).Namespace("pages"),
		newDynamic(t, reader).Resource(flunders).Namespace("pages")
	for i := range 10 {
		f := flunder(nth(i))
		f.SetNamespace("pages")
		if _, err := mine.Create(t.Context(), f, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	first, err := mine.List(t.Context(), metav1.ListOptions{Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	rest, err := other.List(t.Context(), metav1.ListOptions{Continue: first.GetContinue()})
	if err != nil {
		t.Fatal(err)
	}
	if got := append(namesOf(first.Items), namesOf(rest.Items)...); len(got) != 10 ||
		rest.GetResourceVersion() != first.GetResourceVersion() {
		t.Errorf("%q, of %s and %s", got, first.GetResourceVersion(), rest.GetResourceVersion())
	}
	if err := other.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if left, err := mine.List(t.Context(), metav1.ListOptions{}); err != nil || len(left.Items) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// testFischers: a kind without namespaces.
func testFischers(t *testing.T, writer, reader *rest.Config) {
	mine, other := newDynamic(t, writer).Resource(fischers), newDynamic(t, reader).Resource(fischers)
	created, err := mine.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "wardle.example.com/v1alpha1", "kind": "Fischer",
		"metadata":           map[string]any{"generateName": "fritz-"},
		"disallowedFlunders": []any{"banned"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := other.Get(t.Context(), created.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(created.Object, got.Object); diff != "" {
		t.Error(diff)
	}
	if err := other.Delete(t.Context(), created.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := mine.Get(t.Context(), created.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("deleted: %v", err)
	}
}

// testSharedChurn: clients write through both servers at once, and informers at both end with the same.
func testSharedChurn(t *testing.T, p *pair) {
	observers := []*observer{
		observe(t, p.ours, dynamicInformer(t, flunders)), observe(t, p.theirs, dynamicInformer(t, flunders)),
		observe(t, p.ours, dynamicInformer(t, oldFlunders)), observe(t, p.theirs, dynamicInformer(t, oldFlunders)),
	}
	configs := []*rest.Config{p.ours, p.theirs}
	concurrently(4, func(worker int) {
		client := newDynamic(t, configs[worker%2]).Resource(flunders).Namespace("default")
		var created atomic.Int64
		for i := range 60 {
			churn(t, client, worker*60+i, &created)
		}
	})
	want := stored(t, p.theirs, flunders)
	if diff := cmp.Diff(want, stored(t, p.ours, flunders)); diff != "" || len(want) != 160 {
		t.Errorf("%d objects are left; the servers differ (-theirs +ours):\n%s", len(want), diff)
	}
	for _, o := range observers {
		o.converges(t, want)
	}
}

// testKeys: both write the same kind of values to the same kind of keys.
func testKeys(t *testing.T, p *pair) {
	for name, config := range map[string]*rest.Config{"ours": p.ours, "theirs": p.theirs} {
		if _, err := newDynamic(t, config).Resource(flunders).Namespace("keys").
			Create(t.Context(), flunderIn("keys", name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{p.store.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	got, err := client.Get(t.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, kv := range got.Kvs {
		if strings.HasPrefix(string(kv.Key), prefix+"/_apigen/") {
			continue // our own records stand where no group can
		}
		var meta metav1.PartialObjectMetadata
		if !strings.HasPrefix(string(kv.Key), prefix+"/wardle.example.com/flunders/") {
			t.Errorf("the key %s", kv.Key)
		}
		if err := json.Unmarshal(kv.Value, &meta); err != nil || meta.Kind != "Flunder" || meta.ResourceVersion != "" {
			t.Errorf("%s: %s", kv.Key, kv.Value)
		}
		found[string(kv.Key)] = true
	}
	for _, name := range []string{"ours", "theirs"} {
		if !found[prefix+"/wardle.example.com/flunders/keys/"+name] {
			t.Errorf("%s is not where it should be", name)
		}
	}
}

func flunderIn(namespace, name string) *unstructured.Unstructured {
	f := flunder(name)
	f.SetNamespace(namespace)
	return f
}
