package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
)

// Where this variable is set, TestShortOfMemory is the server.
const shortVariable = "APIGEN_TEST_SHORT_OF_MEMORY"

const (
	shortLimit   = 160 << 20
	shortObjects = 500
	shortSize    = 32_000 // of an object
	shortLists   = 24     // at once: 384 MB in all
	// allAsTable asks for a list that is made for this one request: whole objects in a Table, without a cache.
	allAsTable = widgetsPath + "?includeObject=Object"
)

// TestShortOfMemory: clients ask a server with a memory limit for more lists than fit, and don't read them. The server
// refuses some, stays within its limit, and answers small requests. Without a limit, the same lists take more.
func TestShortOfMemory(t *testing.T) {
	if os.Getenv(shortVariable) != "" {
		serveShort(t)
		return
	}
	t.Run("limit", func(t *testing.T) {
		s := startShort(t, fmt.Sprint(shortLimit))
		codes, end := s.flood(t)
		if codes[http.StatusOK] == 0 || codes[http.StatusTooManyRequests] == 0 ||
			codes[http.StatusOK]+codes[http.StatusTooManyRequests] != shortLists {
			t.Errorf("the lists were answered %v, want some 200 and some 429", codes)
		}
		t.Logf("the lists were answered %v", codes)
		if alive := s.alive(t); alive > shortLimit {
			t.Errorf("%d bytes are alive, more than the limit", alive)
		}
		for range 20 {
			if code, body := s.get(t, limitedToken, widgetsPath+"/w-1", ""); code != http.StatusOK {
				t.Fatalf("a small request beside the lists: %d %s", code, body)
			}
		}
		s.checkMetrics(t, codes[http.StatusTooManyRequests])
		end()
		var code int
		var body string
		for code != http.StatusOK && t.Context().Err() == nil { // the server notices the ends one by one
			code, body = s.get(t, limitedToken, allAsTable, tableType)
			if code != http.StatusOK && !strings.Contains(body, "the server is short of memory") {
				t.Fatalf("%d %s", code, body)
			}
		}
	})
	t.Run("no limit", func(t *testing.T) {
		s := startShort(t, "off")
		codes, end := s.flood(t)
		defer end()
		if alive := s.alive(t); codes[http.StatusOK] != shortLists || alive <= shortLimit {
			t.Errorf("%v and %d bytes alive: the flood is too small to test anything", codes, alive)
		}
	})
}

// short is a server in a process of its own, and a client of it.
type short struct {
	url    string
	client *http.Client
}

func startShort(t *testing.T, limit string) *short {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^TestShortOfMemory$")
	command.Env = append(os.Environ(), shortVariable+"=1", "GOMEMLIMIT="+limit)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(output)
	line, err := lines.ReadString('\n')
	url, encoded, _ := strings.Cut(strings.TrimSpace(line), " ")
	authority, _ := base64.StdEncoding.DecodeString(encoded)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		t.Fatalf("the server began with %q (%v)", line, err)
	}
	transport := &http.Transport{ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = input.Close()
		rest, _ := io.ReadAll(lines)
		if err := command.Wait(); err != nil {
			t.Errorf("the server ended with %v: %s", err, rest)
		}
	})
	return &short{url, &http.Client{Transport: transport}}
}

// tableType is the content type of a Table.
const tableType = "application/json;as=Table;g=meta.k8s.io;v=v1"

func (s *short) send(t *testing.T, token, path, accept string) *http.Response {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept", accept)
	r.Header.Set("Accept-Encoding", "identity")
	response, err := s.client.Do(r)
	if err != nil {
		t.Error(err)
		return &http.Response{Body: http.NoBody}
	}
	return response
}

func (s *short) get(t *testing.T, token, path, accept string) (code int, body string) {
	t.Helper()
	response := s.send(t, token, path, accept)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(text)
}

// flood asks for lists at once, until all answers have begun. It returns how many had each code, and a function that
// ends the answers.
func (s *short) flood(t *testing.T) (codes map[int]int, end func()) {
	t.Helper()
	answers := make([]*http.Response, shortLists)
	var begun sync.WaitGroup
	for i := range answers {
		begun.Go(func() { answers[i] = s.send(t, limitedToken, allAsTable, tableType) })
	}
	begun.Wait()
	codes = map[int]int{}
	for _, a := range answers {
		codes[a.StatusCode]++
	}
	return codes, func() {
		for _, a := range answers {
			_ = a.Body.Close()
		}
	}
}

// alive returns how many bytes are alive in the server.
func (s *short) alive(t *testing.T) int64 {
	t.Helper()
	_, body := s.get(t, adminToken, "/alive", "")
	n, err := strconv.ParseInt(body, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB are alive, the limit is %d", n>>20, shortLimit>>20)
	return n
}

// checkMetrics holds the metrics of a server against what its clients were told.
func (s *short) checkMetrics(t *testing.T, refused int) {
	t.Helper()
	_, text := s.get(t, adminToken, "/metrics", "")
	for _, want := range []string{
		fmt.Sprintf("apigen_memory_refused_requests_total{request_kind=\"readOnly\"} %d\n", refused),
		"apigen_memory_refused_requests_total{request_kind=\"mutating\"} 0\n",
		fmt.Sprintf("apigen_memory_limit_bytes %g\n", float64(shortLimit)),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if strings.Contains(text, "apigen_memory_claimed_bytes 0\n") {
		t.Error("nothing is claimed while lists are written")
	}
}

// serveShort serves widgets until standard input ends. It prints its URL and its authority.
func serveShort(t *testing.T) {
	certificate, authority, err := certs.SelfSigned("localhost")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tokens := new(auth.Tokens)
	tokens.Add(adminToken, &auth.User{Name: "admin", Groups: []string{auth.Masters}})
	tokens.Add(limitedToken, &auth.User{Name: "limited"})
	config := Config{Groups: []registry.Group{widgets()}}
	config.Listener, config.Certificate = listener, *certificate
	config.Backend, config.DisableCache = memory.New(), true
	config.Authentication.Tokens = []auth.TokenAuthenticator{tokens}
	config.Authorizer, config.Log = auth.Always(auth.Allow), slog.New(slog.DiscardHandler)
	config.Unlisted = map[string]http.Handler{"/alive": http.HandlerFunc(sendAlive)}
	s, err := New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	padding := strings.Repeat("x", shortSize)
	for i := range shortObjects {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, widgetsPath, strings.NewReader(
			fmt.Sprintf(`{"metadata":{"name":"w-%d","annotations":{"padding":%q}}}`, i, padding)))
		r.Header.Set("Authorization", "Bearer "+adminToken)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if s.http.Handler.ServeHTTP(w, r); w.Code != http.StatusCreated {
			t.Fatal(w.Code, w.Body)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	fmt.Println(s.URL(), base64.StdEncoding.EncodeToString(authority))
	if err := s.Run(ctx); err != nil {
		t.Error(err)
	}
}

// sendAlive sends how many bytes are alive after a garbage collection.
func sendAlive(w http.ResponseWriter, _ *http.Request) {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	fmt.Fprint(w, stats.HeapAlloc)
}
