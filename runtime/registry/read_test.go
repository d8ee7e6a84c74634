package registry_test

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

func selection(t testing.TB, l, f string) (s api.Selection) {
	var err error
	if l != "" {
		if s.Labels, err = labels.Parse(l); err != nil {
			t.Fatal(err)
		}
	}
	if f != "" {
		if s.Fields, err = fields.ParseSelector(f); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// names lists in a namespace and returns the names, and the page.
func (b *bench) names(namespace string, opts verb.ListOptions) (string, *verb.Page) {
	b.Helper()
	page, err := b.List(b.ctx(), namespace, opts, v1)
	if err != nil {
		b.Fatal(err)
	}
	defer page.Close()
	var names []string
	for r := range page.Items {
		names = append(names, b.parse(r).Name)
	}
	if len(names) != page.Len {
		b.Errorf("Len is %d of %v", page.Len, names)
	}
	return strings.Join(names, " "), page
}

func (b *bench) fill(n int) {
	b.Helper()
	for i := range n {
		color := []string{"red", "blue"}[i%2]
		b.create(fmt.Sprintf(`{"metadata":{"name":"w%03d","labels":{"third":"%t"}},"spec":{"color":%q}}`, i, i%3 == 0,
			color))
	}
}

// TestPagesOfAnyLength: what is looked up a few at a time is all there, in order, wherever the page ends and the reader
// stops, with the form that is stored and one that isn't, with a selector and without.
func TestPagesOfAnyLength(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		const n = 50
		b.fill(n)
		for _, selected := range []string{"", "third"} {
			for _, form := range []verb.Form{v1, v1beta1} {
				for limit := 1; limit <= n; limit++ {
					page, err := b.List(b.ctx(), "ns", verb.ListOptions{Limit: int64(limit),
						Selection: selection(t, selected, "")}, form)
					if err != nil {
						t.Fatal(err)
					}
					for stop := range limit + 1 {
						if got := b.first(page, stop); got != min(stop, limit) {
							t.Fatalf("limit %d, selector %q, %v: %d of the first %d items are right", limit, selected,
								form, got, stop)
						}
					}
					page.Close()
				}
			}
		}
	})
}

// TestJoinedPages: what a long page has joined is its items, each behind a comma, in all forms that are joined; also
// where
// objects were written since it was joined before.
func TestJoinedPages(t *testing.T) {
	b := open(t, registry.New(shop.Definition()), true)
	const n = 200
	b.fill(n)
	forms := []verb.Form{{Version: "v1", Shape: verb.Metadata}, {Version: "v1", Shape: verb.Row},
		{Version: "v1", Shape: verb.RowWithObject}}
	for round := range 3 {
		for _, form := range forms {
			for _, limit := range []int64{0, 100, 150} {
				page, err := b.List(b.ctx(), "ns", verb.ListOptions{Limit: limit}, form)
				if err != nil {
					t.Fatal(err)
				}
				var want, got strings.Builder
				for r := range page.Items {
					want.WriteString(",{" + r.Head + aged(r.Payload, r.Holes, 0))
				}
				for _, block := range page.Blocks {
					got.WriteString(aged(block.Data, block.Holes, block.At))
				}
				if got.String() != want.String() || got.Len() == 0 {
					t.Errorf("round %d, %v, limit %d:\n%s\nnot\n%s", round, form, limit, got.String(), want.String())
				}
				page.Close()
			}
		}
		if _, err := b.patch(fmt.Sprintf("w%03d", 17*round), "", `{"spec":{"color":"green"}}`); err != nil {
			t.Fatal(err)
		}
	}
}

// aged has the times of holes in their places.
func aged(data []byte, holes []verb.Hole, at uint32) string {
	var out strings.Builder
	from := uint32(0)
	for _, h := range holes {
		fmt.Fprintf(&out, "%s%q", data[from:h.At-at], h.Since)
		from = h.At - at
	}
	out.Write(data[from:])
	return out.String()
}

// first reads n items of a page at most, and tells how many of them are what fill wrote, in its order.
func (b *bench) first(page *verb.Page, n int) (right int) {
	read := 0
	for r := range page.Items {
		if read == n {
			break
		}
		if strings.Contains(string(r.Payload), fmt.Sprintf(`"name":"w%03d"`, read)) {
			right++
		}
		read++
	}
	return right
}

func TestGetAtRevisions(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		w := b.create(`{"metadata":{"name":"a"}}`)
		for _, version := range []string{"", "0", w.ResourceVersion, "1"} {
			r, err := b.Get(b.ctx(), "ns", "a", version, v1)
			if version == "0" {
				continue // may be older
			}
			if err != nil || b.parse(r).ResourceVersion != w.ResourceVersion {
				t.Errorf("%q: %v", version, err)
			}
		}
		_, err := b.Get(b.ctx(), "ns", "a", "x", v1)
		wantStatus(t, err, 400, metav1.StatusReasonBadRequest, "invalid resource version")
		_, err = b.Get(b.ctx(), "ns", "a", "99999999999999999999999", v1)
		wantStatus(t, err, 400, metav1.StatusReasonBadRequest, "invalid resource version")
		_, err = b.Get(b.ctx(), "ns", "nope", "", v1)
		wantStatus(t, err, 404, metav1.StatusReasonNotFound, `widgets.shop.example.com "nope" not found`)
		_, err = b.Get(b.ctx(), "ns", "..", "", v1)
		wantStatus(t, err, 400, metav1.StatusReasonBadRequest, "Name parameter invalid")
		_, err = b.Get(b.ctx(), "../ns", "a", "", v1)
		wantStatus(t, err, 400, metav1.StatusReasonBadRequest, "Namespace parameter invalid")
		_, err = b.Get(b.ctx(), "", "a", "", v1)
		wantStatus(t, err, 400, metav1.StatusReasonBadRequest, "Namespace parameter required.")
	})
}

func TestForms(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		w := b.create(`{"metadata":{"name":"a"},"spec":{"color":"red","parts":["m","n"]}}`)
		metadata := `"metadata":{"name":"a","namespace":"ns","uid":"` + string(w.UID) + `","resourceVersion":"` +
			w.ResourceVersion +
			`","generation":1,"creationTimestamp":"` + w.CreationTimestamp.UTC().Format("2006-01-02T15:04:05Z") + `",` +
			managed(w, `{"f:spec":{"f:color":{},"f:parts":{},"f:size":{}}}`) + `}`
		partial := `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",` + metadata + `}`
		object := `{"kind":"Widget","apiVersion":"shop.example.com/v1",` + metadata +
			`,"spec":{"color":"red","size":1,"parts":["m","n"]}}`
		old := `{"kind":"Widget","apiVersion":"shop.example.com/v1beta1",` + metadata +
			`,"spec":{"colour":"red","size":1,"parts":"m,n"}}`
		for form, want := range map[verb.Form]string{
			{Version: "v1"}:                                   object,
			{Version: "v1beta1"}:                              old,
			{Version: "v1", Shape: verb.Metadata}:             partial,
			{Version: "v1beta1", Shape: verb.Metadata}:        partial,
			{Version: "v1", Shape: verb.Row}:                  `{"cells":["a","red",""],"object":null}`,
			{Version: "v1", Shape: verb.RowWithMetadata}:      `{"cells":["a","red",""],"object":` + partial + `}`,
			{Version: "v1beta1", Shape: verb.RowWithMetadata}: `{"cells":["a",""],"object":` + partial + `}`,
			{Version: "v1beta1", Shape: verb.RowWithObject}:   `{"cells":["a",""],"object":` + old + `}`,
		} {
			r, err := b.Get(b.ctx(), "ns", "a", "", form)
			if err != nil || whole(r) != want {
				t.Errorf("%v: %v\ngot  %s\nwant %s", form, err, whole(r), want)
			}
			if at := string(r.Payload[r.VersionAt : r.VersionAt+r.VersionLen]); form.Shape != verb.Row &&
				at != w.ResourceVersion {
				t.Errorf("%v: resourceVersion %q", form, at)
			}
			if form.Shape >= verb.Row && (len(r.Holes) != 1 || !r.Holes[0].Since.Equal(w.CreationTimestamp.Time) ||
				!bytes.HasPrefix(r.Payload[r.Holes[0].At:], []byte(`"]`))) {
				t.Errorf("%v: holes %v", form, r.Holes)
			}
		}
		_, err := b.Get(b.ctx(), "ns", "a", "", verb.Form{Version: "v9"})
		wantStatus(t, err, 500, metav1.StatusReasonInternalError, "")
	})
}

func TestInfoHasColumns(t *testing.T) {
	info := registry.New(shop.Definition()).Info()
	var got []string
	for _, v := range info.Versions {
		for _, c := range v.Columns {
			got = append(got, v.Name+":"+c.Name+":"+c.Format)
		}
	}
	if s := strings.Join(got, " "); s != "v1:Name:name v1:Color: v1:Age: v1beta1:Name:name v1beta1:Age:" {
		t.Error(s)
	}
	if info.Names.ListKind != "WidgetList" || info.Names.Singular != "widget" ||
		fmt.Sprint(info.Subresources) != "[{status [] [get patch update]}]" {
		t.Errorf("%+v", info)
	}
}

func TestListSelects(t *testing.T) {
	cases := []struct{ labels, fields, want string }{
		{"", "", "w000 w001 w002 w003 w004 w005 w006"},
		{"third=true", "", "w000 w003 w006"},
		{"third!=true,nope!=x", "", "w001 w002 w004 w005"},
		{"", "spec.color=red", "w000 w002 w004 w006"},
		{"", "spec.color!=red", "w001 w003 w005"},
		{"third=true", "spec.color=red", "w000 w006"},
		{"", "metadata.name=w004", "w004"},
		{"third=true", "metadata.name=w004", ""},
		{"", "metadata.name=w004,metadata.namespace=ns", "w004"},
		{"", "metadata.name!=w004,metadata.namespace=other", ""},
		{"", "metadata.name=..", ""},
	}
	both(t, func(t *testing.T, b *bench) {
		b.fill(7)
		for _, c := range cases {
			for _, namespace := range []string{"ns", ""} {
				if got, _ := b.names(namespace,
					verb.ListOptions{Selection: selection(t, c.labels, c.fields)}); got != c.want {
					t.Errorf("%q %q in %q: %s", c.labels, c.fields, namespace, got)
				}
			}
		}
		_, err := b.List(b.ctx(), "ns", verb.ListOptions{Selection: selection(t, "", "spec.size=1")}, v1)
		wantStatus(t, err, 400, metav1.StatusReasonBadRequest, `"spec.size" is not a known field selector: only `+
			`"metadata.name", "metadata.namespace", "spec.color"`)
	})
}

func TestNamespacesDoNotLeak(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		for _, namespace := range []string{"a", "ab"} {
			if _, err := b.Create(b.ctx(), namespace, body(`{"metadata":{"name":"in-`+namespace+`"}}`),
				verb.WriteOptions{Form: v1}); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := b.names("a", verb.ListOptions{}); got != "in-a" {
			t.Error(got)
		}
	})
}

// pagesOf lists page by page and calls between after each of them.
func (b *bench) pagesOf(opts verb.ListOptions, between func()) (all []string, first string) {
	b.Helper()
	for {
		names, page := b.names("ns", opts)
		all = append(all, names)
		if first == "" {
			first = page.ResourceVersion
		}
		if page.ResourceVersion != first {
			b.Errorf("a page is of %s, the first of %s", page.ResourceVersion, first)
		}
		if page.Continue == "" {
			return all, first
		}
		opts.Continue, opts.ResourceVersion, opts.ResourceVersionMatch = page.Continue, "", ""
		between()
	}
}

func TestPagesAreOfOneRevision(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.fill(7)
		n := 0
		pages, _ := b.pagesOf(verb.ListOptions{Limit: 3}, func() {
			n++
			b.create(fmt.Sprintf(`{"metadata":{"name":"w004x%d"}}`, n))
			if n == 1 {
				if _, err := b.delete("w005", verb.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
		})
		if got := strings.Join(pages, "|"); got != "w000 w001 w002|w003 w004 w005|w006" {
			t.Error(got)
		}
		pages, _ = b.pagesOf(verb.ListOptions{Limit: 2, Selection: selection(t, "third=true", "")}, func() {})
		if got := strings.Join(pages, "|"); got != "w000 w003|w006" {
			t.Error(got)
		}
	})
}

func TestRemainingItemCount(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.fill(7)
		_, page := b.names("ns", verb.ListOptions{Limit: 3})
		if page.Remaining == nil || *page.Remaining != 4 {
			t.Errorf("remaining %v", page.Remaining)
		}
		_, page = b.names("ns", verb.ListOptions{Limit: 2, Selection: selection(t, "third=true", "")})
		if page.Remaining != nil || page.Continue == "" {
			t.Errorf("remaining %v of a filtered list", *page.Remaining)
		}
		_, page = b.names("ns", verb.ListOptions{Limit: 7})
		if page.Remaining != nil || page.Continue != "" {
			t.Error("a full page goes on")
		}
	})
}

func TestListAtRevisions(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		first := b.create(`{"metadata":{"name":"a"}}`).ResourceVersion
		second := b.create(`{"metadata":{"name":"b"}}`).ResourceVersion
		cases := []struct {
			version string
			match   metav1.ResourceVersionMatch
			limit   int64
			want    string
		}{
			{"", "", 0, "a b"},
			{first, metav1.ResourceVersionMatchExact, 0, "a"},
			{second, metav1.ResourceVersionMatchExact, 0, "a b"},
			{first, "", 5, "a"}, // the legacy rule: with a limit, exact
			{second, metav1.ResourceVersionMatchNotOlderThan, 0, "a b"},
			{second, metav1.ResourceVersionMatchNotOlderThan, 5, "a b"},
			{second, "", 0, "a b"},
		}
		for _, c := range cases {
			got, page := b.names("ns", verb.ListOptions{ResourceVersion: c.version, ResourceVersionMatch: c.match,
				Limit: c.limit})
			if got != c.want {
				t.Errorf("%+v: %s", c, got)
			}
			if c.match == metav1.ResourceVersionMatchExact && page.ResourceVersion != c.version {
				t.Errorf("%+v: at %s", c, page.ResourceVersion)
			}
		}
	})
}

// TestLimitOfWhatIsAtHand: with resourceVersion=0 the cache answers with everything, whatever the limit.
func TestLimitOfWhatIsAtHand(t *testing.T) {
	b := open(t, registry.New(shop.Definition()), true)
	b.fill(5)
	_, page := b.names("ns", verb.ListOptions{Limit: 2})
	type list = verb.ListOptions
	third := selection(t, "third=true", "")
	for name, c := range map[string]struct {
		opts list
		want string
	}{
		"all": {list{ResourceVersion: "0"}, "w000 w001 w002 w003 w004"},
		"not older": {list{ResourceVersion: "0", ResourceVersionMatch: "NotOlderThan"},
			"w000 w001 w002 w003 w004"},
		"selected":        {list{ResourceVersion: "0", Selection: third}, "w000 w003"},
		"continued":       {list{ResourceVersion: "0", Continue: page.Continue}, "w002 w003 w004"},
		"another version": {list{ResourceVersion: page.ResourceVersion}, "w000"},
	} {
		c.opts.Limit = 1
		got, page := b.names("ns", c.opts)
		if got != c.want || (page.Continue != "") != (name == "another version") {
			t.Errorf("%s: %s, continue %q", name, got, page.Continue)
		}
	}
}

func TestListRefuses(t *testing.T) {
	escape := func(start string) string {
		return registry.EncodeTokenForTest(5, start)
	}
	cases := map[string]struct {
		opts    verb.ListOptions
		code    int32
		reason  metav1.StatusReason
		message string
	}{
		"a resourceVersion that is none": {verb.ListOptions{ResourceVersion: "abc"}, 400, metav1.StatusReasonBadRequest,
			"invalid resource version"},
		"a match without a version": {verb.ListOptions{ResourceVersionMatch: "Exact"}, 422, metav1.StatusReasonInvalid,
			`ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is ` +
				`forbidden unless resourceVersion is provided`},
		"exactly 0": {verb.ListOptions{ResourceVersion: "0", ResourceVersionMatch: "Exact"}, 422,
			metav1.StatusReasonInvalid,
			`resourceVersionMatch "exact" is forbidden for resourceVersion "0"`},
		"an unknown match": {verb.ListOptions{ResourceVersion: "1", ResourceVersionMatch: "X"}, 422,
			metav1.StatusReasonInvalid, "Unsupported value"},
		"a token that is none": {verb.ListOptions{Continue: "!!!"}, 400, metav1.StatusReasonBadRequest,
			"invalid continue token: continue key is not valid"},
		"a token and a resourceVersion": {verb.ListOptions{Continue: escape("x"), ResourceVersion: "5"}, 400,
			metav1.StatusReasonBadRequest, "specifying resource version is not allowed when using continue"},
		"a token that leads elsewhere": {verb.ListOptions{Continue: escape("../../secrets/x")}, 400,
			metav1.StatusReasonBadRequest, "continue key is not valid"},
		"a token of revision 0": {verb.ListOptions{Continue: registry.EncodeTokenForTest(0, "x")}, 400,
			metav1.StatusReasonBadRequest, "incorrect encoded start resourceVersion"},
	}
	both(t, func(t *testing.T, b *bench) {
		b.fill(2)
		for name, c := range cases {
			_, err := b.List(b.ctx(), "ns", c.opts, v1)
			t.Run(name, func(t *testing.T) { wantStatus(t, err, c.code, c.reason, c.message) })
		}
	})
}

func TestCompactedRevisionsExpire(t *testing.T) {
	b := open(t, registry.New(shop.Definition()), false)
	b.fill(6)
	_, page := b.names("ns", verb.ListOptions{Limit: 2})
	old := page.ResourceVersion
	b.create(`{"metadata":{"name":"w001x"}}`)
	b.create(`{"metadata":{"name":"w004x"}}`)
	now, _ := b.backend.Revision(b.ctx())
	if err := b.backend.Compact(b.ctx(), now); err != nil {
		t.Fatal(err)
	}
	_, err := b.List(b.ctx(), "ns", verb.ListOptions{ResourceVersion: old, ResourceVersionMatch: "Exact"}, v1)
	wantStatus(t, err, 410, metav1.StatusReasonExpired, "The resourceVersion for the provided list is too old.")
	_, err = b.List(b.ctx(), "ns", verb.ListOptions{Limit: 2, Continue: page.Continue}, v1)
	status := wantStatus(t, err, 410, metav1.StatusReasonExpired, "The provided continue parameter is too old to "+
		"display a consistent list result.")
	if status.ListMeta.Continue == "" {
		t.Fatal("no token to go on with")
	}
	if got, _ := b.names("ns",
		verb.ListOptions{Continue: status.ListMeta.Continue}); got != "w001x w002 w003 w004 w004x w005" {
		t.Error(got)
	}
	_, err = b.Watch(b.ctx(), "ns", api.WatchOptions{ResourceVersion: old}, v1)
	if err == nil {
		w, _ := b.Watch(b.ctx(), "ns", api.WatchOptions{ResourceVersion: old}, v1)
		defer w.Close()
		_, err = w.Next(b.ctx())
	}
	wantStatus(t, err, 410, metav1.StatusReasonExpired, "too old resource version: "+old)
}

func TestPoisonFailsByName(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"good"}}`)
		for name, value := range map[string]string{
			"alien": `{"kind":"Widget","apiVersion":"shop.example.com/v7","metadata":{"name":"alien"}}`,
			"junk":  `junk`,
		} {
			if _, err := b.backend.Put(b.ctx(), "/registry/shop.example.com/widgets/bad/"+name, []byte(value), 0,
				0); err != nil {
				t.Fatal(err)
			}
			_, err := b.Get(b.ctx(), "bad", name, "", v1)
			wantStatus(t, err, 500, metav1.StatusReasonInternalError, "/registry/shop.example.com/widgets/bad/"+name)
			if !errors.Is(err, cache.ErrCorrupt) {
				t.Errorf("the cause of %v is lost", err)
			}
			_, err = b.Delete(b.ctx(), "bad", name, verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: v1}})
			wantStatus(t, err, 500, metav1.StatusReasonInternalError, name)
		}
		for _, opts := range []verb.ListOptions{{}, {Limit: 1}, {Selection: selection(t, "a=b", "")}} {
			_, err := b.List(b.ctx(), "bad", opts, v1)
			s := wantStatus(t, err, 500, metav1.StatusReasonStoreReadError,
				"/registry/shop.example.com/widgets/bad/alien")
			if c := s.Details.Causes; len(c) != 2 || c[1].Field != "/registry/shop.example.com/widgets/bad/junk" ||
				!errors.Is(err, cache.ErrCorrupt) {
				t.Errorf("it doesn't tell of both: %+v", c)
			}
		}
		_, err := b.List(b.ctx(), "bad", verb.ListOptions{Selection: selection(t, "", "metadata.name=junk")}, v1)
		if s := wantStatus(t, err, 500, metav1.StatusReasonStoreReadError, "bad/junk"); len(s.Details.Causes) != 1 {
			t.Errorf("%+v", s.Details.Causes)
		}
		if got, _ := b.names("ns", verb.ListOptions{}); got != "good" {
			t.Errorf("another namespace: %s", got)
		}
	})
}

func TestStaleValuesAreWrittenAgain(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		const key = "/registry/shop.example.com/widgets/ns/old"
		old := `{"kind":"Widget","apiVersion":"shop.example.com/v1beta1","metadata":{"name":"old","namespace":"ns",` +
			`"uid":"u"},"spec":{"colour":"red","size":2}}`
		revision, err := b.backend.Put(b.ctx(), key, []byte(old), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if w := b.get("old"); w.Spec.Color != "red" || w.ResourceVersion != strconv.FormatInt(revision, 10) {
			t.Fatalf("%+v", w)
		}
		w, err := b.patch("old", "", `{}`)
		if err != nil || w.ResourceVersion == strconv.FormatInt(revision, 10) || w.Generation != 0 {
			t.Fatalf("%+v %v", w, err)
		}
		stored, _ := b.storedWidget(key)
		if want := `{"kind":"Widget","apiVersion":"shop.example.com/v1","metadata":{"name":"old","namespace":"ns",` +
			`"uid":"u"},"spec":{"color":"red","size":2}}` + "\n"; stored != want {
			t.Errorf("stored %s", stored)
		}
		again, err := b.patch("old", "", `{}`)
		if err != nil || again.ResourceVersion != w.ResourceVersion {
			t.Errorf("what is stored as it should be was written again: %+v %v", again, err)
		}
	})
}
