package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
)

// While etcd is gone, reads of whatever age are served, and all else is answered within its deadline: 503 with a hint
// to retry if nothing was written, 504 without one where that is not known. Once etcd is back, so is everything.
func TestOutage(t *testing.T) {
	for _, fault := range []struct {
		name       string
		begin, end func(p *etcdtest.Process)
	}{
		{"killed", (*etcdtest.Process).Kill, (*etcdtest.Process).Restart},
		{"halted", (*etcdtest.Process).Stop, (*etcdtest.Process).Continue},
	} {
		t.Run(fault.name, func(t *testing.T) {
			p := etcdtest.Start(t)
			server := startReplica(t, "--etcd-servers="+p.Endpoint(), "--request-timeout=500ms")
			object := `{"apiVersion":"library.example.com/v1","kind":"Book","metadata":{"name":"%s"},` +
				`"spec":{"title":"x"}}`
			// On a busy machine half a second is soon over.
			create := func(name string) {
				t.Helper()
				wait(t, name+" is created", func() bool {
					code, _, err := server.do(t.Context(), http.MethodPost, path, "application/json",
						fmt.Appendf(nil, object, name))
					return err == nil && (code == http.StatusCreated || code == http.StatusConflict) // after a timeout
				})
			}
			create("a")
			wait(t, "the cache has it", func() bool {
				_, ok := fetch(t.Context(), server, true, func() int64 { return 0 })
				return ok
			})
			before := metrics(t, server)
			fault.begin(p)
			crowd(t, server, object)
			for _, request := range []struct {
				method, url, body string
				writes            bool
				codes             string
			}{
				{"GET", path + "?resourceVersion=0", "", false, "200"},
				{"GET", path + "/a?resourceVersion=0", "", false, "200"},
				{"GET", path, "", false, "503 504"},
				{"GET", path + "/a", "", false, "503 504"},
				{"POST", path, fmt.Sprintf(object, "b"), true, "503 504"},
				{"PUT", path + "/a", fmt.Sprintf(object, "a"), true, "503 504"},
				{"DELETE", path + "/a", "", true, "503 504"},
				{"GET", "/livez", "", false, "200"},
				{"GET", "/readyz", "", false, "500"},
			} {
				begin := time.Now()
				response, status := ask(t, server, request.method, request.url, request.body)
				for tries := 0; tries < 10 && request.codes == "200" &&
					response.StatusCode == http.StatusGatewayTimeout; tries++ {
					begin = time.Now()
					response, status = ask(t, server, request.method, request.url, request.body)
				}
				what := fmt.Sprintf("%s %s: %s %q", request.method, request.url, response.Status, status.Message)
				if took := time.Since(begin); took > 30*time.Second { // a minute is the default
					t.Errorf("%s after %s", what, took)
				}
				if !strings.Contains(request.codes, fmt.Sprint(response.StatusCode)) {
					t.Errorf("%s, want %s", what, request.codes)
				}
				if strings.Contains(status.Message, "/registry") ||
					status.Message != "" && !strings.Contains(status.Message, "books.library.example.com") {
					t.Errorf("%s: it tells of storage's key, or not of the resource", what)
				}
				hint := response.Header.Get("Retry-After") != "" || status.Details.RetryAfterSeconds > 0
				unavailable, unknown := response.StatusCode == http.StatusServiceUnavailable,
					response.StatusCode == http.StatusGatewayTimeout
				if unavailable && !hint || unknown && request.writes && hint {
					t.Errorf("%s, a hint to retry: %t", what, hint)
				}
			}
			code, report, err := server.do(t.Context(), http.MethodGet, "/readyz?verbose", "", nil)
			if err != nil || code != http.StatusInternalServerError {
				t.Errorf("/readyz?verbose: %d %v", code, err)
			}
			if why := line(string(report), "[-]storage failed: "); why == "" || strings.Contains(why, "withheld") {
				t.Errorf("/readyz?verbose doesn't tell an administrator why storage is not ready:\n%s", report)
			}
			fault.end(p)
			server.await()
			for late := time.Now().Add(startTimeout); ; {
				list, ok := fetch(t.Context(), server, true, func() int64 { return 0 })
				if ok {
					if _, there := list.items["a"]; !there && fault.name == "killed" {
						t.Errorf("after the outage there is %v: a write was carried out that could not be", list.items)
					}
					break
				}
				if time.Now().After(late) {
					t.Fatal("no consistent reads after the outage")
				}
			}
			wait(t, "what the outage took is given back", func() bool {
				server.client.CloseIdleConnections() // each of them costs the server goroutines
				after := metrics(t, server)
				return after["go_goroutines"] <= before["go_goroutines"]+50 &&
					after["go_memstats_heap_alloc_bytes"] <= before["go_memstats_heap_alloc_bytes"]+32<<20
			})
			create("c")
		})
	}
}

// line is what the line that begins with prefix has behind it; "" if there is none.
func line(text, prefix string) string {
	for l := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(l, prefix); found {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// crowd are 200 requests at once that can't be answered well.
func crowd(t *testing.T, server *replica, object string) {
	var asking sync.WaitGroup
	for i := range 200 {
		asking.Go(func() {
			if i%2 == 0 {
				_, _, _ = server.do(t.Context(), http.MethodGet, path, "", nil) // its answer is others' matter
			} else {
				_, _, _ = server.do(t.Context(), http.MethodPost, path, "application/json",
					fmt.Appendf(nil, object, fmt.Sprintf("crowd-%d", i)))
			}
		})
	}
	asking.Wait()
}

// metrics are the server's without labels.
func metrics(t *testing.T, server *replica) map[string]float64 {
	t.Helper()
	values, err := scrape(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func scrape(ctx context.Context, server *replica) (map[string]float64, error) {
	code, text, err := server.do(ctx, http.MethodGet, "/metrics", "", nil)
	if err != nil || code != http.StatusOK {
		return nil, fmt.Errorf("/metrics: %d, %w", code, err)
	}
	values := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			values[name] = number
		}
	}
	return values, nil
}

// wait waits for a condition.
func wait(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(startTimeout); !condition(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("after %s it is not so that %s", startTimeout, what)
		}
	}
}

type status struct {
	Message string `json:"message"`
	Details struct {
		RetryAfterSeconds int `json:"retryAfterSeconds"`
	} `json:"details"`
}

func ask(t *testing.T, server *replica, method, url, body string) (*http.Response, status) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.url+url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := server.client.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer response.Body.Close()
	var s status
	if strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		if err := json.NewDecoder(response.Body).Decode(&s); err != nil {
			t.Fatalf("%s %s: %v", method, url, err)
		}
	}
	return response, s
}
