package builtin_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/server"
)

// ages are what differs between two Tables of the same objects.
var ages = regexp.MustCompile(`"[0-9]+[smh][0-9smh]*"`)

// body reads an answer, and decompresses it if it is compressed.
func body(t *testing.T, s *apitest.Server, path, accept, encoding string) (data string, compressed bool) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("Accept-Encoding", encoding)
	response, err := s.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var r io.Reader = response.Body
	if compressed = response.Header.Get("Content-Encoding") == "gzip"; compressed {
		if r, err = gzip.NewReader(response.Body); err != nil {
			t.Fatal(err)
		}
	}
	all, err := io.ReadAll(r)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s as %s: %s, %v", path, accept, response.Status, err)
	}
	if strings.Contains(accept, "as=Table") {
		all = ages.ReplaceAll(all, []byte("AGE"))
	}
	return string(all), compressed
}

// TestCompressedLists: a list is the same for a client that accepts gzip and one that doesn't, between random writes,
// in every form, for native and for custom resources.
func TestCompressedLists(t *testing.T) {
	s := complete(t)
	until(t, s, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", gadgets, http.StatusCreated)
	const maps, things = "/api/v1/namespaces/%s/configmaps", "/apis/shop.example.com/v1/namespaces/%s/gadgets"
	random := rand.New(rand.NewPCG(1, 2))
	write := func(method, path, name string) {
		kind, version := "ConfigMap", "v1"
		if strings.Contains(path, "gadgets") {
			kind, version = "Gadget", "shop.example.com/v1"
		}
		object := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{"name":%q,"labels":{"n":"%d"},
"annotations":{"a":"%s"}}}`, kind, version, name,
			random.IntN(3), strings.Repeat(fmt.Sprintf("<é%x>", random.Uint64()), 40))
		if method == http.MethodPost {
			until(t, s, method, path, object, http.StatusCreated)
		} else {
			send[any](t, s, method, path+"/"+name, object, http.StatusOK)
		}
	}
	namespaces := []string{"default", "kube-system"}
	for i := range 240 {
		for _, path := range []string{maps, things} {
			write(http.MethodPost, fmt.Sprintf(path, namespaces[i%2]), fmt.Sprintf("o-%03d", i))
		}
	}
	accepts := []string{
		"application/json", "application/vnd.kubernetes.protobuf,application/json", "application/yaml",
		"application/cbor,application/json", "application/json;as=Table;v=v1;g=meta.k8s.io",
		"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
		"application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io",
		"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
		"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io",
	}
	queries := []string{"", "limit=150", "limit=0&pretty=true", "labelSelector=n%3D1",
		"fieldSelector=metadata.name!%3Do-007", "includeObject=Object", "includeObject=None", "resourceVersion=0"}
	compressed := 0
	compare := func(path, accept string) {
		want, _ := body(t, s, path, accept, "identity")
		got, zipped := body(t, s, path, accept, "gzip")
		for got != want { // the revision of the list may be that of another write, which came between
			again, _ := body(t, s, path, accept, "identity")
			if again == want {
				break
			}
			want = again
			got, zipped = body(t, s, path, accept, "gzip")
		}
		if got != want {
			t.Errorf("%s as %s: %d bytes with gzip, %d without:\n%s", path, accept, len(got), len(want),
				difference(got, want))
		}
		if zipped {
			compressed++
		}
		if !zipped && len(want) > 200<<10 {
			t.Errorf("%s as %s: %d bytes are not compressed", path, accept, len(want))
		}
	}
	for range 2 {
		for _, path := range []string{maps, things} {
			for _, in := range append(namespaces, "") {
				list := strings.Replace(fmt.Sprintf(path, in), "namespaces//", "", 1)
				for _, query := range queries {
					for _, accept := range accepts {
						compare(list+"?"+query, accept)
					}
				}
			}
		}
		for range 10 {
			i := random.IntN(240)
			for _, path := range []string{maps, things} {
				write(http.MethodPatch, fmt.Sprintf(path, namespaces[i%2]), fmt.Sprintf("o-%03d", i))
			}
		}
	}
	if compressed < 200 {
		t.Errorf("only %d answers were compressed", compressed)
	}
	// The pages that follow continue at an older state.
	const first = "/api/v1/configmaps?limit=100"
	page := send[struct{ Metadata struct{ Continue string } }](t, s, http.MethodGet, first, "", http.StatusOK)
	write(http.MethodPatch, fmt.Sprintf(maps, "default"), "o-200")
	for _, accept := range accepts {
		compare("/api/v1/configmaps?limit=150&continue="+url.QueryEscape(page.Metadata.Continue), accept)
	}
}

// TestCompressedListsInAudit: an audit that wants answers has all of a list that goes to its client compressed.
func TestCompressedListsInAudit(t *testing.T) {
	j := &journal{level: trail.RequestResponse}
	s := start(t, func(c *server.Config) { c.Auditor = &trail.Auditor{Policy: j, Sink: j} })
	const maps, objects = "/api/v1/namespaces/default/configmaps", 100
	for i := range objects {
		until(t, s, http.MethodPost, maps, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap",
"metadata":{"name":"m-%03d"},"data":{"a":%q}}`, i, strings.Repeat("x", 2<<10)), http.StatusCreated)
	}
	for _, accept := range []string{
		"application/json", "application/vnd.kubernetes.protobuf", "application/json;as=Table;v=v1;g=meta.k8s.io",
		"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
	} {
		j.mu.Lock()
		j.lines = nil
		j.mu.Unlock()
		body(t, s, maps+"?includeObject=Object", accept, "gzip")
		if got := strings.Count(j.text(), `"name":"m-`); got < objects {
			t.Errorf("as %s: the audit has %d objects of %d", accept, got, objects)
		}
	}
}

// BenchmarkCompressedLists is the LIST of 2000 objects by a client that accepts gzip, in the encodings that a server
// keeps compressed, and in pages. One of b.N is a LIST of what was listed before.
func BenchmarkCompressedLists(b *testing.B) {
	s := start(b, func(*server.Config) {})
	const maps, objects = "/api/v1/namespaces/default/configmaps", 2000
	get := func(method, query, accept, body string) {
		request, err := http.NewRequestWithContext(b.Context(), method, s.URL+maps+query, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		request.Header.Set("Accept", accept)
		request.Header.Set("Accept-Encoding", "gzip")
		request.Header.Set("Content-Type", "application/json")
		response, err := s.Client.Do(request)
		if err != nil {
			b.Fatal(err)
		}
		defer response.Body.Close()
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode > http.StatusCreated {
			b.Fatal(response.Status, err)
		}
	}
	for i := range objects {
		get(http.MethodPost, "", "application/json", fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap",
"metadata":{"name":"m-%04d"},"data":{"a":"%x"}}`, i, rand.New(rand.NewPCG(uint64(i), 1)).Perm(50)))
	}
	for _, accept := range []string{"application/json", "application/vnd.kubernetes.protobuf", "application/cbor"} {
		b.Run(accept, func(b *testing.B) {
			get(http.MethodGet, "", accept, "")
			b.ReportAllocs()
			for b.Loop() {
				get(http.MethodGet, "", accept, "")
			}
		})
	}
	b.Run("in pages of 300", func(b *testing.B) {
		var pages []string
		for query := "?limit=300"; ; {
			pages = append(pages, query)
			page := send[struct{ Metadata struct{ Continue string } }](b, s, http.MethodGet, maps+query, "",
				http.StatusOK)
			if page.Metadata.Continue == "" {
				break
			}
			query = "?limit=300&continue=" + url.QueryEscape(page.Metadata.Continue)
		}
		b.ReportAllocs()
		for b.Loop() {
			for _, query := range pages {
				get(http.MethodGet, query, "application/json", "")
			}
		}
	})
}

// difference is where two texts begin to differ.
func difference(a, b string) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	around := func(s string) []byte { return bytes.ToValidUTF8([]byte(s[max(at-40, 0):min(at+80, len(s))]), nil) }
	return fmt.Sprintf("at %d: %q and %q", at, around(a), around(b))
}
