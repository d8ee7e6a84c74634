package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"
	"time"
)

// unfinished is a request whose head was taken by the server, and whose body is still to come.
type unfinished struct {
	t      *testing.T
	body   *io.PipeWriter
	answer chan error
	code   int
}

// begin sends the head of a creation, and returns when the server wants the rest.
func begin(t *testing.T, server *replica) *unfinished {
	t.Helper()
	reader, writer := io.Pipe()
	u := &unfinished{t: t, body: writer, answer: make(chan error, 1)}
	taken := make(chan struct{})
	ctx := httptrace.WithClientTrace(context.Background(),
		&httptrace.ClientTrace{Got100Continue: func() { close(taken) }})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.url+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Expect", "100-continue")
	transport := server.watcher.Transport.(*http.Transport).Clone()
	transport.ExpectContinueTimeout = startTimeout
	t.Cleanup(transport.CloseIdleConnections)
	go func() {
		response, err := (&http.Client{Transport: transport, Timeout: startTimeout}).Do(request)
		if err == nil {
			u.code = response.StatusCode
			_ = response.Body.Close()
		}
		u.answer <- err
	}()
	select {
	case <-taken:
	case err := <-u.answer:
		t.Fatalf("a request was answered before it was sent: %d, %v", u.code, err)
	}
	return u
}

// end sends the body, and returns the code of the answer.
func (u *unfinished) end(name string) int {
	u.t.Helper()
	fmt.Fprintf(u.body, `{"apiVersion":"library.example.com/v1","kind":"Book","metadata":{"name":%q},`+
		`"spec":{"title":"x"}}`, name)
	if err := u.body.Close(); err != nil {
		u.t.Fatal(err)
	}
	if err := <-u.answer; err != nil {
		u.t.Fatalf("a request that was under way when the server was told to end: %v", err)
	}
	return u.code
}

// SIGTERM: the server takes nothing new, ends watches without an error, finishes what is under way, and exits with 0;
// what it answered last is there after the next start.
func TestTerminate(t *testing.T) {
	t.Parallel()
	server := startReplica(t, "--request-timeout="+startTimeout.String())
	list, ok := fetch(t.Context(), server, true, func() int64 { return 0 })
	if !ok {
		t.Fatal("no list")
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		fmt.Sprintf("%s%s?watch=1&resourceVersion=%d", server.url, path, list.revision), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.watcher.Do(request)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("a watch: %v %v", response, err)
	}
	defer response.Body.Close()
	underWay := begin(t, server)
	told := time.Now()
	server.signal(syscall.SIGTERM)
	rest, err := io.ReadAll(response.Body) // the watch ends while the write is still under way
	if err != nil || len(rest) > 0 {
		t.Errorf("the watch ended with %q, %v", rest, err)
	}
	if server.ended() {
		t.Error("the server ended before what was under way")
	}
	code, answer, err := server.do(t.Context(), http.MethodGet, path, "", nil)
	if err == nil && (code != http.StatusServiceUnavailable || !json.Valid(answer)) {
		t.Errorf("a request that came after: %d %s", code, answer)
	}
	code, answer, err = server.do(t.Context(), http.MethodGet, "/readyz", "", nil)
	if err == nil && (code != http.StatusInternalServerError ||
		!strings.Contains(string(answer), "[-]shutdown failed")) {
		t.Errorf("/readyz says %d %s", code, answer)
	}
	if code := underWay.end("last"); code != http.StatusCreated {
		t.Errorf("what was under way was answered %d", code)
	}
	select {
	case <-server.done:
	case <-time.After(startTimeout):
		t.Fatal("the server goes on")
	}
	if took := time.Since(told); server.command.ProcessState.ExitCode() != 0 || took > time.Minute {
		t.Errorf("%v after %s", server.command.ProcessState, took)
	}
	server.restart()
	if list, ok = fetch(t.Context(), server, true, func() int64 { return 0 }); !ok || len(list.items) != 1 {
		t.Errorf("after the next start there is %+v", list)
	}
}

// A request that doesn't end in time is not waited for: the server ends within its grace, and says that it had to.
func TestTerminateInTime(t *testing.T) {
	t.Parallel()
	server := startReplica(t, "--request-timeout=1s")
	underWay := begin(t, server)
	server.signal(syscall.SIGTERM)
	select {
	case <-server.done:
	case <-time.After(40 * time.Second): // less than it takes by default
		t.Fatal("the server waits for a request that does not end")
	}
	if err := underWay.body.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-underWay.answer; err == nil && underWay.code != http.StatusGatewayTimeout {
		t.Errorf("the request was answered %d", underWay.code)
	}
}

// A second signal ends the server at once, whatever is under way.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	server := startReplica(t, "--request-timeout="+startTimeout.String())
	underWay := begin(t, server)
	server.signal(syscall.SIGTERM)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for end := time.After(startTimeout / 3); !server.ended(); {
		select {
		case <-again.C:
			_ = server.command.Process.Signal(syscall.SIGTERM) // it may have ended
		case <-server.done:
		case <-end:
			t.Fatal("the server waits for a request after further signals")
		}
	}
	status, ok := server.command.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("the server ended with %v", server.command.ProcessState)
	}
	if err := underWay.body.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-underWay.answer; err == nil {
		t.Errorf("the request was answered %d", underWay.code)
	}
}
