package endpoint

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/request"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// lastEvent is a policy of one level, and a sink that keeps the last event.
type lastEvent struct {
	trail.Level
	event trail.Event
}

func (l *lastEvent) Decide(auth.Attributes) trail.Decision { return trail.Decision{Level: l.Level} }

func (l *lastEvent) Process(event *trail.Event) bool {
	l.event = *event.Clone()
	return true
}

// audited serves a request that is audited at a level, and returns its last event.
func audited(t *testing.T, handler http.Handler, level trail.Level, r *http.Request) trail.Event {
	t.Helper()
	last := &lastEvent{Level: level}
	record := (&trail.Auditor{Policy: last, Sink: last}).NewRecord(r.Context(), "id")
	info, err := request.New(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	r = r.WithContext(request.WithInfo(record, info))
	record.Begin(r)
	handler.ServeHTTP(httptest.NewRecorder(), r)
	record.Complete(r)
	return last.event
}

// TestAuditedCBOR: what clients send and get in CBOR is JSON in events.
func TestAuditedCBOR(t *testing.T) {
	whole, err := direct.Marshal(map[string]any{"metadata": map[string]any{"name": "a"}})
	if err != nil {
		t.Fatal(err)
	}
	api, _ := serve(t, widgets)
	r := httptest.NewRequest(http.MethodPatch, "/apis/shop.example.com/v1/namespaces/ns/widgets/a?fieldManager=x",
		strings.NewReader(string(whole)))
	r.Header.Set("Content-Type", "application/apply-patch+cbor")
	if event := audited(t, api, trail.Request, r); string(event.RequestObject) != `{"metadata":{"name":"a"}}` {
		t.Errorf("the patch is %s", event.RequestObject)
	}
	r = httptest.NewRequest(http.MethodDelete, "/apis/shop.example.com/v1/namespaces/ns/widgets/a",
		strings.NewReader(string(cborOptions(t))))
	r.Header.Set("Content-Type", "application/cbor")
	want := `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/__internal","gracePeriodSeconds":0}`
	if event := audited(t, api, trail.Request, r); string(event.RequestObject) != want {
		t.Errorf("the options are %s", event.RequestObject)
	}
}

func cborOptions(t *testing.T) []byte {
	t.Helper()
	zero := int64(0)
	data, err := direct.Marshal(&metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{Kind: "DeleteOptions",
		APIVersion: "v1"},
		GracePeriodSeconds: &zero})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestUnauditedBodies: at Metadata nobody encodes the object in a body, and without audit nobody looks at it.
func TestUnauditedBodies(t *testing.T) {
	post := func() *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/apis/shop.example.com/v1/namespaces/ns/widgets",
			strings.NewReader(`{"metadata":{"name":"a"}}`))
		r.Header.Set("Content-Type", "application/json")
		return r
	}
	api, fakes := serve(t, widgets)
	f := fakes[0]
	audited(t, api, trail.None, post())
	if f.body.Decoded != nil {
		t.Error("a body is looked at without audit")
	}
	event := audited(t, api, trail.Metadata, post())
	f.body.Decoded(&metav1.PartialObjectMetadata{}, func() ([]byte, error) {
		t.Error("the object is encoded at Metadata")
		return nil, nil
	})
	if event.RequestObject != nil || event.ResponseObject != nil {
		t.Errorf("objects %s, %s", event.RequestObject, event.ResponseObject)
	}
}

// TestDeprecatedVersionsAreAudited: a request in a deprecated version has kube-apiserver's annotations, others don't.
func TestDeprecatedVersionsAreAudited(t *testing.T) {
	api, _ := serve(t, widgets)
	for version, want := range map[string][2]string{"v1": {}, "v1beta1": {"true", "1.9"}} {
		r := httptest.NewRequest(http.MethodGet, "/apis/shop.example.com/"+version+"/namespaces/ns/widgets/a", nil)
		all := audited(t, api, trail.Metadata, r).Annotations
		if got := [2]string{all.Get("k8s.io/deprecated"), all.Get("k8s.io/removed-release")}; got != want {
			t.Errorf("%s: %q", version, got)
		}
	}
}
