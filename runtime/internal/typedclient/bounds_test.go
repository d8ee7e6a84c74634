package typedclient

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/http/loopback"
	"apigen.dev/runtime/reach"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

var things = schema.GroupResource{Group: "g.example.com", Resource: "things"}

// calls are the ways to a list of another server.
func calls(j Joined) map[string]func(context.Context) error {
	r, _ := j.remote(things)
	return map[string]func(context.Context) error{
		"Count":      func(ctx context.Context) error { _, err := j.Count(ctx, things, "ns"); return err },
		"Finalizers": func(ctx context.Context) error { _, _, err := j.Finalizers(ctx, things, "ns"); return err },
		"DeleteAll":  func(ctx context.Context) error { return j.DeleteAll(ctx, things, "ns", metav1.DeleteOptions{}) },
		"List": func(ctx context.Context) error {
			return Metadata{j, r}.List(ctx, "", func(*metav1.PartialObjectMetadataList) error { return nil })
		},
	}
}

// wantError calls each way to a list, and wants an error with a text.
func wantError(t *testing.T, j Joined, text string) {
	t.Helper()
	for name, call := range calls(j) {
		err := call(t.Context())
		if err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "continue=") {
			t.Errorf("%s: error %v, want %q", name, err, text)
		}
	}
}

// TestEndlessPages: a list of another server that never ends is an error.
func TestEndlessPages(t *testing.T) {
	asked := 0
	j := joined(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = fmt.Fprintf(w, `{"metadata":{"continue":"%d"},"items":[]}`, asked)
	}), things, "list", "delete")
	j.bounds.pages = 7
	wantError(t, j, "the list of things.g.example.com has more than 7 pages")
	if want := 7 * len(calls(j)); asked != want {
		t.Errorf("%d requests, want %d", asked, want)
	}
}

// TestEndlessBytes: a list is as large as its bound allows, and no larger.
func TestEndlessBytes(t *testing.T) {
	asked := 0
	j := joined(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = fmt.Fprintf(w, `{"metadata":{"continue":"%d"},"items":[],"x":%q}`, asked, strings.Repeat("x", 1000))
	}), things, "list", "delete")
	j.bounds.list = 10_000
	wantError(t, j, "the list of things.g.example.com has more than 10000 bytes")
	if want := 10 * len(calls(j)); asked > want {
		t.Errorf("%d requests, want %d at most", asked, want)
	}
}

// TestRepeatedContinue: a token that leads to itself ends the list with an error at once.
func TestRepeatedContinue(t *testing.T) {
	asked := 0
	j := joined(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = io.WriteString(w, `{"metadata":{"continue":"again"},"items":[]}`)
	}), things, "list", "delete")
	wantError(t, j, "the list of things.g.example.com doesn't go on: a page names itself as the next one")
	if want := 2 * len(calls(j)); asked != want {
		t.Errorf("%d requests, want %d", asked, want)
	}
}

// endless is a body that grows as long as it is read.
type endless struct{ read int64 }

// Read implements io.Reader.
func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += int64(len(p))
	return len(p), nil
}

// TestLargePage: of a page that is too large, the server reads no more than its bound, and asks for smaller ones.
func TestLargePage(t *testing.T) {
	var limits []string
	sent := int64(0)
	j := joined(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limits = append(limits, r.URL.Query().Get("limit"))
		_, _ = io.WriteString(w, `{"items":[{"metadata":{"name":"`)
		n, _ := io.Copy(w, io.LimitReader(new(endless), 500<<20))
		sent += n
	}), things, "list", "delete")
	j.bounds.page = 64 << 10
	wantError(t, j, "has more than 65536 bytes, even if it has one object")
	if want := len(calls(j)) * 4; len(limits) != want || strings.Join(limits[:4], " ") != "500 62 7 1" {
		t.Errorf("limits %v", limits)
	}
	if sent > 500<<20 {
		t.Errorf("the other server sent %d bytes", sent)
	}
}

// TestLargeObjects: the objects of a server that has no metadata alone come in smaller pages.
func TestLargeObjects(t *testing.T) {
	j := joined(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		to, next := min(from+limit, 100), ""
		if to < 100 {
			next = strconv.Itoa(to)
		}
		var items []string
		for i := from; i < to; i++ {
			items = append(items, fmt.Sprintf(`{"metadata":{"name":"t%d"},"data":%q}`, i, strings.Repeat("x", 1000)))
		}
		_, _ = fmt.Fprintf(w, `{"metadata":{"continue":%q},"items":[%s]}`, next, strings.Join(items, ","))
	}), things, "list", "delete")
	j.bounds.page = 64 << 10
	if n, err := j.Count(t.Context(), things, "ns"); err != nil || n != 100 {
		t.Errorf("%d objects, error %v", n, err)
	}
}

// TestManyFinalizers: names of finalizers don't add up without end.
func TestManyFinalizers(t *testing.T) {
	j := joined(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var items []string
		for i := range 500 {
			items = append(items,
				fmt.Sprintf(`{"metadata":{"name":"t%d","finalizers":["a%[1]d","b%[1]d","c%[1]d"]}}`, i))
		}
		_, _ = fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(items, ","))
	}), things, "list", "delete")
	n, finalizers, err := j.Finalizers(t.Context(), things, "ns")
	if err != nil || n != 500 || len(finalizers) != maxFinalizers {
		t.Errorf("%d objects with %d finalizers, error %v", n, len(finalizers), err)
	}
}

// TestHangingServer: a server that doesn't answer, or never comes to an end of its answer, costs bounded time.
func TestHangingServer(t *testing.T) {
	for name, begin := range map[string]string{"no answer": "", "no end": `{"items":[`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := Joined{
					Remote: func() []reach.Resource {
						return []reach.Resource{{
							GroupResource: things, Versions: []string{"v1"}, Namespaced: true,
							Verbs: []string{"list", "delete"}, Remote: true,
						}}
					},
					Host: "https://self", Client: &http.Client{Transport: loopback.Transport{
						Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
							if begin != "" {
								_, _ = io.WriteString(w, begin)
							}
							<-r.Context().Done()
						}), Context: t.Context(),
					}},
				}
				for name, call := range calls(j) {
					began := time.Now()
					err := call(t.Context())
					bound := questionTime
					if name == "List" {
						bound = listTime
					}
					if took := time.Since(began); err == nil || took != bound ||
						!strings.Contains(err.Error(), "context deadline exceeded") {
						t.Errorf("%s: error %v after %s", name, err, took)
					}
				}
			})
		})
	}
}

// TestLargeEvent: an event of a watch has a bound, and the watch as a whole has none.
func TestLargeEvent(t *testing.T) {
	event := `{"type":"ADDED","object":{"metadata":{"name":"a","uid":"1","annotations":{"x":"` +
		strings.Repeat("x", 500) + `"}}}}`
	j := joined(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat(event, 10))
		_, _ = io.WriteString(w, `{"type":"ADDED","object":{"metadata":{"name":"`)
		_, _ = io.Copy(w, io.LimitReader(new(endless), 500<<20))
	}), things, "list", "watch")
	j.bounds.event = 1000
	r, _ := j.remote(things)
	events := 0
	err := Metadata{j, r}.Watch(t.Context(), "1", func(watch.EventType, *metav1.PartialObjectMetadata) error {
		events++
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "has more than 1000 bytes") || events != 10 {
		t.Errorf("%d events, error %v", events, err)
	}
}
