package builtin_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
)

// seriesOf returns the names and labels of all series of a server.
func seriesOf(t *testing.T, s *apitest.Server) map[string]bool {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if at := strings.LastIndexByte(line, ' '); at > 0 && !strings.HasPrefix(line, "#") {
			all[line[:at]] = true
		}
	}
	return all
}

// invented is a request in which NAME stands for what a client makes up.
type invented struct {
	method, path, body string
	header             [2]string
	// anonymous requests are sent without the token of the administrator.
	anonymous bool
}

const (
	configs  = "/api/v1/namespaces/default/configmaps"
	mapNamed = `{"metadata":{"name":"NAME","labels":{"NAME":"NAME"}}}`
)

var inventions = []invented{
	{method: "GET", path: configs, header: [2]string{"Authorization", "Bearer NAME"}, anonymous: true},
	{method: "GET", path: configs, header: [2]string{"Authorization", "Bearer eyJhbGciOiJub25lIn0.NAME.NAME"},
		anonymous: true},
	{method: "GET", path: configs, header: [2]string{"Authorization", "NAME NAME"}, anonymous: true},
	{method: "GET", path: configs, header: [2]string{"X-Remote-User", "NAME"}, anonymous: true},
	{method: "GET", path: "/NAME", anonymous: true},
	{method: "GET", path: configs, header: [2]string{"Impersonate-User", "NAME"}},
	{method: "GET", path: "/version", header: [2]string{"Impersonate-User", "NAME"}},
	{method: "GET", path: configs, header: [2]string{"Impersonate-Extra-NAME", "NAME"}},
	{method: "GET", path: configs, header: [2]string{"User-Agent", "NAME/NAME"}},
	{method: "GET", path: configs, header: [2]string{"Audit-ID", "NAME"}},
	{method: "GET", path: configs, header: [2]string{"Accept", "application/NAME"}},
	{method: "GET", path: configs, header: [2]string{"Accept-Encoding", "NAME"}},
	{method: "GET", path: configs, header: [2]string{"Traceparent", "NAME"}},
	{method: "GET", path: configs, header: [2]string{"Origin", "https://NAME.example.com"}},
	{method: "POST", path: configs, body: mapNamed, header: [2]string{"Content-Type", "application/NAME"}},
	{method: "POST", path: configs, body: mapNamed},
	{method: "POST", path: configs + "?dryRun=NAME", body: mapNamed},
	{method: "POST", path: configs + "?dryRun=All&fieldManager=NAME", body: mapNamed},
	{method: "POST", path: configs + "?fieldValidation=NAME", body: mapNamed},
	{method: "PATCH", path: configs + "/NAME?fieldManager=NAME&force=true",
		header: [2]string{"Content-Type", "application/apply-patch+yaml"},
		body:   `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"NAME"}}`},
	{method: "DELETE", path: configs + "/NAME?propagationPolicy=NAME"},
	{method: "GET", path: configs + "?labelSelector=NAME%3DNAME&fieldSelector=metadata.name%3DNAME"},
	{method: "GET", path: configs + "?fieldSelector=NAME%3DNAME"},
	{method: "GET", path: configs + "?continue=NAME&limit=1"},
	{method: "GET", path: configs + "?resourceVersion=NAME&NAME=NAME"},
	{method: "NAME", path: configs},
	{method: "NAME", path: "/NAME"},
	{method: "GET", path: "/api/v1/namespaces/NAME/configmaps"},
	{method: "GET", path: "/api/v1/namespaces/default/configmaps/NAME/NAME"},
	{method: "GET", path: "/api/v1/namespaces/default/serviceaccounts/NAME/token"},
	{method: "GET", path: "/api/NAME/configmaps"},
	{method: "GET", path: "/api/v1/NAME"},
	{method: "GET", path: "/apis/NAME/v1/NAME"},
	{method: "GET", path: "/apis/apps/NAME/deployments"},
	{method: "GET", path: "/openapi/v3/apis/NAME/v1"},
	{method: "GET", path: "/livez/NAME"},
	{method: "GET", path: "/readyz?exclude=NAME"},
	{method: "GET", path: "/debug/pprof/NAME"},
	{method: "GET", path: "/debug/api_priority_and_fairness/NAME"},
	{method: "POST", path: "/apis/authentication.k8s.io/v1/tokenreviews",
		body: `{"spec":{"token":"NAME","audiences":["NAME"]}}`},
	{method: "POST", path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
		body: `{"spec":{"user":"NAME","groups":["NAME"],"resourceAttributes":{"verb":"NAME","group":"NAME",` +
			`"resource":"NAME","subresource":"NAME","namespace":"NAME"}}}`},
}

// send sends the request with a name.
func (i invented) send(t *testing.T, s *apitest.Server, anonymous *http.Client, name string) {
	t.Helper()
	with := func(text string) string { return strings.ReplaceAll(text, "NAME", name) }
	r, err := http.NewRequestWithContext(t.Context(), with(i.method), s.URL+with(i.path),
		strings.NewReader(with(i.body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if i.header[0] != "" {
		r.Header.Set(with(i.header[0]), with(i.header[1]))
	}
	client := s.Client
	if i.anonymous {
		client = anonymous
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}

// TestBoundedCardinality: what clients make up, in whatever part of a request, makes no series of a standalone server.
func TestBoundedCardinality(t *testing.T) {
	const warm, rounds = 2, 40
	s := complete(t)
	until(t, s, http.MethodGet, "/readyz", "", http.StatusOK)
	anonymous := &http.Client{Transport: transportOf(t, s, true)}
	defer anonymous.CloseIdleConnections()
	invent := func(from, to int) {
		for n := from; n < to; n++ {
			for _, i := range inventions {
				i.send(t, s, anonymous, fmt.Sprint("made-up-", n))
			}
		}
	}
	invent(0, warm)
	before := seriesOf(t, s)
	invent(warm, warm+rounds)
	after := seriesOf(t, s)
	var further []string
	for series := range after {
		if strings.Contains(strings.ToLower(series), "made-up") {
			t.Errorf("a client made the series %s", series)
		}
		if !before[series] {
			further = append(further, series)
		}
	}
	// The server's own work may make some.
	if len(further) >= rounds {
		t.Errorf("%d series before, and %d more: %s", len(before), len(further), strings.Join(further, "\n"))
	}
}
