package endpoint_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"apigen.dev/runtime/internal/http/endpoint"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	sawAll   = "a cache that saw all"
	cameLate = "a cache that came late"
	noCache  = "no cache"

	matrixPath = "/apis/shop.example.com/v1/namespaces/default/widgets"
)

// matrixWorld is the history, and three servers of it.
type matrixWorld struct {
	*testing.T
	backend  storage.Backend
	servers  map[string]*endpoint.API
	versions map[string]string
	tokens   map[string]string
}

// inMatrixWorld runs a test with each of the servers.
func inMatrixWorld(t *testing.T, test func(t *testing.T, w *matrixWorld, server string)) {
	for _, server := range []string{sawAll, cameLate, noCache} {
		t.Run(server, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newMatrixWorld(t), server) })
		})
	}
}

func newMatrixWorld(t *testing.T) *matrixWorld {
	w := &matrixWorld{T: t, backend: memory.New(), servers: map[string]*endpoint.API{}, tokens: map[string]string{},
		versions: map[string]string{"-": "", "0": "0", "abc": "abc"}}
	t.Cleanup(func() { w.backend.Close() })
	firstPage := func() string { return w.ask(noCache, http.MethodGet, "", "limit", "1").next }
	w.serve(sawAll, false)
	w.serve(noCache, true)
	w.create("a")
	w.versions["compacted"] = w.create("b")
	w.tokens["expired"] = firstPage()
	if _, err := w.backend.Put(t.Context(), "/registry/of/others", nil, 0, 0); err != nil { // a revision between
		t.Fatal(err)
	}
	w.versions["old"] = w.create("c")
	if a := w.ask(noCache, http.MethodDelete, "/b"); a.code != http.StatusOK {
		t.Fatalf("%+v", a)
	}
	w.versions["window"] = w.create("d")
	w.tokens["good"] = firstPage()
	w.serve(cameLate, false)
	w.versions["now"] = w.create("e")
	w.versions["future"] = strconv.FormatInt(w.number("now")+1000, 10)
	if err := w.backend.Compact(t.Context(), w.number("old")); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return w
}

func (w *matrixWorld) serve(name string, disableCache bool) {
	w.servers[name], _ = newAPIOver(w.T, registry.Config{Backend: w.backend, DisableCache: disableCache}, nil)
	synctest.Wait()
}

func (w *matrixWorld) number(version string) int64 {
	n, err := strconv.ParseInt(w.versions[version], 10, 64)
	if err != nil {
		w.Fatal(err)
	}
	return n
}

func (w *matrixWorld) create(name string) string {
	r := httptest.NewRequestWithContext(w.Context(), http.MethodPost, matrixPath,
		strings.NewReader(fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":%q}}`,
			name)))
	a := w.answer(noCache, r)
	if a.code != http.StatusCreated {
		w.Fatalf("%+v", a)
	}
	return a.version
}

// matrixAnswer is what of an answer the tables speak of.
type matrixAnswer struct {
	code          int
	status        metav1.Status
	names         string
	version, next string
	remaining     *int64
	body          []byte
}

// ask sends a request with the parameters that are not empty.
func (w *matrixWorld) ask(server, method, path string, parameters ...string) matrixAnswer {
	w.Helper()
	query := url.Values{}
	for pair := range slices.Chunk(parameters, 2) {
		if pair[1] != "" && pair[1] != "-" {
			query.Set(pair[0], pair[1])
		}
	}
	return w.answer(server, httptest.NewRequestWithContext(w.Context(), method, matrixPath+path+"?"+query.Encode(),
		nil))
}

func (w *matrixWorld) answer(server string, r *http.Request) matrixAnswer {
	w.Helper()
	recorder := httptest.NewRecorder()
	w.servers[server].ServeHTTP(recorder, r)
	a := matrixAnswer{code: recorder.Code, body: recorder.Body.Bytes()}
	if a.code >= 400 {
		if err := json.Unmarshal(a.body, &a.status); err != nil {
			w.Fatalf("%v in %s", err, a.body)
		}
		return a
	}
	var content struct {
		metav1.PartialObjectMetadata
		ListMeta metav1.ListMeta `json:"metadata"`
		Items    []metav1.PartialObjectMetadata
	}
	if err := json.NewDecoder(bytes.NewReader(a.body)).Decode(&content); err != nil && len(a.body) > 0 {
		w.Fatalf("%v in %s", err, a.body)
	}
	a.version, a.next, a.remaining = content.ListMeta.ResourceVersion, content.ListMeta.Continue,
		content.ListMeta.RemainingItemCount
	for _, item := range content.Items {
		a.names += item.Name
	}
	return a
}

// wantErrors compares a Status with the errors of a cell, joined by "+".
func (w *matrixWorld) wantErrors(cell string, status metav1.Status) {
	w.Helper()
	for name := range strings.SplitSeq(cell, "+") {
		want, known := matrixErrors[name]
		if !known || status.Code != want.code || status.Reason != want.reason ||
			!strings.Contains(status.Message, want.text) {
			w.Errorf("got %d %s %q, want %s: %v", status.Code, status.Reason, status.Message, name, want)
		}
	}
	switch cell {
	case "future":
		if status.Details == nil {
			w.Fatalf("%+v", status)
		}
		causes := status.Details.Causes
		text := matrixErrors["future"].text + w.versions["future"] + ", current: " + w.versions["now"]
		if status.Message != "Timeout: "+text && status.Message != text || status.Details.RetryAfterSeconds != 1 ||
			len(causes) != 1 || causes[0].Type != metav1.CauseTypeResourceVersionTooLarge ||
			causes[0].Message != "Too large resource version" {
			w.Errorf("%+v %+v", status, status.Details)
		}
	case "gone":
		if text := fmt.Sprintf("too old resource version: %s (%d)", w.versions["compacted"],
			w.number("old")-1); !strings.Contains(status.Message, text) {
			w.Errorf("%q, want %q", status.Message, text)
		}
	}
}

// eachCell calls check for each cell of a table, with what it says about the server.
func (w *matrixWorld) eachCell(server, table string, check func(row, column, cell string)) {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	columns := strings.Fields(lines[0])
	for _, line := range lines[1:] {
		cells := strings.Fields(line)
		if len(cells) != len(columns)+1 {
			w.Fatalf("%d cells in %q", len(cells), line)
		}
		for i, column := range columns {
			cell, known, both := strings.Cut(cells[i+1], "|")
			if both && server == sawAll {
				cell = known
			}
			check(cells[0], column, cell)
			if w.Failed() {
				w.Fatalf("%s: %s, %s", server, cells[0], column)
			}
		}
	}
}

// matrixStream is what a watch told: "+" is ADDED, "-" DELETED, END the bookmark behind the state, MARK another one.
type matrixStream struct {
	events, last string
	failure      metav1.Status
}

func (w *matrixWorld) told(a matrixAnswer) (s matrixStream) {
	w.Helper()
	signs := map[string]string{"ADDED": "+", "MODIFIED": "*", "DELETED": "-"}
	var events []string
	for line := range bytes.Lines(a.body) {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		var object metav1.PartialObjectMetadata
		if err := json.Unmarshal(line, &event); err != nil {
			w.Fatalf("%v in %s", err, line)
		}
		into := any(&object)
		if event.Type == "ERROR" {
			into = &s.failure
		}
		if err := json.Unmarshal(event.Object, into); a.code == http.StatusOK && err != nil {
			w.Fatalf("%v in %s", err, line)
		}
		switch {
		case event.Type != "BOOKMARK":
			events = append(events, signs[event.Type]+object.Name)
		case object.Annotations[metav1.InitialEventsAnnotationKey] == "true":
			events = append(events, "END")
		default:
			events = append(events, "MARK")
		}
		s.last = object.ResourceVersion
	}
	s.events = strings.Join(events, " ")
	return s
}
