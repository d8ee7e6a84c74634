package endpoint_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What resourceVersion, resourceVersionMatch, limit, continue and sendInitialEvents mean together: every combination
// for each verb, as the Kubernetes API concepts have it, over one history:
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
	matrixEvents = map[string]string{"state": "+a +c +d +e", "later": "+c -b +d +e", "sinceOld": "-b +d +e",
		"sinceD": "+e", "nothing": "", "ahead": ""}
)

type matrixError struct {
	code   int32
	reason metav1.StatusReason
	text   string
}

const matchForbidden = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden "

// matrixErrors are those of the tables.
var matrixErrors = map[string]matrixError{
	"unless": {422, metav1.StatusReasonInvalid, matchForbidden + "unless resourceVersion is provided"},
	"exactly0": {422, metav1.StatusReasonInvalid,
		`resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`},
	"unknown": {422, metav1.StatusReasonInvalid,
		`resourceVersionMatch: Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", ""`},
	"continued": {422, metav1.StatusReasonInvalid, matchForbidden + "when continue is provided"},
	"unpaired":  {422, metav1.StatusReasonInvalid, matchForbidden + "for watch unless sendInitialEvents is provided"},
	"unsupported": {422, metav1.StatusReasonInvalid,
		`resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"`},
	"needs": {422, metav1.StatusReasonInvalid,
		"resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
	"invalid": {422, metav1.StatusReasonInvalid, `resourceVersion: Invalid value: "abc"`},
	"number": {400, metav1.StatusReasonBadRequest,
		`invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid ` +
			`syntax`},
	"exclusive": {400, metav1.StatusReasonBadRequest,
		"specifying resource version is not allowed when using continue"},
	"expired": {410, metav1.StatusReasonExpired, "The resourceVersion for the provided list is too old."},
	"gone":    {410, metav1.StatusReasonExpired, "too old resource version: "},
	"future":  {504, metav1.StatusReasonTimeout, "Too large resource version: "},
	"absent":  {404, metav1.StatusReasonNotFound, `widgets.shop.example.com "b" not found`},
	"tooOld": {410, metav1.StatusReasonExpired,
		"or use the continue token in this response to retrieve the remainder of the results"},
	"badToken": {400, metav1.StatusReasonBadRequest, "invalid continue token: continue key is not valid"},
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
			w.wantState(cell, w.ask(server, http.MethodGet, "", "resourceVersion", w.versions[version],
				"resourceVersionMatch", match))
		})
		w.eachCell(server, limitMatrix, func(version, match, cell string) {
			a := w.ask(server, http.MethodGet, "", "resourceVersion", w.versions[version], "resourceVersionMatch",
				match, "limit", "2")
			if ignoresLimit(server, version) {
				w.wantState(cell, a)
				return
			}
			if want := len(matrixStates[cell]) - 2; a.code == http.StatusOK && want > 0 &&
				(a.remaining == nil || *a.remaining != int64(want)) {
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
				"resourceVersion", w.versions[version], "resourceVersionMatch", match,
				"continue", w.tokens["good"], "limit", "7"))
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
			"!": "badToken", made(0, "a\x00"): "badToken", made(-2, "a\x00"): "badToken", made(w.number("now"),
				""): "badToken",
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
		if a = w.ask(server, http.MethodGet, "", "continue", a.status.Continue); a.names != "cde" ||
			a.version != w.versions["now"] {
			t.Errorf("what the answer's token goes on with: %+v", a)
		}
	})
}

// ignoresLimit reports whether a cache answers with all that it has at hand.
func ignoresLimit(server, version string) bool { return version == "0" && server != noCache }

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
		// What is deleted is listed with a limit of the server's own, so that a version without a match is exact.
		w.eachCell(server, limitMatrix, func(version, match, cell string) {
			wantDeleted(cell, 9, w.ask(server, http.MethodDelete, "", "dryRun", "All",
				"resourceVersion", w.versions[version], "resourceVersionMatch", match))
		})
		w.eachCell(server, limitMatrix, func(version, match, cell string) {
			most := 2
			if ignoresLimit(server, version) {
				most = 9
			}
			wantDeleted(cell, most, w.ask(server, http.MethodDelete, "", "dryRun", "All",
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
				a := w.ask(server, http.MethodGet, "", "watch", "true", "timeoutSeconds", "5",
					"allowWatchBookmarks", marks,
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
				case marks == "true" && cell == "ahead": // what has not happened is not promised
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

// A watch from the future tells what happens after it alone, and no bookmark before it has come.
func TestWatchOfTheFuture(t *testing.T) {
	inMatrixWorld(t, func(t *testing.T, w *matrixWorld, server string) {
		ahead := w.number("now") + 2
		done := make(chan matrixAnswer)
		go func() {
			done <- w.ask(server, http.MethodGet, "", "watch", "true", "timeoutSeconds", "300",
				"allowWatchBookmarks", "true",
				"resourceVersion", strconv.FormatInt(ahead, 10))
		}()
		<-time.After(2 * time.Minute) // the bubble's time: bookmarks have been due
		for i := range 4 {
			w.create(fmt.Sprintf("f%d", i))
		}
		told := w.told(<-done)
		events, marks, _ := strings.Cut(told.events, " MARK")
		if events != "+f2 +f3" || strings.Trim(marks, "MARK ") != "" || told.last != strconv.FormatInt(ahead+2, 10) {
			t.Errorf("from %d: %q, the last bookmark is of %s", ahead, told.events, told.last)
		}
	})
}

// A watch that wants bookmarks gets one about each minute, and one before its end, while nothing happens.
func TestBookmarksEachMinute(t *testing.T) {
	inMatrixWorld(t, func(t *testing.T, w *matrixWorld, server string) {
		told := w.told(w.ask(server, http.MethodGet, "", "watch", "true", "timeoutSeconds", "600",
			"allowWatchBookmarks", "true",
			"resourceVersion", w.versions["now"]))
		marks := strings.Count(told.events, "MARK")
		if strings.Trim(told.events, "MARK ") != "" || marks < 8 || marks > 10 || told.last != w.versions["now"] {
			t.Errorf("in 10 minutes: %d bookmarks, %q, the last one of %s", marks, told.events, told.last)
		}
	})
}

// TestWatchOfNoTime: it begins, tells nothing of what there is to tell, and ends, as with kube-apiserver.
func TestWatchOfNoTime(t *testing.T) {
	inMatrixWorld(t, func(t *testing.T, w *matrixWorld, server string) {
		for _, seconds := range []string{"-1", "-9223372036854775808"} {
			for _, version := range []string{"-", "0", "old"} {
				r := httptest.NewRequest(http.MethodGet,
					matrixPath+"?watch=1&timeoutSeconds="+seconds+"&resourceVersion="+w.versions[version], nil)
				answer := httptest.NewRecorder()
				w.servers[server].ServeHTTP(answer, r)
				if answer.Code != http.StatusOK || answer.Body.Len() > 0 {
					t.Errorf("%s seconds from %q: %d %s", seconds, version, answer.Code, answer.Body)
				}
			}
		}
	})
}
