package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"apigen.dev/runtime/conformance/exchange"
	"apigen.dev/runtime/internal/etcdtest"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/rest"
)

const inProtobuf = "--storage-media-type=application/vnd.kubernetes.protobuf"

// TestStoredBytes: what kube-apiserver wrote to etcd is what a server writes that stores protobuf: nothing of it is
// stale, no write that changes nothing rewrites it, and it is shown as kube-apiserver showed it. After a migration to
// JSON and back the bytes are the same.
func TestStoredBytes(t *testing.T) {
	store := etcdtest.Start(t)
	raw, err := clientv3.New(clientv3.Config{Endpoints: []string{store.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() }) // etcd is gone by then
	recorded, err := exchange.StoredObjects()
	if err != nil || len(recorded) < 9 {
		t.Fatalf("%d recorded objects, %v", len(recorded), err)
	}
	for key, object := range recorded {
		if _, err := raw.Put(t.Context(), key, string(object.Value)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string) {
		t.Helper()
		for key, want := range recorded {
			got, err := raw.Get(t.Context(), key)
			if err != nil || len(got.Kvs) != 1 || string(got.Kvs[0].Value) != string(want.Value) {
				t.Errorf("%s: %s is\n%q, %v\nkube-apiserver wrote\n%q", when, key, got.Kvs, err, want.Value)
			}
		}
	}
	p := startServing(t, clusterName, "--etcd-servers="+store.Endpoint(), inProtobuf,
		"--enable-garbage-collector=false") // it would look for owners that were not recorded
	config := newTarget(t, p.kubeconfig()).config
	for key, want := range recorded {
		checkShown(t, config, key, want)
	}
	check("read, and patched with nothing")
	for _, c := range []struct {
		flags []string
		stale int
	}{{[]string{inProtobuf, "--dry-run"}, 0}, {nil, 1}, {nil, 0}, {[]string{inProtobuf}, 1}} {
		out := migrated(p, store.Endpoint(), c.flags...)
		if n := strings.Count(out, fmt.Sprintf(": 1 of 1 read, %d stale", c.stale)); n != len(recorded) {
			t.Errorf("migrate %v finds %d times %d stale:\n%s", c.flags, n, c.stale, out)
		}
	}
	check("migrated to JSON and back")
}

// checkShown reads an object in JSON, and patches it with nothing.
func checkShown(t *testing.T, config *rest.Config, key string, want exchange.Stored) {
	t.Helper()
	read := ask(t, config, http.MethodGet, want.Path, "")
	patched := ask(t, config, http.MethodPatch, want.Path, "{}")
	if !reflect.DeepEqual(read, patched) {
		t.Errorf("%s: a patch of nothing changed\n%v\nto\n%v", key, read, patched)
	}
	var theirs map[string]any
	if err := json.Unmarshal(want.Object, &theirs); err != nil {
		t.Fatal(err)
	}
	for _, object := range []map[string]any{read, theirs} {
		delete(object["metadata"].(map[string]any), "resourceVersion")
	}
	if !reflect.DeepEqual(read, theirs) {
		t.Errorf("%s is shown as\n%v\nkube-apiserver showed\n%v", key, read, theirs)
	}
}

// ask sends a request, and returns the object in the answer.
func ask(t *testing.T, config *rest.Config, method, path, body string) map[string]any {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, config.Host+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/merge-patch+json")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s, %v\n%s", method, path, response.Status, err, data)
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	return object
}
