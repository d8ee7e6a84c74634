package v1_test

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"testing"

	"apigen.dev/runtime/apitest"
	apiregistrationv1 "apigen.dev/runtime/builtin/apiregistration/v1"
	"apigen.dev/runtime/builtin/apiregistration/wiring"
	"apigen.dev/runtime/server"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// recorded is what kube-apiserver 1.36 has in etcd of an APIService, and what it shows of it. It stores APIServices in
// JSON whatever its --storage-media-type is: its aggregator encodes them with a codec that knows JSON alone. `make
// record` records this anew.
type recorded struct {
	Key   string
	Value []byte
	Shown map[string]any
}

// TestStored: a server that takes over the etcd of a kube-apiserver reads its APIServices, and writes them.
func TestStored(t *testing.T) {
	text, err := os.ReadFile("testdata/stored.json")
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	s := apitest.StartWith(t, func(c *server.Config) {
		if _, err := c.Backend.Put(t.Context(), r.Key, r.Value, 0, 0); err != nil {
			t.Fatal(err)
		}
	}, wiring.Group())
	shop := collection + "/" + r.Shown["metadata"].(map[string]any)["name"].(string)
	got := send[map[string]any](t, s, http.MethodGet, shop, nil, http.StatusOK)
	version := got["metadata"].(map[string]any)["resourceVersion"].(string)
	r.Shown["metadata"].(map[string]any)["resourceVersion"] = version
	if !reflect.DeepEqual(got, r.Shown) {
		t.Errorf("got %v\nwant %v", got, r.Shown)
	}
	service := send[apiregistrationv1.APIService](t, s, http.MethodGet, shop, nil, http.StatusOK)
	service.Spec.VersionPriority++
	service.TypeMeta = metav1.TypeMeta{APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService"}
	after := send[apiregistrationv1.APIService](t, s, http.MethodPut, shop, service, http.StatusOK)
	if after.UID != service.UID || after.Spec.VersionPriority != service.Spec.VersionPriority ||
		len(after.Status.Conditions) != len(service.Status.Conditions) {
		t.Errorf("after an update: %+v", after)
	}
}
