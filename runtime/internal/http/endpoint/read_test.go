package endpoint

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// TestErrorsComeBeforeNotAcceptable: a read that fails in any case is not refused for what its answer can't be made.
func TestErrorsComeBeforeNotAcceptable(t *testing.T) {
	const (
		bogus  = "application/json;as=Bogus;v=v1;g=meta.k8s.io"
		ofList = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
		ofOne  = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	)
	absent := apierrors.NewNotFound(widgets.GroupResource(), "a")
	for name, c := range map[string]struct {
		method, path, accept string
		fail                 error
		code                 int
		asked                bool
	}{
		"nothing to get":          {"GET", itemPath, ofList, absent, 404, true},
		"get":                     {"GET", itemPath, ofList, nil, 406, true},
		"get of a bad version":    {"GET", itemPath + "?resourceVersion=x", ofList, nil, 422, false},
		"get of an unknown shape": {"GET", itemPath, bogus, absent, 406, false},
		"get of text":             {"GET", itemPath, "text/plain", absent, 406, false},
		"list":                    {"GET", collectionPath, ofOne, nil, 406, true},
		"list of a bad selector":  {"GET", collectionPath + "?labelSelector=!!", ofOne, nil, 400, false},
		"watch in YAML":           {"GET", collectionPath + "?watch=1", "application/yaml", nil, 406, true},
		"watch in YAML of a bad field": {"GET", collectionPath + "?watch=1&fieldSelector=no%3D", "application/yaml",
			nil, 400, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, fakes := serve(t, widgets)
			fakes[0].fail = c.fail
			w := do(a, c.method, c.path, "", "Accept", c.accept)
			if w.Code != c.code || (fakes[0].asked != "") != c.asked || fakes[0].openPages != 0 {
				t.Errorf("%d, asked %q, %d pages: %s", w.Code, fakes[0].asked, fakes[0].openPages, w.Body)
			}
		})
	}
}

func TestGetWritesTheRendition(t *testing.T) {
	const whole = `{"kind":"Widget","apiVersion":"shop.example.com/v1","metadata":{"name":"a",` +
		`"resourceVersion":"7"},"spec":{"color":"red"}}` + "\n"
	columns := widgetColumns
	cases := []struct{ name, query, accept, asked, contentType, want string }{
		{"plain", "", "", "{v1 0}", "application/json", whole},
		{"any", "", "*/*", "{v1 0}", "application/json", whole},
		{"protobuf preferred", "", "application/vnd.kubernetes.protobuf,application/json", "{v1 0}",
			"application/json", whole},
		{"yaml", "", "application/yaml", "{v1 0}", "application/yaml",
			"apiVersion: shop.example.com/v1\nkind: Widget\nmetadata:\n  name: a\n  resourceVersion: \"7\"\nspec:\n  " +
				"color: red\n"},
		{"pretty", "?pretty=true", "", "{v1 0}", "application/json",
			"{\n  \"kind\": \"Widget\",\n  \"apiVersion\": \"shop.example.com/v1\",\n  \"metadata\": {\n    " +
				"\"name\": \"a\",\n    \"resourceVersion\": \"7\"\n  },\n  \"spec\": {\n    \"color\": \"red\"\n  " +
				"}\n}\n"},
		{"metadata", "", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "{v1 1}", "application/json",
			strings.Replace(whole, `"kind":"Widget","apiVersion":"shop.example.com/v1"`,
				`"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"`, 1)},
		{"table", "", asTable, "{v1 3}", "application/json",
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},` +
				`"columnDefinitions":` + columns +
				`,"rows":[{"metadata":{"name":"a","resourceVersion":"7"},"spec":{"color":"red"}}]}` + "\n"},
		{"table of rows", "?includeObject=None", asTable, "{v1 3}", "application/json", ""},
		{"table of objects", "?includeObject=Object", asTable, "{v1 4}", "application/json", ""},
		{"kubectl's", "", asTable + ",application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", "{v1 3}",
			"application/json", ""},
		{"old table", "", "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", "{v1 131}",
			"application/json",
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1beta1","metadata":{"resourceVersion":"7"},` +
				`"columnDefinitions":` + columns +
				`,"rows":[{"metadata":{"name":"a","resourceVersion":"7"},"spec":{"color":"red"}}]}` + "\n"},
		{"old table of rows", "?includeObject=None", "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
			"{v1 131}", "application/json", ""},
		{"old table in protobuf, else JSON", "",
			"application/vnd.kubernetes.protobuf;as=Table;v=v1beta1;g=meta.k8s.io,application/json", "{v1 0}",
			"application/json", whole},
		{"table of no version, else JSON", "", "application/json;as=Table;v=v2;g=meta.k8s.io,application/json",
			"{v1 0}", "application/json", whole},
		{"as a watch", "", "application/json;stream=watch", "{v1 0}", "application/json", whole},
		{"as another stream, else YAML", "", "application/json;stream=x,application/yaml;q=0.1", "{v1 0}",
			"application/yaml", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a, fakes := serve(t, widgets)
			form := verb.Form{Shape: map[string]verb.Shape{"{v1 1}": verb.Metadata, "{v1 3}": verb.RowWithMetadata,
				"{v1 4}": verb.RowWithObject, "{v1 131}": verb.RowWithMetadata}[c.asked]}
			fakes[0].object = rendered(form, "a", 7)
			w := do(a, "GET", base+"/namespaces/n/widgets/a"+c.query, "", "Accept", c.accept)
			if w.Code != 200 || fakes[0].asked != "get n a  "+c.asked ||
				w.Header().Get("Content-Type") != c.contentType {
				t.Fatalf("%d %q %v: %s", w.Code, fakes[0].asked, w.Header(), w.Body)
			}
			if c.want != "" && w.Body.String() != c.want {
				t.Errorf("got  %s\nwant %s", w.Body, c.want)
			}
			if w.Header().Get("Content-Length") != fmt.Sprint(w.Body.Len()) {
				t.Error(w.Header())
			}
		})
	}
}

func TestWhatCannotBeAccepted(t *testing.T) {
	list, get, watch := base+"/namespaces/n/widgets", base+"/namespaces/n/widgets/a", base+"/widgets?watch=1"
	for _, c := range []struct{ path, accept, want string }{
		{list, "application/json;as=Bogus;v=v1;g=meta.k8s.io", "application/json, application/yaml, application/cbor"},
		{list, "application/vnd.kubernetes.protobuf", "application/json, application/yaml, application/cbor"},
		{list, ";;;,,,", "application/json, application/yaml, application/cbor"},
		{list, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
			"application/json, application/yaml, application/cbor"},
		{get, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
			"application/json, application/yaml, application/cbor"},
		{get, "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
			"application/json, application/yaml, application/cbor"},
		{watch, "application/yaml", "application/json, application/yaml, application/cbor"},
		{watch, "application/json;stream=other", "application/json, application/yaml, application/cbor"},
		{get, "application/json;stream=other", "application/json, application/yaml, application/cbor"},
		{get, "application/yaml;stream=watch", "application/json, application/yaml, application/cbor"},
		{get, "*/json", "application/json, application/yaml, application/cbor"},
	} {
		a, _ := serve(t, widgets)
		w := do(a, "GET", c.path, "", "Accept", c.accept)
		status := statusIn(t, w)
		if w.Code != 406 || status.Reason != metav1.StatusReasonNotAcceptable ||
			status.Message != "only the following media types are accepted: "+c.want {
			t.Errorf("%s: %d %+v", c.accept, w.Code, status)
		}
	}
}

func TestBadIncludeObjectIsRefused(t *testing.T) {
	a, _ := serve(t, widgets)
	if w := do(a, "GET", base+"/widgets?includeObject=Bogus", "", "Accept", asTable); w.Code != 400 {
		t.Error(w.Code, w.Body)
	}
	if w := do(a, "GET", base+"/widgets?includeObject=Bogus", ""); w.Code != 200 {
		t.Error("only Tables have the option", w.Body)
	}
}

func TestListWritesItsItems(t *testing.T) {
	a, fakes := serve(t, widgets)
	cases := []struct {
		name, accept string
		page         verb.Page
		want         string
	}{
		{"empty", "", pageOf(), `{"kind":"WidgetList","apiVersion":"shop.example.com/v1",` +
			`"metadata":{"resourceVersion":"100"},"items":[]}` + "\n"},
		{"page", "", verb.Page{ResourceVersion: "9", Continue: "ab=", Remaining: ptr.To(int64(3)),
			Items: pageOf(rendered(verb.Form{}, "a", 1), rendered(verb.Form{}, "b", 2)).Items},
			`{"kind":"WidgetList","apiVersion":"shop.example.com/v1","metadata":{"resourceVersion":"9",` +
				`"continue":"ab=","remainingItemCount":3},"items":[` +
				`{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"color":"red"}},{"metadata":{"name":"b",` +
				`"resourceVersion":"2"},"spec":{"color":"red"}}]}` + "\n"},
		{"metadata", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
			pageOf(rendered(verb.Form{Shape: verb.Metadata}, "a", 1)),
			`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"100"},` +
				`"items":[` +
				`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a",` +
				`"resourceVersion":"1"},"spec":{"color":"red"}}]}` + "\n"},
		{"empty table", asTable, pageOf(),
			`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"100"},"columnDefinitions":` +
				widgetColumns + `,"rows":[]}` + "\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fakes[0].page = c.page
			w := do(a, "GET", base+"/widgets", "", "Accept", c.accept)
			if w.Body.String() != c.want || !json.Valid(w.Body.Bytes()) {
				t.Errorf("got  %s\nwant %s", w.Body, c.want)
			}
		})
	}
}

func TestAgesAreFilledIn(t *testing.T) {
	a, fakes := serve(t, widgets)
	payload := `"cells":["a","","3 ( ago)"]}`
	fakes[0].page = pageOf(verb.Rendition{Payload: []byte(payload), Holes: []verb.Hole{
		{At: uint32(strings.Index(payload, `","3`)), Since: time.Now().Add(-49 * time.Hour)},
		{At: uint32(strings.Index(payload, " ago"))}}})
	w := do(a, "GET", base+"/widgets", "", "Accept", asTable)
	if !strings.Contains(w.Body.String(), `{"cells":["a","2d1h","3 (<unknown> ago)"]}`) {
		t.Error(w.Body)
	}
	var table metav1.Table
	if err := json.Unmarshal(w.Body.Bytes(), &table); err != nil || table.ColumnDefinitions[1].Priority != 1 {
		t.Error(err, table)
	}
}

func TestLargeAnswersAreCompressedOnRequest(t *testing.T) {
	a, fakes := serve(t, widgets)
	big := rendered(verb.Form{}, strings.Repeat("x", 3000), 1)
	many := make([]verb.Rendition, 500)
	for i := range many {
		many[i] = big
	}
	fetch := func(items int, accept string) (*httptest.ResponseRecorder, []byte) {
		fakes[0].page = pageOf(many[:items]...)
		w := do(a, "GET", base+"/widgets", "", "Accept-Encoding", accept)
		body := w.Body.Bytes()
		if w.Header().Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if !json.Valid(body) || bytes.Count(body, []byte(`"spec"`)) != items {
			t.Errorf("%d items: %d bytes that are wrong", items, len(body))
		}
		return w, body
	}
	plain, _ := fetch(500, "")
	zipped, _ := fetch(500, "deflate, gzip;q=1")
	if zipped.Header().Get("Content-Encoding") != "gzip" || plain.Header().Get("Content-Encoding") != "" {
		t.Error(zipped.Header(), plain.Header())
	}
	if zipped.Body.Len() > plain.Body.Len()/10 {
		t.Errorf("%d of %d bytes", zipped.Body.Len(), plain.Body.Len())
	}
	if small, _ := fetch(5, "gzip"); small.Header().Get("Content-Encoding") != "" {
		t.Error("small answers are not worth it")
	}
	if refused, _ := fetch(500, "gzip;q=0"); refused.Header().Get("Content-Encoding") != "" {
		t.Error("gzip was refused")
	}
}

// discard is a ResponseWriter that costs nothing.
type discard struct {
	header http.Header
	n      int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { d.n += len(b); return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// listOf is a page of n objects of 1 KiB, and a function that lists it.
func listOf(t testing.TB, n int, accept string) func() int {
	a, fakes := serve(t, widgets)
	item := rendered(verb.Form{}, strings.Repeat("x", 960), 123456)
	if accept != "" {
		item.Holes = []verb.Hole{{At: uint32(len(item.Payload)) - 1, Since: time.Now().Add(-time.Hour)}}
	}
	items := make([]verb.Rendition, n)
	for i := range items {
		items[i] = item
	}
	fakes[0].page = pageOf(items...)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, base+"/widgets", nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	info, err := request.New(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	r = r.WithContext(request.WithInfo(r.Context(), info))
	return func() int {
		w := discard{header: http.Header{}}
		a.ServeHTTP(&w, r)
		return w.n
	}
}

func TestListAllocatesTheSameForAnyNumberOfObjects(t *testing.T) {
	for _, accept := range []string{"", asTable} {
		few, many := listOf(t, 10, accept), listOf(t, 10000, accept)
		if n := many(); n < 10000*1000 {
			t.Fatalf("only %d bytes", n)
		}
		few()
		a, b := testing.AllocsPerRun(20, func() { few() }), testing.AllocsPerRun(20, func() { many() })
		if b > a+8 {
			t.Errorf("%q: %v allocations for 10 objects, %v for 10,000", accept, a, b)
		}
	}
}

func BenchmarkList10000(b *testing.B) {
	for name, accept := range map[string]string{"JSON": "", "Table": asTable} {
		b.Run(name, func(b *testing.B) {
			list := listOf(b, 10000, accept)
			b.SetBytes(int64(list()))
			b.ReportAllocs()
			for b.Loop() {
				list()
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	a, _ := serve(b, widgets)
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, base+"/namespaces/n/widgets/a", nil)
	info, err := request.New(r, nil)
	if err != nil {
		b.Fatal(err)
	}
	r = r.WithContext(request.WithInfo(r.Context(), info))
	b.ReportAllocs()
	for b.Loop() {
		a.ServeHTTP(&discard{header: http.Header{}}, r)
	}
}

// TestCompressionBeginsWhereKubesDoes: what is larger than 128 KiB is compressed, in every format.
func TestCompressionBeginsWhereKubesDoes(t *testing.T) {
	a, fakes := serve(t, widgets)
	fakes[0].object = verb.Rendition{Head: `"kind":"Widget",`}
	for _, c := range []struct {
		size int
		want string
	}{{128 << 10, ""}, {128<<10 + 1, "gzip"}, {frameSize, "gzip"}, {frameSize + 1, "gzip"}} {
		around := len("{" + fakes[0].object.Head + `"a":""}` + "\n")
		fakes[0].object.Payload = []byte(`"a":"` + strings.Repeat("x", c.size-around) + `"}`)
		w := do(a, "GET", base+"/namespaces/n/widgets/a", "", "Accept-Encoding", "gzip")
		if got := w.Header().Get("Content-Encoding"); got != c.want {
			t.Errorf("%d bytes: %q, want %q", c.size, got, c.want)
		}
	}
}
