package conformance

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// balancer leads each new connection to one of the servers that are ready, and leaves a connection where it is. It
// knows of a server what /readyz says.
type balancer struct {
	listener net.Listener
	backends []*backend
}

type backend struct {
	address string
	ready   atomic.Bool
}

// probeInterval is how often a balancer asks each server.
const probeInterval = 100 * time.Millisecond

// startBalancer balances over addresses until the test ends.
func startBalancer(t *testing.T, addresses ...string) *balancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{listener: listener}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, address := range addresses {
		one := &backend{address: address}
		b.backends = append(b.backends, one)
		running.Go(func() { one.probe(ctx) })
	}
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			running.Go(func() { b.pass(ctx, conn) })
		}
	})
	t.Cleanup(func() {
		stop()
		listener.Close()
		running.Wait()
	})
	return b
}

func (b *backend) probe(ctx context.Context) {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // a balancer of TCP knows no names
	}}
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+b.address+"/readyz", http.NoBody)
		ready := false
		if err == nil {
			if response, asked := client.Do(request); asked == nil {
				ready = response.StatusCode == http.StatusOK
				response.Body.Close()
			}
		}
		b.ready.Store(ready)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// pass copies both ways until one end closes, or ctx ends.
func (b *balancer) pass(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	ready := slices.DeleteFunc(slices.Clone(b.backends), func(one *backend) bool { return !one.ready.Load() })
	if len(ready) == 0 {
		return
	}
	to, err := new(net.Dialer).DialContext(ctx, "tcp", ready[rand.IntN(len(ready))].address)
	if err != nil {
		return
	}
	defer to.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close(); to.Close() })
	defer stop()
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{conn, to}, {to, conn}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1]) // what ends it, ends the connection
			done <- struct{}{}
		}()
	}
	<-done
	conn.Close()
	to.Close()
	<-done
}

// awaitReady waits until the balancer sees all servers ready.
func (b *balancer) awaitReady(t *testing.T) {
	t.Helper()
	state := func() string {
		var all []string
		for _, one := range b.backends {
			all = append(all, fmt.Sprintf("%s ready: %t", one.address, one.ready.Load()))
		}
		return strings.Join(all, ", ")
	}
	eventually(t, func() bool { return !strings.Contains(state(), "false") }, state)
}
