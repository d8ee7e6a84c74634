package conformance

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
)

// recordedCore returns the resources of the core group as kube-apiserver listed them.
func recordedCore(t *testing.T) (resources []metav1.APIResource) {
	t.Helper()
	text, err := os.ReadFile("exchange/testdata/http/routing.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, answer, _ := strings.Cut(string(text), "\n>>> GET /api/v1/\n")
	_, list, found := strings.Cut(answer, "\nresources: ")
	list, _, _ = strings.Cut(list, "\n")
	if err := json.Unmarshal([]byte(list), &resources); err != nil || !found {
		t.Fatalf("%v: %.200s", err, list)
	}
	return resources
}

// TestSubresourcesInDiscovery: subresources of pods and of other kinds of the core group are listed as kube-apiserver
// lists them, with the kinds of the options of connections, and with the same verbs.
func TestSubresourcesInDiscovery(t *testing.T) {
	t.Parallel()
	client, err := discovery.NewDiscoveryClientForConfig(memoryCluster(t).config)
	if err != nil {
		t.Fatal(err)
	}
	served, err := client.ServerResourcesForGroupVersion("v1")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]metav1.APIResource{}
	for _, r := range recordedCore(t) {
		want[r.Name] = r
	}
	compared := 0
	for _, r := range served.APIResources {
		recorded, ok := want[r.Name]
		if !strings.Contains(r.Name, "/") || !ok {
			continue
		}
		compared++
		slices.Sort(r.Verbs)
		slices.Sort(recorded.Verbs)
		if !reflect.DeepEqual(r, recorded) {
			t.Errorf("got %+v\nwant %+v", r, recorded)
		}
	}
	if compared < 8 {
		t.Errorf("%d subresources were compared", compared)
	}
}
