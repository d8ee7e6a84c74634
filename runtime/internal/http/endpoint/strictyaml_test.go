package endpoint

import (
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A key that YAML has twice is lost in JSON: a body carries the fault, to be told with those of its fields.
func TestStrictYAMLIsAFaultOfTheBody(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/x",
		strings.NewReader("kind: Widget\nkind: Widget\n"))
	if err != nil {
		t.Fatal(err)
	}
	info := &verb.Info{Names: api.Names{Kind: "Widget"}}
	req := &resourceRequest{
		resource: &resource{resourceInfo: info, version: &api.VersionInfo{Name: "v1"}},
		api:      &API{maxBody: 1 << 20, bodies: newBudget(1)}, r: r,
	}
	if _, _, err := req.readObject(negotiation.YAML, metav1.FieldValidationStrict); err != nil {
		t.Fatal(err)
	}
	if faults := req.faults; len(faults) != 1 || !strings.Contains(faults[0].Error(), `"kind" already set`) {
		t.Errorf("got %v, want that kind is already set", faults)
	}
}
