package endpoint_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
)

// sink is a ResponseWriter that costs nothing.
type sink struct {
	header http.Header
	code   int
	bytes  int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(code int)        { s.code = code }
func (s *sink) Write(b []byte) (int, error) { s.bytes += len(b); return len(b), nil }

// SetWriteDeadline is what a connection has. Without it, net/http makes an error for each deadline.
func (s *sink) SetWriteDeadline(time.Time) error { return nil }

// lister stores n objects of 1 KiB, and returns a function that lists them through the handler.
func lister(t testing.TB, n int, accept string) func() int {
	a, handle := newAPI(t)
	for i := range n {
		body := fmt.Sprintf(`{"metadata":{"name":"w-%06d","annotations":{"a":%q}},"spec":{"color":"red"}}`, i,
			strings.Repeat("x", 700))
		_, err := handle.Create(t.Context(), "default", verb.Body{Version: "v1", Data: []byte(body)},
			verb.WriteOptions{Form: verb.Form{Version: "v1"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/apis/shop.example.com/v1/widgets", nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	info, err := request.New(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	r = r.WithContext(request.WithInfo(r.Context(), info))
	return func() int {
		w := sink{header: http.Header{}}
		a.ServeHTTP(&w, r)
		if w.code != http.StatusOK || w.bytes < n*900 {
			t.Fatalf("%d, %d bytes", w.code, w.bytes)
		}
		return w.bytes
	}
}

// TestListCostsTheSameForAnyNumberOfObjects is about the whole way, from storage's revision to the last byte.
func TestListCostsTheSameForAnyNumberOfObjects(t *testing.T) {
	few, many := lister(t, 10, ""), lister(t, 2000, "")
	few()
	many()
	a, b := testing.AllocsPerRun(20, func() { few() }), testing.AllocsPerRun(20, func() { many() })
	if b > a+20 {
		t.Errorf("%v allocations for 10 objects, %v for 2000", a, b)
	}
}

func BenchmarkStoredList10000(b *testing.B) {
	for name, accept := range map[string]string{"JSON": "", "Table": "application/json;as=Table;v=v1;g=meta.k8s.io"} {
		b.Run(name, func(b *testing.B) {
			list := lister(b, 10000, accept)
			b.SetBytes(int64(list()))
			b.ReportAllocs()
			for b.Loop() {
				list()
			}
		})
	}
}

// BenchmarkListWithMemoryLimit lists 10,000 objects: each list of a process with a memory limit claims what it takes.
func BenchmarkListWithMemoryLimit(b *testing.B) {
	for _, c := range []struct {
		name  string
		limit int64
	}{{"none", math.MaxInt64}, {"16GiB", 16 << 30}} {
		b.Run("limit="+c.name, func(b *testing.B) {
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(c.limit))
			list := lister(b, 10000, "")
			b.SetBytes(int64(list()))
			b.ReportAllocs()
			for b.Loop() {
				list()
			}
		})
	}
}

// TestBinaryListsCostTheSameForAnyNumberOfObjects: what was rendered once is written, in every encoding.
func TestBinaryListsCostTheSameForAnyNumberOfObjects(t *testing.T) {
	for _, accept := range []string{typeCBOR, typeCBOR + asList, typeProtobuf + asList} {
		few, many := lister(t, 10, accept), lister(t, 2000, accept)
		few()
		many()
		a, b := testing.AllocsPerRun(20, func() { few() }), testing.AllocsPerRun(20, func() { many() })
		if b > a+5 {
			t.Errorf("%s: 10 objects cost %.0f allocations, 2000 cost %.0f", accept, a, b)
		}
	}
}

// BenchmarkListInEncodings lists 10,000 objects in each encoding.
func BenchmarkListInEncodings(b *testing.B) {
	for _, accept := range []string{typeJSON, typeCBOR, typeJSON + asList, typeCBOR + asList, typeProtobuf + asList} {
		b.Run(accept, func(b *testing.B) {
			list := lister(b, 10000, accept)
			b.SetBytes(int64(list()))
			b.ReportAllocs()
			for b.Loop() {
				list()
			}
		})
	}
}
