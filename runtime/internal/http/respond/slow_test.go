package respond

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/testbed"
)

// TestSlowClients: an answer in pieces may take longer than other answers, as long as its client takes each piece in
// time. A client that stops is dropped.
func TestSlowClients(t *testing.T) {
	const (
		pieces  = 10
		size    = 512 << 10
		timeout = time.Second
	)
	for name, protocol := range map[string]func(*http.Protocols, bool){
		"HTTP/1.1": (*http.Protocols).SetHTTP1, "HTTP/2": (*http.Protocols).SetUnencryptedHTTP2,
	} {
		for _, reads := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				protocols := new(http.Protocols)
				protocol(protocols, true)
				listener := testbed.NewPipes()
				failed := make(chan error, 1)
				server := &http.Server{WriteTimeout: timeout, Protocols: protocols, Handler: http.HandlerFunc(
					func(w http.ResponseWriter, _ *http.Request) {
						b := &Body{Writer: w, Code: http.StatusOK, ContentType: []string{"x"}, WriteTimeout: timeout}
						defer b.Close()
						var err error
						for range pieces {
							_, writeErr := b.Write(make([]byte, size))
							err = errors.Join(err, writeErr)
						}
						failed <- err
					})}
				go func() { _ = server.Serve(listener) }()
				transport := &http.Transport{Protocols: protocols, DialContext: listener.Dial, HTTP2: &http.HTTP2Config{
					MaxReceiveBufferPerStream: 64 << 10, MaxReceiveBufferPerConnection: 64 << 10,
				}}
				response, err := (&http.Client{Transport: transport}).Get("http://server/")
				if err != nil {
					t.Fatal(err)
				}
				began, n := time.Now(), 0
				for buffer := make([]byte, size/2); reads && err == nil; {
					time.Sleep(timeout / 4)
					var m int
					m, err = io.ReadFull(response.Body, buffer)
					n += m
				}
				if reads && (!errors.Is(err, io.EOF) || n != pieces*size || time.Since(began) < 2*timeout) {
					t.Errorf("%s: after %d bytes and %s: %v", name, n, time.Since(began), err)
				}
				if err := <-failed; (err == nil) != reads {
					t.Errorf("%s: the client reads: %v, the server's error: %v", name, reads, err)
				}
				response.Body.Close()
				transport.CloseIdleConnections()
				server.Close()
			})
		}
	}
}
