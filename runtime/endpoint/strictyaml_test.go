package endpoint

import (
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"golang.org/x/sync/semaphore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A key that YAML has twice is told as kube-apiserver tells it: with the kind that the body was to be.
func TestStrictYAMLNamesTheKind(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/x", strings.NewReader("kind: Widget\nkind: Widget\n"))
	if err != nil {
		t.Fatal(err)
	}
	info := &api.Info{Names: api.Names{Kind: "Widget"}}
	c := &call{resource: &resource{info: info, version: &api.VersionInfo{Name: "v1"}}, api: &API{maxBody: 1 << 20, bodies: semaphore.NewWeighted(1)}, r: r}
	_, _, err = c.readObject(formatYAML, metav1.FieldValidationStrict)
	const want = `Widget in version "v1" cannot be handled as a Widget: strict decoding error: `
	if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), `"kind" already set`) {
		t.Errorf("got %v, want %s...", err, want)
	}
}
