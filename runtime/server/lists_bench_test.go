package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
)

// BenchmarkBesideLargeLists measures the GETs of an administrator while a user lists all objects on 100 connections
// without a pause: 2,000 objects of 4 kB. It reports percentiles of their times, and how many lists were read in a
// second. The clients of both run in the server's process, and take about as much of the processors as the server.
func BenchmarkBesideLargeLists(b *testing.B) {
	const objects, connections = 2000, 100
	var config Config
	config.Authorizer = auth.Always(auth.Allow)
	victim := runVictim(b, config)
	padding := strings.Repeat("x", 4000)
	for i := range objects {
		body := fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w-%d",`+
			`"annotations":{"padding":%q}}}`, i, padding)
		code := victim.requestAs(b.Context(), b, adminToken, http.MethodPost, widgetsPath, body)
		if code != http.StatusCreated {
			b.Fatal(code)
		}
	}
	for _, http2 := range []bool{false, true} {
		b.Run(map[bool]string{false: "HTTP1", true: "HTTP2"}[http2], func(b *testing.B) {
			ctx, stop := context.WithCancel(b.Context())
			var lists atomic.Int64
			var flood sync.WaitGroup
			for range connections {
				flood.Go(func() {
					client := victim.wrong(http2)
					defer client.CloseIdleConnections()
					for ctx.Err() == nil {
						if err := victim.readList(ctx, client); err == nil {
							lists.Add(1)
						} else if ctx.Err() == nil {
							b.Error(err)
							return
						}
					}
				})
			}
			for lists.Load() < connections && !b.Failed() {
				time.Sleep(time.Millisecond)
			}
			victim.measureBeside(b, &lists, "lists/s", adminToken, widgetsPath+"/w-1")
			stop()
			flood.Wait()
		})
	}
}

// readList reads a list to its end, uncompressed.
func (v *victim) readList(ctx context.Context, client *http.Client) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url+widgetsPath, http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+limitedToken)
	r.Header.Set("Accept-Encoding", "identity")
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
