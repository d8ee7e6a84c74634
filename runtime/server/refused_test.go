package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestRefusedRequestsAreSpaced: many clients that send requests with a wrong token without a pause are refused about
// once a second each, and requests of another user don't wait. Each refusal ends a connection, but for the first over
// HTTP/1.1, which don't wait.
func TestRefusedRequestsAreSpaced(t *testing.T) {
	const (
		each   = 10  // requests of a client
		atOnce = 100 // refusals
	)
	for _, row := range []struct {
		name  string
		http2 bool
		least int64 // of connections; a client of HTTP/1.1 may open more than it needs
	}{{"HTTP1", false, holders*each - atOnce}, {"HTTP2", true, holders * each}} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := startCrowd(t, Config{})
				defer c.stop()
				c.fill(0)
				c.othersAreServed()
				var connections atomic.Int64
				dial := func(ctx context.Context, network, address string) (net.Conn, error) {
					connections.Add(1)
					return c.pipes.Dial(ctx, network, address)
				}
				protocols := new(http.Protocols)
				protocols.SetHTTP1(!row.http2)
				protocols.SetUnencryptedHTTP2(row.http2)
				began := time.Now()
				var clients sync.WaitGroup
				for range holders {
					clients.Go(func() {
						client := &http.Client{Transport: &http.Transport{DialContext: dial, Protocols: protocols}}
						defer client.CloseIdleConnections()
						for range each {
							if code := refused(t.Context(), client, "http://server"); code != http.StatusUnauthorized {
								t.Error(code)
							}
						}
					})
				}
				c.othersAreServed()
				clients.Wait()
				if took := time.Since(began); took < (each-1)*time.Second || took > each*time.Second {
					t.Errorf("%d refusals took %s", holders*each, took)
				}
				if n := connections.Load(); n < row.least {
					t.Errorf("the clients had %d connections, want %d", n, row.least)
				}
			})
		})
	}
}
