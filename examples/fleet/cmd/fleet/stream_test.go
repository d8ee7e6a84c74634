package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	clientexec "k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
)

// address returns the path of a subresource of the ship.
func (b *bench) address(subresource, query string) *url.URL {
	b.Helper()
	u, err := url.Parse(b.config.Host + aurora + "/" + subresource + "?" + query)
	if err != nil {
		b.Fatal(err)
	}
	return u
}

// executors are client-go's two ways to run a command.
func (b *bench) executors(u *url.URL) map[string]remotecommand.Executor {
	b.Helper()
	socket, err := remotecommand.NewWebSocketExecutor(b.config, http.MethodGet, u.String())
	if err != nil {
		b.Fatal(err)
	}
	old, err := remotecommand.NewSPDYExecutor(b.config, http.MethodPost, u)
	if err != nil {
		b.Fatal(err)
	}
	return map[string]remotecommand.Executor{"WebSocket": socket, "SPDY": old}
}

func TestExec(t *testing.T) {
	b := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for name, executor := range b.executors(b.address("exec", "command=cat&stdin=true&stdout=true&stderr=true")) {
		var out bytes.Buffer
		in := strings.Repeat("all hands on deck\n", 10_000)
		if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: strings.NewReader(in),
			Stdout: &out, Stderr: io.Discard}); err != nil || out.String() != in {
			t.Errorf("%s: %v, %d bytes", name, err, out.Len())
		}
	}
	for name, executor := range b.executors(b.address("exec", "command=fail&command=3&stdout=true&stderr=true")) {
		var out, errs bytes.Buffer
		err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &errs})
		var exit clientexec.ExitError
		if !errors.As(err, &exit) || exit.ExitStatus() != 3 || errs.String() != "failing, as asked\n" || out.Len() > 0 {
			t.Errorf("%s: %v %q %q", name, err, &out, &errs)
		}
	}
	for name, executor := range b.executors(b.address("exec", "stdout=true")) {
		err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: io.Discard})
		if err == nil || !strings.Contains(err.Error(), "you must specify at least 1 command") && name == "SPDY" {
			t.Errorf("%s without a command: %v", name, err)
		}
	}
}

func TestAttach(t *testing.T) {
	b := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for name, executor := range b.executors(b.address("attach", "stdin=true&stdout=true")) {
		in, mouth := io.Pipe()
		ear, out := io.Pipe()
		done := make(chan error, 1)
		go func() {
			err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: out})
			done <- errors.Join(err, in.CloseWithError(io.ErrClosedPipe), out.Close())
		}()
		// Both directions are open at once.
		for _, word := range []string{"ahoy", "aye"} {
			if _, err := io.WriteString(mouth, word); err != nil {
				t.Fatal(err)
			}
			heard := make([]byte, len(word))
			if _, err := io.ReadFull(ear, heard); err != nil || string(heard) != word {
				t.Fatalf("%s: heard %q, %v", name, heard, err)
			}
		}
		if err := errors.Join(mouth.Close(), <-done); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPortForward(t *testing.T) {
	b := start(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "port ", r.URL.Path)
	}))
	defer web.Close()
	remote := web.URL[strings.LastIndexByte(web.URL, ':')+1:]
	u := b.address("portforward", "ports="+remote)
	transport, upgrader, err := spdy.RoundTripperFor(b.config)
	if err != nil {
		t.Fatal(err)
	}
	tunnel, err := portforward.NewSPDYOverWebsocketDialerForStreaming(u, b.config)
	if err != nil {
		t.Fatal(err)
	}
	dialers := map[string]httpstream.Dialer{
		"SPDY":      spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, u),
		"WebSocket": tunnel,
	}
	for name, dialer := range dialers {
		stop, ready := make(chan struct{}), make(chan struct{})
		forwarder, err := portforward.NewOnAddressesForStreaming(dialer, []string{"127.0.0.1"}, []string{"0:" + remote},
			stop, ready, io.Discard, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- forwarder.ForwardPorts() }()
		select {
		case <-ready:
		case err := <-done:
			t.Fatalf("%s: %v", name, err)
		}
		ports, err := forwarder.GetPorts()
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/a", "/b"} {
			response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", ports[0].Local, path))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			body, err := io.ReadAll(response.Body)
			if err = errors.Join(err, response.Body.Close()); err != nil || string(body) != "port "+path {
				t.Errorf("%s: %q %v", name, body, err)
			}
		}
		http.DefaultClient.CloseIdleConnections()
		close(stop)
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
