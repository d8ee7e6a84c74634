package builtin_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pausing is a conversion webhook that converts by name alone. It answers some calls, and hangs in all others. It hangs
// in all calls about the object that readers wait for.
type pausing struct {
	mu      sync.Mutex // guards the fields below
	answers int        // how many calls are still answered
	waiting []context.Context
	readers []context.Context // calls about the object "read"
}

func (p *pausing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Request struct {
			UID               string
			DesiredAPIVersion string
			Objects           []map[string]any
		}
	}
	body, err := io.ReadAll(r.Body) // only at its end the server notices that the client has gone
	if err == nil {
		err = json.Unmarshal(body, &review)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := ""
	for _, object := range review.Request.Objects {
		object["apiVersion"] = review.Request.DesiredAPIVersion
		metadata, _ := object["metadata"].(map[string]any)
		name, _ = metadata["name"].(string)
	}
	if !p.answer(r.Context(), name == "read") {
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
		"response": map[string]any{"uid": review.Request.UID, "result": map[string]any{"status": "Success"},
			"convertedObjects": review.Request.Objects},
	})
}

// answer reports whether a call is answered.
func (p *pausing) answer(call context.Context, read bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case read:
		p.readers = append(p.readers, call)
	case p.answers > 0:
		p.answers--
		return true
	default:
		p.waiting = append(p.waiting, call)
	}
	return false
}

// hangAfter has the webhook answer some calls more before it hangs.
func (p *pausing) hangAfter(answers int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers, p.waiting = answers, nil
}

// state returns how many calls of writers hang, how many of them have ended, and whether the last reader's call has.
func (p *pausing) state() (hung, ended int, readerEnded bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, call := range p.waiting {
		if call.Err() != nil {
			ended++
		}
	}
	last := len(p.readers) - 1
	return len(p.waiting), ended, last >= 0 && p.readers[last].Err() != nil
}

func (p *pausing) read() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.readers)
}

const ropes = "/apis/shop.example.com/%s/ropes"

// ropeDefinition has a webhook at an address that converts between its versions.
func ropeDefinition(address string, ca []byte) string {
	const version = `{"name":%q,"served":true,"storage":%t,"subresources":{"scale":{"specReplicasPath":".spec.n",
"statusReplicasPath":".status.n"}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","properties":{"n":{"type":"integer"}}},
"status":{"type":"object","properties":{"n":{"type":"integer"}}}}}}}`
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"ropes.shop.example.com"},"spec":{"group":"shop.example.com","scope":"Cluster",
"names":{"kind":"Rope","plural":"ropes"},"conversion":{"strategy":"Webhook","webhook":{
"conversionReviewVersions":["v1"],"clientConfig":{"url":%q,"caBundle":%q}}},"versions":[`+
		version+","+version+`]}}`, address, base64.StdEncoding.EncodeToString(ca), "v1", true, "v2", false)
}

// TestConversionsEndWithTheirWriters: whichever conversion of a write hangs, it ends when the client leaves, before the
// time of any call has passed: an older call for another client still waits then.
func TestConversionsEndWithTheirWriters(t *testing.T) {
	hook := &pausing{}
	p := &peer{Server: httptest.NewTLSServer(hook)}
	t.Cleanup(p.Close)
	front := startCrowded(t, p, 0)
	until(t, front, http.MethodPost, definitions, ropeDefinition(p.URL, p.ca()), http.StatusCreated)
	u := usersOf(t, front)
	rope := func(version, name string, n int) string {
		return fmt.Sprintf(`{"apiVersion":"shop.example.com/%s","kind":"Rope","metadata":{"name":%q},"spec":{"n":%d}}`,
			version, name, n)
	}
	until(t, front, http.MethodPost, fmt.Sprintf(ropes, "v1"), rope("v1", "read", 1), http.StatusCreated)
	for _, row := range []struct {
		way, method, path, contentType, body string
		calls                                int // how many the write needs at least
	}{
		{"create", "POST", "", "application/json", rope("v2", "made", 1), 2},
		{"apply", "PATCH", "/applied?fieldManager=a", "application/apply-patch+yaml", rope("v2", "applied", 1), 2},
		{"apply over another version", "PATCH", "/r?fieldManager=b&force=true", "application/apply-patch+yaml",
			rope("v2", "r", 1), 3},
		{"merge patch", "PATCH", "/r", "application/merge-patch+json", `{"spec":{"n":2}}`, 3},
		{"JSON patch", "PATCH", "/r", "application/json-patch+json",
			`[{"op":"replace","path":"/spec/n","value":3}]`, 3},
		{"scale", "PUT", "/r/scale", "application/json",
			`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"r"},"spec":{"replicas":7}}`, 3},
		{"delete", "DELETE", "/r", "application/json", "", 1},
	} {
		t.Run(row.way, func(t *testing.T) {
			if strings.HasPrefix(row.path, "/r") {
				u.code(t.Context(), busyToken, http.MethodDelete, fmt.Sprintf(ropes, "v1")+"/r", "")
				until(t, front, http.MethodPost, fmt.Sprintf(ropes, "v1"), rope("v1", "r", 0), http.StatusCreated)
			}
			reading, leaveReader := context.WithCancel(t.Context())
			var clients sync.WaitGroup
			defer func() {
				leaveReader()
				clients.Wait()
				untilTrue(t, "the end of the reader's call", func() bool { // the next reader has a call of its own
					_, _, over := hook.state()
					return over
				})
			}()
			readers := hook.read()
			clients.Go(func() {
				u.code(reading, busyToken, http.MethodGet, fmt.Sprintf(ropes, "v2")+"/read", "")
			})
			untilTrue(t, "the call of a reader", func() bool { return hook.read() > readers })
			for n := 0; ; n++ {
				code := u.leaveAt(hook, n, row.method, fmt.Sprintf(ropes, "v2")+row.path, row.contentType, row.body)
				if code == 0 {
					continue
				}
				if code/100 != 2 || n < row.calls {
					t.Errorf("after %d calls it is answered %d", n, code)
				}
				break
			}
		})
	}
}

// leaveAt sends a write, of whose conversions the webhook answers some. If the next one hangs, its client leaves, and
// leaveAt waits for the end of the call and returns 0. If there is none, it returns the code of the answer.
func (u *users) leaveAt(hook *pausing, answers int, method, path, contentType, body string) int {
	u.t.Helper()
	hook.hangAfter(answers)
	ctx, leave := context.WithCancel(u.t.Context())
	defer leave()
	answered := make(chan int, 1)
	go func() { answered <- u.send(ctx, holdingToken, method, path, contentType, body) }()
	code := 0
	untilTrue(u.t, "a call that hangs", func() bool {
		select {
		case code = <-answered:
			return true
		default:
			hung, _, _ := hook.state()
			return hung > 0
		}
	})
	if code != 0 {
		return code
	}
	leave()
	<-answered
	untilTrue(u.t, fmt.Sprintf("the end of call %d of %s %s", answers+1, method, path), func() bool {
		hung, ended, _ := hook.state()
		return hung == ended
	})
	if _, _, over := hook.state(); over {
		u.t.Errorf("call %d of %s %s lasted longer than an older one", answers+1, method, path)
	}
	return 0
}

// TestScaleIsAnsweredAsStored: the answer to a write of a scale needs no conversion after the write, which could fail,
// or end with the request. A Table whose cells have the digits of the resourceVersion is rendered anew then.
func TestScaleIsAnsweredAsStored(t *testing.T) {
	hook := &pausing{}
	p := &peer{Server: httptest.NewTLSServer(hook)}
	t.Cleanup(p.Close)
	front := complete(t)
	until(t, front, http.MethodPost, definitions, ropeDefinition(p.URL, p.ca()), http.StatusCreated)
	until(t, front, http.MethodPost, fmt.Sprintf(ropes, "v1"),
		`{"apiVersion":"shop.example.com/v1","kind":"Rope","metadata":{"name":"r"}}`, http.StatusCreated)
	const many, object, table = 1000, "application/json", "application/json;as=Table;g=meta.k8s.io;v=v1"
	calls := map[string]int{}
	for _, accept := range []string{object, object, table} { // the first write adds a field manager
		live := send[metav1.PartialObjectMetadata](t, front, http.MethodGet, fmt.Sprintf(ropes, "v1")+"/r", "",
			http.StatusOK)
		hook.hangAfter(many)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, front.URL+fmt.Sprintf(ropes, "v2")+"/r/scale",
			strings.NewReader(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"r"},
"spec":{"replicas":`+live.ResourceVersion+`}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {accept}}
		response, err := front.Client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		after := send[metav1.PartialObjectMetadata](t, front, http.MethodGet, fmt.Sprintf(ropes, "v1")+"/r", "",
			http.StatusOK)
		if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(text),
			`"resourceVersion":"`+after.ResourceVersion+`"`) || !strings.Contains(string(text), live.ResourceVersion) {
			t.Errorf("%s: %s %s (%v), want version %s", accept, response.Status, text, err, after.ResourceVersion)
		}
		calls[accept] = many - hook.left()
	}
	fewer, more := min(calls[object], calls[table]), max(calls[object], calls[table])
	if fewer == 0 || more%fewer != 0 { // a write that starts again, whichever it is, has all calls twice
		t.Errorf("the webhook was called %v", calls)
	}
}

// left returns how many calls are still answered.
func (p *pausing) left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answers
}
