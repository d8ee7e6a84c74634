//go:build peer

package conformance

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const encryption = `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: ['*.wardle.example.com']
  providers:
  - aesgcm: {keys: [{name: shared, secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}
  - identity: {}
`

// TestPeerEncrypted: one encryption configuration, two servers, and each reads what the other one encrypted.
func TestPeerEncrypted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "encryption.yaml")
	if err := os.WriteFile(path, []byte(encryption), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startPair(t, "--encryption-provider-config="+path)
	t.Run("lives", func(t *testing.T) { p.each(t, testLives) })
	t.Run("watches", func(t *testing.T) { p.each(t, testWatches) })
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
	got, err := client.Get(t.Context(), prefix+"/wardle.example.com/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Kvs) < 2 {
		t.Errorf("%d values", len(got.Kvs))
	}
	for _, kv := range got.Kvs {
		if !bytes.HasPrefix(kv.Value, []byte("k8s:enc:aesgcm:v1:shared:")) ||
			bytes.Contains(kv.Value, []byte("flunder")) {
			t.Errorf("%s: %q", kv.Key, kv.Value)
		}
	}
}
