package typedclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"apigen.dev/runtime/reach"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// answering returns the metadata of things of a server that gives one answer, and the last request.
func answering(t *testing.T, code int, body string) (Metadata, *string) {
	t.Helper()
	var asked string
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		asked = strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Method, r.URL.RequestURI(),
			r.Header.Get("Content-Type"), sent))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(listening.Close)
	return Metadata{
		Server: Joined{Client: listening.Client(), Host: listening.URL},
		Resource: reach.Resource{
			GroupResource: schema.GroupResource{Group: "g.example.com", Resource: "things"}, Kind: "Thing",
			Versions: []string{"v1"}, Namespaced: true,
		},
	}, &asked
}

// status is an answer that something wasn't found.
func status(details string) string {
	return `{"kind":"Status","status":"Failure","reason":"NotFound","code":404,"details":{` + details + `}}`
}

// TestAbsence: an object is absent where the server that has it says so, and unknown after every other answer.
func TestAbsence(t *testing.T) {
	const absent, unknown, present = "absent", "unknown", "present"
	for _, test := range []struct {
		name string
		code int
		body string
		want string
	}{
		{"a", 200, `{"metadata":{"name":"a","namespace":"ns","uid":"u"}}`, present},
		{"a", 200, `{"metadata":{"name":"b","namespace":"ns","uid":"u"}}`, unknown},
		{"a", 200, `{"metadata":{"name":"a"}}`, unknown},
		{"a", 200, `hello`, unknown},
		{"a", 404, status(`"name":"a","group":"g.example.com","kind":"things"`), absent},
		{"a", 404, status(`"name":"a","group":"g.example.com","kind":"Thing"`), absent},
		{"a", 404, status(`"name":"b","group":"g.example.com","kind":"things"`), unknown},
		{"a", 404, status(`"name":"a","group":"g.example.com","kind":"others"`), unknown},
		{"a", 404, status(`"name":"a","kind":"things"`), unknown},
		{"a", 404, status(``), unknown},
		{"a", 404, `404 page not found`, unknown},
		{"a", 503, `service unavailable`, unknown},
		{"a", 410, `gone`, unknown},
	} {
		m, asked := answering(t, test.code, test.body)
		object, err := m.Get(t.Context(), "ns", test.name)
		got := present
		switch {
		case err != nil:
			got = unknown
		case object == nil:
			got = absent
		}
		if got != test.want || apierrors.IsNotFound(err) {
			t.Errorf("%d %s: %s, error %v; want %s", test.code, test.body, got, err, test.want)
		}
		if *asked != "GET /apis/g.example.com/v1/namespaces/ns/things/a" {
			t.Error(*asked)
		}
		options := &metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
		err = errors.Join(m.Delete(t.Context(), "ns", "a", options), m.Patch(t.Context(), "ns", "a", []byte("{}")))
		if done := err == nil; done != (test.code == 200 || test.want == absent) || apierrors.IsNotFound(err) {
			t.Errorf("%d %s: writes end with %v", test.code, test.body, err)
		}
	}
	m, asked := answering(t, 200, `{}`)
	for _, name := range []string{"", "..", "a/b", "a%b"} {
		if _, err := m.Get(t.Context(), "ns", name); !apierrors.IsBadRequest(err) || *asked != "" {
			t.Errorf("name %q: error %v, asked %q", name, err, *asked)
		}
	}
}

// TestWrites: deletions and patches reach the other server as clients send them.
func TestWrites(t *testing.T) {
	m, asked := answering(t, 200, `{}`)
	version := "7"
	if err := m.Delete(t.Context(), "ns", "system:a", &metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{ResourceVersion: &version},
	}); err != nil || *asked != "DELETE /apis/g.example.com/v1/namespaces/ns/things/system:a application/json "+
		`{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"7"}}` {
		t.Errorf("%s, error %v", *asked, err)
	}
	if err := m.Patch(t.Context(), "ns", "a", []byte(`{"a":1}`)); err != nil || *asked !=
		`PATCH /apis/g.example.com/v1/namespaces/ns/things/a application/merge-patch+json {"a":1}` {
		t.Errorf("%s, error %v", *asked, err)
	}
}

// TestWatchElsewhere: a watch tells events in order, and ends with an error that the other server sends.
func TestWatchElsewhere(t *testing.T) {
	m, asked := answering(t, 200, `{"type":"ADDED","object":{"metadata":{"name":"a","uid":"u"},"spec":{"x":1}}}
{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}
{"type":"DELETED","object":{"metadata":{"name":"a","uid":"u"}}}
`)
	var events []string
	collect := func(kind watch.EventType, p *metav1.PartialObjectMetadata) error {
		events = append(events, string(kind)+p.Name)
		return nil
	}
	if err := m.Watch(t.Context(), "7", collect); err != nil || fmt.Sprint(events) != "[ADDEDa BOOKMARK DELETEDa]" {
		t.Errorf("%v, error %v", events, err)
	}
	if want := "GET /apis/g.example.com/v1/things?allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300&" +
		"watch=true"; *asked != want {
		t.Error(*asked)
	}
	failing := errors.New("no")
	if err := m.Watch(t.Context(), "7", func(watch.EventType, *metav1.PartialObjectMetadata) error {
		return failing
	}); !errors.Is(err, failing) {
		t.Error(err)
	}
	for _, bad := range []string{
		`{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}`,
		`{"type":"ADDED","object":{"metadata":{"name":"a"}}}`, `{"type":"MELTED","object":{}}`, `{"type":"ADD`,
		`{"type":"ADDED","object":3}`,
	} {
		m, _ := answering(t, 200, bad)
		if err := m.Watch(context.Background(), "", collect); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}
