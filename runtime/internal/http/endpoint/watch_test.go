package endpoint

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestWatchWritesEvents(t *testing.T) {
	a, fakes := serve(t, widgets)
	fakes[0].batches = [][]verb.Event{
		{{Type: api.Added, Object: rendered(verb.Form{}, "a", 1)},
			{Type: api.Modified, Object: rendered(verb.Form{}, "a", 2)}},
		{{Type: api.Bookmark, Object: rendered(verb.Form{}, "", 3)}},
	}
	fakes[0].endWith = apierrors.NewResourceExpired("too old resource version: 1 (3)")
	w := do(a, "GET", base+"/namespaces/n/widgets?watch=1&resourceVersion=1&allowWatchBookmarks=true"+
		"&labelSelector=a%3Db", "")
	const object = `"kind":"Widget","apiVersion":"shop.example.com/v1","metadata":{"name":`
	want := `{"type":"ADDED","object":{` + object + `"a","resourceVersion":"1"},"spec":{"color":"red"}}}
{"type":"MODIFIED","object":{` + object + `"a","resourceVersion":"2"},"spec":{"color":"red"}}}
{"type":"BOOKMARK","object":{` + object + `"","resourceVersion":"3"},"spec":{"color":"red"}}}
{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
		`"message":"too old resource version: 1 (3)","reason":"Expired","code":410}}
`
	if w.Code != 200 || w.Body.String() != want || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %v\n%s", w.Code, w.Header(), w.Body)
	}
	got := fakes[0].watch
	if got.ResourceVersion != "1" || !got.AllowBookmarks || got.Labels.String() != "a=b" || got.Fields != nil ||
		got.SendInitialEvents != nil {
		t.Errorf("%+v", got)
	}
}

func TestWatchAsTableTellsItsColumnsOnce(t *testing.T) {
	a, fakes := serve(t, widgets)
	row := rendered(verb.Form{Shape: verb.RowWithMetadata}, "a", 1)
	fakes[0].batches = [][]verb.Event{{{Type: api.Added, Object: row}}, {{Type: api.Deleted, Object: row}}}
	fakes[0].endWith = context.Canceled
	lines := strings.Split(do(a, "GET", base+"/widgets?watch=1", "", "Accept", asTable).Body.String(), "\n")
	const tail = `,"rows":[{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"color":"red"}}]}}`
	const head = `,"object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},` +
		`"columnDefinitions":`
	if lines[0] != `{"type":"ADDED"`+head+widgetColumns+tail || lines[1] != `{"type":"DELETED"`+head+`null`+tail {
		t.Errorf("%s", lines)
	}
	if fakes[0].asked != "watch  {v1 3}" {
		t.Error(fakes[0].asked)
	}
}

func TestWatchesFromNowBeginWithTheState(t *testing.T) {
	a, fakes := serve(t, widgets)
	fakes[0].endWith = context.Canceled
	for _, query := range []string{"watch=1", "watch=1&resourceVersion=0",
		"watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"} {
		do(a, "GET", base+"/widgets?"+query, "")
		if got := fakes[0].watch.SendInitialEvents; got == nil || !*got {
			t.Errorf("%s: %v", query, got)
		}
	}
}

func TestOldWatchPaths(t *testing.T) {
	a, fakes := serve(t, widgets)
	fakes[0].endWith = context.Canceled
	do(a, "GET", base+"/watch/namespaces/n/widgets/a", "")
	if got := fakes[0].watch.Fields; fakes[0].asked != "watch n {v1 0}" || got == nil ||
		got.String() != "metadata.name=a" {
		t.Error(fakes[0].asked, got)
	}
	do(a, "GET", base+"/watch/widgets", "")
	if fakes[0].asked != "watch  {v1 0}" || fakes[0].watch.Fields != nil {
		t.Error(fakes[0].asked)
	}
	if w := do(a, "GET", base+"/watch/namespaces/n/widgets/a?fieldSelector=metadata.name%3Db", ""); w.Code != 400 {
		t.Error(w.Body)
	}
}

// measured is a WatchMeter.
type measured struct {
	sizes []int
	lists int
}

func (m *measured) Event(bytes int)      { m.sizes = append(m.sizes, bytes) }
func (m *measured) Listed(time.Duration) { m.lists++ }

// TestWatchesAreMeasured: the meter of a watch learns the size of each event, as it was sent, and when the state was
// sent that the client asked for.
func TestWatchesAreMeasured(t *testing.T) {
	for query, lists := range map[string]int{
		"watch=1": 0, "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan": 1,
	} {
		a, fakes := serve(t, widgets)
		fakes[0].endWith = context.Canceled
		fakes[0].batches = [][]verb.Event{
			{{Type: api.Added, Object: fakes[0].object}, {Type: api.Modified, Object: fakes[0].object}},
			{{Type: api.Deleted, Object: fakes[0].object}},
		}
		m := new(measured)
		a.watchMeter = func(*request.Info) WatchMeter { return m }
		var sizes []int
		for line := range strings.Lines(do(a, "GET", base+"/widgets?"+query, "").Body.String()) {
			sizes = append(sizes, len(line))
		}
		if !slices.Equal(m.sizes, sizes) || len(sizes) != 3 || m.lists != lists {
			t.Errorf("%s: measured were events of %d bytes and %d lists; %d were sent", query, m.sizes, m.lists, sizes)
		}
	}
}

// TestWatchEndsInTime also looks at what a watch holds while nothing happens.
func TestWatchEndsInTime(t *testing.T) {
	a, _ := serve(t, widgets)
	a.streamFrames = nil // a buffer for nothing would panic
	begun := time.Now()
	if w := do(a, "GET", base+"/widgets?watch=1&timeoutSeconds=1", ""); w.Code != 200 || w.Body.Len() != 0 {
		t.Error(w.Code, w.Body)
	}
	if took := time.Since(begun); took < time.Second || took > time.Minute {
		t.Error(took)
	}
}

func TestWatchTimeIsBetweenTheMinimumAndItsDouble(t *testing.T) {
	a, _ := serve(t, widgets)
	c := resourceRequest{api: a}
	for range 100 {
		if d := c.watchTime(nil); d < 30*time.Minute || d > time.Hour {
			t.Fatal(d)
		}
	}
	huge := int64(1) << 62
	if d := c.watchTime(&huge); d <= 0 {
		t.Error(d)
	}
}

// TestWatchIsFlushed reads an event from a connection whose watch has not ended.
func TestWatchIsFlushed(t *testing.T) {
	a, fakes := serve(t, widgets)
	fakes[0].batches = [][]verb.Event{{{Type: api.Added, Object: rendered(verb.Form{}, "a", 1)}}}
	server := httptest.NewServer(a)
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+base+"/widgets?watch=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	line, err := bufio.NewReader(response.Body).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, `{"type":"ADDED"`) || response.TransferEncoding[0] != "chunked" {
		t.Error(line, err, response.TransferEncoding)
	}
}

func BenchmarkWatch10000(b *testing.B) {
	a, fakes := serve(b, widgets)
	batch := make([]verb.Event, 100)
	for i := range batch {
		batch[i] = verb.Event{Type: api.Modified, Object: rendered(verb.Form{}, strings.Repeat("x", 960), 123456)}
	}
	batches := make([][]verb.Event, 100)
	for i := range batches {
		batches[i] = batch
	}
	fakes[0].endWith = context.Canceled
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, base+"/widgets?watch=1", nil)
	b.ReportAllocs()
	b.SetBytes(10000 * 1024)
	for b.Loop() {
		fakes[0].batches = batches
		w := &discard{header: http.Header{}}
		if a.ServeHTTP(w, r); w.n < 10000*1000 {
			b.Fatalf("%d bytes", w.n)
		}
	}
}

// flushes counts the pieces in which an answer came.
type flushes struct {
	discard
	n int
}

func (f *flushes) Flush() { f.n++ }

// backlogWatch has its batches at hand, and says so as long as others follow; or always, where it ends before it
// should.
type backlogWatch struct {
	fakeWatch
	always bool
}

func (w *backlogWatch) More() bool { return w.always || len(w.batches) > 0 }

// TestWatchWritesWhatIsAtHandInOnePiece: between the header and the end there is one flush.
func TestWatchWritesWhatIsAtHandInOnePiece(t *testing.T) {
	a, fakes := serve(t, widgets)
	batches := make([][]verb.Event, 40)
	for i := range batches {
		batches[i] = []verb.Event{{Type: api.Added, Object: rendered(verb.Form{}, strings.Repeat("x", 960), i)}}
	}
	for name, end := range map[string]backlogWatch{
		"state":   {fakeWatch: fakeWatch{end: context.Canceled}},
		"failure": {fakeWatch: fakeWatch{end: errors.New("broken")}},
		"cut off": {fakeWatch: fakeWatch{end: context.Canceled}, always: true},
	} {
		t.Run(name, func(t *testing.T) {
			end.batches = batches
			fakes[0].watching = &end
			w := &flushes{discard: discard{header: http.Header{}}}
			a.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, base+"/widgets?watch=1", nil))
			if w.discard.n < 40*1000 {
				t.Errorf("%d bytes", w.discard.n)
			}
			if w.n > 3 {
				t.Errorf("%d flushes", w.n)
			}
		})
	}
}
