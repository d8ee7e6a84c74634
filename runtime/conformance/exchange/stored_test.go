//go:build record

package exchange

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// storedObjects are objects as clients send them, by the keys under which kube-apiserver stores them.
var storedObjects = map[string]struct{ path, object string }{
	"configmaps/default/map": {"/api/v1/namespaces/default/configmaps/map", `{"apiVersion":"v1","kind":"ConfigMap",
		"metadata":{"name":"map","labels":{"b":"2","a":"1"},"annotations":{"z":"<&>\u2028","y":""},
		"finalizers":["example.com/hold"]},"data":{"b":"2","a":"1","empty":""},"binaryData":{"raw":"AAH/"},
		"immutable":true}`},
	"secrets/default/key": {"/api/v1/namespaces/default/secrets/key", `{"apiVersion":"v1","kind":"Secret",
		"metadata":{"name":"key"},"data":{"k":"AAH/","none":""},"stringData":{"s":"text"}}`},
	"serviceaccounts/default/account": {"/api/v1/namespaces/default/serviceaccounts/account", `{"apiVersion":"v1",
		"kind":"ServiceAccount","metadata":{"name":"account","ownerReferences":[{"apiVersion":"v1","kind":"Node",
		"name":"one","uid":"u","blockOwnerDeletion":true}]},"secrets":[{"name":"key"}]}`},
	"minions/one": {"/api/v1/nodes/one", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"one"},
		"spec":{"podCIDR":"10.1.0.0/24","taints":[{"key":"k","effect":"NoSchedule"}]}}`},
	"pods/default/one": {"/api/v1/namespaces/default/pods/one", `{"apiVersion":"v1","kind":"Pod",
		"metadata":{"name":"one"},"spec":{"containers":[{"name":"main","image":"main:1",
		"env":[{"name":"A","value":"b"}],
		"ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"250m","memory":"64Mi"}},
		"livenessProbe":{"httpGet":{"path":"/","port":"web"}}}],"volumes":[{"name":"v","emptyDir":{}}],
		"nodeSelector":{"b":"2","a":"1"}}}`},
	"deployments/default/web": {"/apis/apps/v1/namespaces/default/deployments/web", `{"apiVersion":"apps/v1",
		"kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"main:1"}]}},
		"strategy":{"rollingUpdate":{"maxSurge":2}}}}`},
	"replicasets/default/set": {"/apis/apps/v1/namespaces/default/replicasets/set", `{"apiVersion":"apps/v1",
		"kind":"ReplicaSet","metadata":{"name":"set"},"spec":{"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"main:1"}]}}}}`},
	"leases/default/leader": {"/apis/coordination.k8s.io/v1/namespaces/default/leases/leader",
		`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"leader"},
		"spec":{"holderIdentity":"me","leaseDurationSeconds":15,"renewTime":"2026-02-03T04:05:06.789012Z"}}`},
	"poddisruptionbudgets/default/budget": {"/apis/policy/v1/namespaces/default/poddisruptionbudgets/budget",
		`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"budget"},
		"spec":{"minAvailable":"50%","selector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}}}`},
}

// TestRecordStored writes down what kube-apiserver stores in etcd of a few objects, and what it shows of them.
func TestRecordStored(t *testing.T) {
	store := etcdtest.Start(t)
	theirs := startTheirs(t, store)
	raw, err := clientv3.New(clientv3.Config{Endpoints: []string{store.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	recorded := map[string]Stored{}
	for key, o := range storedObjects {
		theirs.until(t, http.MethodPost, o.path[:strings.LastIndexByte(o.path, '/')], []byte(o.object))
		found, err := raw.Get(t.Context(), "/registry/"+key)
		if err != nil || len(found.Kvs) != 1 {
			t.Fatalf("%s: %v, %v", key, found, err)
		}
		shown := theirs.until(t, http.MethodGet, o.path, nil)
		recorded["/registry/"+key] = Stored{Path: o.path, Value: found.Kvs[0].Value, Object: shown}
	}
	text, err := json.MarshalIndent(recorded, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	write(t, "testdata", "stored.json", string(text)+"\n")
}

// TestRecordStoredAPIService writes down what kube-apiserver stores in etcd of an APIService, and what it shows of it.
func TestRecordStoredAPIService(t *testing.T) {
	store := etcdtest.Start(t)
	theirs := startTheirs(t, store)
	raw, err := clientv3.New(clientv3.Config{Endpoints: []string{store.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	const collection = "/apis/apiregistration.k8s.io/v1/apiservices"
	theirs.until(t, http.MethodPost, collection, []byte(`{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",
		"metadata":{"name":"v1.shop.example.org","labels":{"b":"2","a":"1"}},"spec":{"group":"shop.example.org",
		"version":"v1","groupPriorityMinimum":1000,"versionPriority":15,"insecureSkipTLSVerify":true,
		"service":{"namespace":"shop","name":"widgets"}}}`))
	shown := theirs.until(t, http.MethodGet, collection+"/v1.shop.example.org", nil)
	key := "/registry/apiregistration.k8s.io/apiservices/v1.shop.example.org"
	found, err := raw.Get(t.Context(), key)
	if err != nil || len(found.Kvs) != 1 {
		t.Fatalf("%s: %v, %v", key, found, err)
	}
	text, err := json.MarshalIndent(map[string]any{
		"key": key, "value": found.Kvs[0].Value, "shown": json.RawMessage(shown),
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	write(t, "../../builtin/apiregistration/v1/testdata", "stored.json", string(text)+"\n")
}
