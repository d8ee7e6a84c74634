package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
)

// TestListenerFails: a server whose listener fails ends as one that is told to: what it opened is closed, and so are
// the connections over which clients would go on to ask for it.
func TestListenerFails(t *testing.T) {
	borrowed := httptest.NewTLSServer(nil) // for its certificate
	defer borrowed.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	backend := memory.New()
	defer backend.Close()
	tokens := new(auth.Tokens)
	tokens.Add(adminToken, &auth.User{Name: "admin", Groups: []string{auth.Masters}})
	s, err := New(t.Context(), Config{
		Groups: []registry.Group{widgets()}, Log: slog.New(slog.DiscardHandler),
		Storage:      Storage{Backend: backend},
		Serving:      Serving{Listener: listener, Certificate: borrowed.TLS.Certificates[0]},
		Contribution: Contribution{Authentication: auth.Authentication{Tokens: []auth.TokenAuthenticator{tokens}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background()) }()
	roots := x509.NewCertPool()
	roots.AddCert(borrowed.Certificate())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	ask := func() (int, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			s.URL()+"/apis/shop.example.com/v1/widgets", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+adminToken)
		response, err := transport.RoundTrip(request)
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		return response.StatusCode, err
	}
	if code, err := ask(); code != http.StatusOK || err != nil {
		t.Fatalf("%d, %v", code, err)
	}
	listener.Close()
	if err := <-ended; err == nil {
		t.Error("the server ended as if nothing had happened")
	}
	if code, err := ask(); err == nil {
		t.Errorf("a server that has ended answers %d", code)
	}
}

// TestComplaintsAreHeard: what net/http complains of is told, but for what any stranger can make it complain of.
func TestComplaintsAreHeard(t *testing.T) {
	var heard bytes.Buffer
	complain := log.New(httpErrorLog{slog.New(slog.NewTextHandler(&heard, nil))}, "", 0)
	complain.Printf("http: TLS handshake error from 192.0.2.1:1234: EOF")
	complain.Printf("http2: server: error reading preface from client 192.0.2.1:1234: timeout")
	complain.Printf("http: URL query contains semicolon, which is no longer a supported separator")
	if heard.Len() > 0 {
		t.Errorf("strangers fill the log: %s", &heard)
	}
	complain.Printf("http: Accept error: accept tcp: too many open files; retrying in 5ms")
	if !strings.Contains(heard.String(), "too many open files") {
		t.Error("nobody hears that no connections are taken")
	}
}

// worn is a disk that can't be read.
type worn struct{ storage.Maintainer }

var errWorn = errors.New("sector 7 can't be read")

func (worn) Snapshot(context.Context, io.Writer) (int64, error) { return 0, errWorn }

// TestFailedSnapshotIsTold: the client learns no more than that it has not got all; why is in the server's log.
func TestFailedSnapshotIsTold(t *testing.T) {
	var heard bytes.Buffer
	handler := maintenance(worn{}, slog.New(slog.NewTextHandler(&heard, nil)), time.Minute)[snapshotPath]
	defer func() {
		if cause := recover(); cause != any(http.ErrAbortHandler) {
			t.Errorf("the connection was not cut off: %v", cause)
		}
		if !strings.Contains(heard.String(), errWorn.Error()) {
			t.Errorf("nobody hears why: %q", &heard)
		}
	}()
	handler.ServeHTTP(httptest.NewRecorder(), snapshotRequest(t, auth.Masters))
}

// snapshotRequest asks for a snapshot, as a user in a group.
func snapshotRequest(t *testing.T, group string) *http.Request {
	user := &auth.User{Name: "someone", Groups: []string{group}}
	return httptest.NewRequestWithContext(auth.WithUser(t.Context(), user), http.MethodGet, snapshotPath, nil)
}

// whole is a backend of which there is a snapshot.
type whole struct{ storage.Maintainer }

func (whole) Snapshot(_ context.Context, w io.Writer) (int64, error) {
	_, err := io.WriteString(w, "all secrets")
	return 7, err
}

// TestSnapshotIsForMasters: whoever may read every path, as a monitoring system does, may not read every object.
func TestSnapshotIsForMasters(t *testing.T) {
	handler := maintenance(whole{}, slog.New(slog.DiscardHandler), time.Minute)[snapshotPath]
	for group, code := range map[string]int{auth.Masters: 200, auth.Authenticated: 403, "monitoring": 403} {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, snapshotRequest(t, group))
		if answer.Code != code || (code == http.StatusOK) != strings.Contains(answer.Body.String(), "secrets") {
			t.Errorf("%s: %d %s, want %d", group, answer.Code, answer.Body, code)
		}
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, snapshotPath, nil))
	if answer.Code != http.StatusForbidden {
		t.Errorf("without a user: %d", answer.Code)
	}
}
