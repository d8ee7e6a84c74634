package endpoint_test

import (
	"bytes"
	"encoding/base64"
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

	"apigen.dev/runtime/endpoint"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What resourceVersion, resourceVersionMatch, limit, continue and sendInitialEvents mean together: every combination for
// each verb, as the Kubernetes API concepts have it, over one history:
//
//	create a, create b   compacted: storage no longer has it
//	create c             old: the oldest that storage has
//	remove b, create d   window: where the cache begins that came late
//	create e             now
//
// It is asked of a cache that saw all of it, of one that came late, and of no cache. They answer the same, but for what
// only the first still knows: that stands behind a "|". A "-" is a parameter that is not set. Time is the bubble's, so
// that what waits for the future waits no longer than the test.
const (
	listMatrix = `
	           -       NotOlderThan Exact             Bogus
	-          now     unless       unless            unless+unknown
	0          now     now          exactly0          unknown
	compacted  now     now          expired|compacted unknown
	old        now     now          old               unknown
	window     now     now          window            unknown
	now        now     now          now               unknown
	future     future  future       future            unknown
	abc        number  number       number            unknown
	`
	// With limit=2: a version without a match is exact.
	limitMatrix = `
	           -                 NotOlderThan Exact             Bogus
	-          now               unless       unless            unless+unknown
	0          now               now          exactly0          unknown
	compacted  expired|compacted now          expired|compacted unknown
	old        old               now          old               unknown
	window     window            now          window            unknown
	now        now               now          now               unknown
	future     future            future       future            unknown
	abc        number            number       number            unknown
	`
	// With the token of a page of window.
	continueMatrix = `
	           -         NotOlderThan     Exact              Bogus
	-          rest      unless+continued unless+continued   unless+continued+unknown
	0          rest      continued        exactly0+continued continued+unknown
	compacted  exclusive continued        continued          continued+unknown
	old        exclusive continued        continued          continued+unknown
	window     exclusive continued        continued          continued+unknown
	now        exclusive continued        continued          continued+unknown
	future     exclusive continued        continued          continued+unknown
	abc        number    continued        continued          continued+unknown
	`
	getMatrix = `
	           a       b
	-          found   absent
	0          found   absent
	compacted  found   absent
	old        found   absent
	window     found   absent
	now        found   absent
	future     future  future
	abc        invalid invalid
	`
	// By sendInitialEvents and resourceVersionMatch.
	watchMatrix = `
	           -,-        -,NotOlderThan -,Exact                   true,-    true,NotOlderThan true,Exact                false,-   false,NotOlderThan false,Exact
	-          state      unpaired       unpaired+unsupported      needs     state             needs+unsupported         needs     nothing            needs+unsupported
	0          state      unpaired       unpaired+unsupported      needs     state             needs+unsupported         needs     nothing            needs+unsupported
	compacted  gone|later unpaired       unpaired+unsupported      needs     state             needs+unsupported         needs     gone|later         needs+unsupported
	old        sinceOld   unpaired       unpaired+unsupported      needs     state             needs+unsupported         needs     sinceOld           needs+unsupported
	window     sinceD     unpaired       unpaired+unsupported      needs     state             needs+unsupported         needs     sinceD             needs+unsupported
	now        nothing    unpaired       unpaired+unsupported      needs     state             needs+unsupported         needs     nothing            needs+unsupported
	future     ahead      unpaired       unpaired+unsupported      needs     future            needs+unsupported         needs     ahead              needs+unsupported
	abc        number     unpaired       unpaired+unsupported      needs     number            needs+unsupported         needs     number             needs+unsupported
	`
)

// matrixStates are the names that a list shows; matrixEvents what a watch tells, without bookmarks.
var (
	matrixStates = map[string]string{"compacted": "ab", "old": "abc", "window": "acd", "now": "acde", "rest": "cd"}
	matrixEvents = map[string]string{"state": "+a +c +d +e", "later": "+c -b +d +e", "sinceOld": "-b +d +e", "sinceD": "+e", "nothing": "", "ahead": ""}
)

type matrixError struct {
	code   int32
	reason metav1.StatusReason
	text   string
}

const matchForbidden = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden "

// matrixErrors are those of the tables.
var matrixErrors = map[string]matrixError{
	"unless":      {422, metav1.StatusReasonInvalid, matchForbidden + "unless resourceVersion is provided"},
	"exactly0":    {422, metav1.StatusReasonInvalid, `resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`},
	"unknown":     {422, metav1.StatusReasonInvalid, `resourceVersionMatch: Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", ""`},
	"continued":   {422, metav1.StatusReasonInvalid, matchForbidden + "when continue is provided"},
	"unpaired":    {422, metav1.StatusReasonInvalid, matchForbidden + "for watch unless sendInitialEvents is provided"},
	"unsupported": {422, metav1.StatusReasonInvalid, `resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"`},
	"needs":       {422, metav1.StatusReasonInvalid, "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
	"invalid":     {422, metav1.StatusReasonInvalid, `resourceVersion: Invalid value: "abc"`},
	"number":      {400, metav1.StatusReasonBadRequest, `invalid resource version "abc"`},
	"exclusive":   {400, metav1.StatusReasonBadRequest, "specifying resource version is not allowed when using continue"},
	"expired":     {410, metav1.StatusReasonExpired, "The resourceVersion for the provided list is too old."},
	"gone":        {410, metav1.StatusReasonExpired, "too old resource version: "},
	"future":      {504, metav1.StatusReasonTimeout, "Too large resource version: "},
	"absent":      {404, metav1.StatusReasonNotFound, `widgets.shop.example.com "b" not found`},
	"tooOld":      {410, metav1.StatusReasonExpired, "or use the continue token in this response to retrieve the remainder of the results"},
	"badToken":    {400, metav1.StatusReasonBadRequest, "invalid continue token: continue key is not valid"},
}

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
	w.servers[name], _ = newAPIOver(w.T, registry.Config{Backend: w.backend, DisableCache: disableCache})
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
		strings.NewReader(fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":%q}}`, name)))
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
	return w.answer(server, httptest.NewRequestWithContext(w.Context(), method, matrixPath+path+"?"+query.Encode(), nil))
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
	a.version, a.next, a.remaining = content.ListMeta.ResourceVersion, content.ListMeta.Continue, content.ListMeta.RemainingItemCount
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
		if !known || status.Code != want.code || status.Reason != want.reason || !strings.Contains(status.Message, want.text) {
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
			len(causes) != 1 || causes[0].Type != metav1.CauseTypeResourceVersionTooLarge || causes[0].Message != "Too large resource version" {
			w.Errorf("%+v %+v", status, status.Details)
		}
	case "gone":
		if text := fmt.Sprintf("too old resource version: %s (%d)", w.versions["compacted"], w.number("old")-1); !strings.Contains(status.Message, text) {
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

func TestMatrixOfGet(t *testing.T) {
	inMatrixWorld(t, func(t *testing.T, w *matrixWorld, server string) {
		w.eachCell(server, getMatrix, func(version, name, cell string) {
			a := w.ask(server, http.MethodGet, "/"+name, "resourceVersion", w.versions[version])
			if cell != "found" {
				w.wantErrors(cell, a.status)
			} else if a.code != http.StatusOK {
				t.Errorf("%+v", a)
			}
		})
	})
}

func TestMatrixOfList(t *testing.T) {
	inMatrixWorld(t, func(t *testing.T, w *matrixWorld, server string) {
		w.eachCell(server, listMatrix, func(version, match, cell string) {
			w.wantState(cell, w.ask(server, http.MethodGet, "", "resourceVersion", w.versions[version], "resourceVersionMatch", match))
		})
		w.eachCell(server, limitMatrix, func(version, match, cell string) {
			a := w.ask(server, http.MethodGet, "", "resourceVersion", w.versions[version], "resourceVersionMatch", match, "limit", "2")
			if want := len(matrixStates[cell]) - 2; a.code == http.StatusOK && want > 0 && (a.remaining == nil || *a.remaining != int64(want)) {
				t.Errorf("remainingItemCount is not %d in %s", want, a.body)
			}
			for a.code == http.StatusOK && a.next != "" {
				page := w.ask(server, http.MethodGet, "", "limit", "2", "continue", a.next)
				if page.code != http.StatusOK || page.version != a.version {
					t.Errorf("the next page: %+v", page)
				}
				a.names, a.next = a.names+page.names, page.next
			}
			w.wantState(cell, a)
		})
		w.eachCell(server, continueMatrix, func(version, match, cell string) {
			w.wantState(cell, w.ask(server, http.MethodGet, "",
				"resourceVersion", w.versions[version], "resourceVersionMatch", match, "continue", w.tokens["good"], "limit", "7"))
		})
	})
}

// wantState checks the whole of a list.
func (w *matrixWorld) wantState(cell string, a matrixAnswer) {
	w.Helper()
	names, isState := matrixStates[cell]
	if !isState {
		w.wantErrors(cell, a.status)
		return
	}
	at := cell
	if cell == "rest" {
		at = "window"
	}
	if a.code != http.StatusOK || a.names != names || a.version != w.versions[at] || a.next != "" {
		w.Errorf("got %d %q at %s, want %q at %s: %s", a.code, a.names, a.version, names, w.versions[at], a.body)
	}
}

func TestMatrixOfTokens(t *testing.T) {
	made := func(revision int64, start string) string {
		data, err := json.Marshal(map[string]any{"v": "meta.k8s.io/v1", "rv": revision, "start": start})
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(data)
	}
	inMatrixWorld(t, func(t *testing.T, w *matrixWorld, server string) {
		for token, want := range map[string]string{
			"!": "badToken", made(0, "a\x00"): "badToken", made(-2, "a\x00"): "badToken", made(w.number("now"), ""): "badToken",
			made(w.number("now"), "../../secrets/x"): "badToken", made(w.number("now"), "a/../b"): "badToken",
			made(w.number("future"), "a\x00"): "future",
		} {
			w.wantErrors(want, w.ask(server, http.MethodGet, "", "continue", token).status)
		}
		a := w.ask(server, http.MethodGet, "", "continue", w.tokens["expired"])
		if server == sawAll {
			if a.names != "b" || a.version != w.versions["compacted"] {
				t.Errorf("%+v", a)
			}
			return
		}
		w.wantErrors("tooOld", a.status)
		if a = w.ask(server, http.MethodGet, "", "continue", a.status.Continue); a.names != "cde" || a.version != w.versions["now"] {
			t.Errorf("what the answer's token goes on with: %+v", a)
		}
	})
}

// A dry run shows what each combination would delete: what it lists, and still is.
func TestMatrixOfDeleteCollection(t *testing.T) {
	inMatrixWorld(t, func(t *testing.T, w *matrixWorld, server string) {
		wantDeleted := func(cell string, most int, a matrixAnswer) {
			names, isState := matrixStates[cell]
			if !isState {
				w.wantErrors(cell, a.status)
				return
			}
			want := strings.ReplaceAll(names[:min(most, len(names))], "b", "")
			if a.code != http.StatusOK || a.names != want {
				t.Errorf("got %d %q, want %q: %s", a.code, a.names, want, a.body)
			}
		}
		w.eachCell(server, listMatrix, func(version, match, cell string) {
			wantDeleted(cell, 9, w.ask(server, http.MethodDelete, "", "dryRun", "All",
				"resourceVersion", w.versions[version], "resourceVersionMatch", match))
		})
		w.eachCell(server, limitMatrix, func(version, match, cell string) {
			wantDeleted(cell, 2, w.ask(server, http.MethodDelete, "", "dryRun", "All",
				"resourceVersion", w.versions[version], "resourceVersionMatch", match, "limit", "2"))
		})
		w.eachCell(server, continueMatrix, func(version, match, cell string) {
			wantDeleted(cell, 9, w.ask(server, http.MethodDelete, "", "dryRun", "All",
				"resourceVersion", w.versions[version], "resourceVersionMatch", match, "continue", w.tokens["good"]))
		})
	})
}

func TestMatrixOfWatch(t *testing.T) {
	inMatrixWorld(t, func(t *testing.T, w *matrixWorld, server string) {
		for _, marks := range []string{"-", "true"} {
			w.eachCell(server, watchMatrix, func(version, column, cell string) {
				initial, match, _ := strings.Cut(column, ",")
				a := w.ask(server, http.MethodGet, "", "watch", "true", "timeoutSeconds", "5", "allowWatchBookmarks", marks,
					"resourceVersion", w.versions[version], "sendInitialEvents", initial, "resourceVersionMatch", match)
				told := w.told(a)
				want, tells := matrixEvents[cell]
				switch {
				case !tells && a.code == http.StatusOK:
					w.wantErrors(cell, told.failure)
					return
				case !tells:
					w.wantErrors(cell, a.status)
					return
				case marks == "true" && cell == "state":
					want += " END MARK"
				case marks == "true":
					want = strings.TrimSpace(want + " MARK")
				}
				if a.code != http.StatusOK || told.events != want {
					t.Errorf("got %d %q, want %q: %s", a.code, told.events, want, a.body)
				}
				if marks == "true" && cell != "ahead" && told.last != w.versions["now"] {
					t.Errorf("the last bookmark is of %s: %s", told.last, a.body)
				}
			})
		}
	})
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
