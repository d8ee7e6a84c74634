package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

var (
	testSecret  = name{"shop", "shop-serving"}
	testService = name{"shop", "shop"}
)

const testAPIService = "v1.shop.example.com"

type object map[string]any

// host is a cluster, as far as the replicas of a server see it: objects by path, each with a resourceVersion that an
// update must name.
type host struct {
	url *url.URL
	now time.Time // of the replicas and of clients; of the test's goroutine alone

	mu      sync.Mutex // guards the following fields
	objects map[string]object
	version int
	codes   map[string]int             // by method and path: the code of a refusal
	writes  map[string]int             // by path
	before  map[string]func(h *host)   // by method and path: called once, before the request, without the lock
	bodies  map[string]json.RawMessage // the last, by path
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{
		now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), objects: map[string]object{}, codes: map[string]int{},
		writes: map[string]int{}, before: map[string]func(*host){}, bodies: map[string]json.RawMessage{},
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	var err error
	if h.url, err = url.Parse(server.URL); err != nil {
		t.Fatal(err)
	}
	h.put(secretPath(testSecret), object{"kind": "Secret", "metadata": object{"labels": object{"a": "b"}}})
	h.put(apiServicePath(testAPIService), leads(testService))
	return h
}

// leads returns an APIService that leads to a Service.
func leads(to name) object {
	return object{"kind": "APIService", "metadata": object{}, "spec": object{
		"versionPriority": 100.0, "service": object{"namespace": to.namespace, "name": to.name},
	}}
}

// put stores an object with a new resourceVersion.
func (h *host) put(path string, o object) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.store(path, o)
}

func (h *host) store(path string, o object) {
	h.version++
	o["metadata"] = merged(toObject(o["metadata"]), object{"resourceVersion": fmt.Sprint(h.version)})
	h.objects[path] = o
}

func toObject(v any) object {
	switch v := v.(type) {
	case object:
		return v
	case map[string]any:
		return v
	}
	return object{}
}

// merged returns an object with a merge patch.
func merged(o, patch object) object {
	out := object{}
	for key, value := range o {
		out[key] = value
	}
	for key, value := range patch {
		switch value.(type) {
		case object, map[string]any:
			out[key] = merged(toObject(out[key]), toObject(value))
		default:
			out[key] = value
		}
	}
	return out
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	call := r.Method + " " + r.URL.Path
	h.mu.Lock()
	before := h.before[call]
	delete(h.before, call)
	h.mu.Unlock()
	if before != nil {
		before(h)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	code, answer := h.answer(r.Method, r.URL.Path, body)
	if refusal := h.codes[call]; refusal != 0 {
		code = refusal
	}
	if code != http.StatusOK {
		answer = object{"kind": "Status", "message": call + " was refused", "reason": map[int]string{
			http.StatusNotFound: "NotFound", http.StatusConflict: "Conflict", http.StatusForbidden: "Forbidden",
		}[code], "code": code}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

// answer answers a request, which changes nothing if a refusal awaits it.
func (h *host) answer(method, path string, body []byte) (int, object) {
	stored := h.objects[path]
	switch {
	case stored == nil:
		return http.StatusNotFound, nil
	case method == http.MethodGet || h.codes[method+" "+path] != 0:
		return http.StatusOK, stored
	}
	var sent object
	if err := json.Unmarshal(body, &sent); err != nil {
		return http.StatusBadRequest, nil
	}
	version := toObject(sent["metadata"])["resourceVersion"]
	if method == http.MethodPut && version != toObject(stored["metadata"])["resourceVersion"] {
		return http.StatusConflict, nil
	}
	if method == http.MethodPatch {
		sent = merged(stored, sent)
	}
	h.writes[path]++
	h.bodies[path] = body
	h.store(path, sent)
	return http.StatusOK, sent
}

// refuse has requests be refused with a code; 0 ends that.
func (h *host) refuse(call string, code int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.codes[call] = code
}

func (h *host) written(path string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.writes[path]
}

// read decodes a stored object.
func (h *host) read(t *testing.T, path string, into any) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	content, err := json.Marshal(h.objects[path])
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// data returns what the Secret holds.
func (h *host) data(t *testing.T) map[string][]byte {
	t.Helper()
	var s struct{ Data map[string][]byte }
	h.read(t, secretPath(testSecret), &s)
	return s.Data
}

// state returns what the Secret says.
func (h *host) state(t *testing.T) *state {
	t.Helper()
	s, err := parseState(h.data(t))
	if err != nil || s == nil {
		t.Fatalf("the Secret holds %v, %v", s, err)
	}
	return s
}

// bundle returns the caBundle of the APIService.
func (h *host) bundle(t *testing.T) []byte {
	t.Helper()
	var s apiService
	h.read(t, apiServicePath(testAPIService), &s)
	if s.Spec.Insecure {
		t.Error("the APIService has insecureSkipTLSVerify")
	}
	return s.Spec.CABundle
}

// replica returns the keeper of one replica of a server.
func (h *host) replica() *keeper {
	return &keeper{
		cluster: &client{http: &http.Client{}, server: h.url}, secret: testSecret, service: testService,
		apiServices: []string{testAPIService}, now: func() time.Time { return h.now },
		log: slog.New(slog.DiscardHandler),
	}
}

// trusted verifies the certificate that a replica shows as the aggregator does, which believes the caBundle and nobody
// else.
func (h *host) trusted(t *testing.T, k *keeper) error {
	t.Helper()
	shown, err := k.getCertificate(nil)(&tls.ClientHelloInfo{ServerName: "shop.shop.svc"})
	if err != nil || shown == nil {
		return fmt.Errorf("no certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(h.bundle(t))
	_, err = shown.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "shop.shop.svc", CurrentTime: h.now})
	return err
}
