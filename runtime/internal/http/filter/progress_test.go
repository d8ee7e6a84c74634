package filter

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/testbed"
)

// TestProgress: a watch may last as long as its client wants, if the client takes what is written. The client that
// doesn't is dropped.
func TestProgress(t *testing.T) {
	for _, reads := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			listener := testbed.NewPipes()
			events, failed := make(chan string), make(chan error, 1)
			server := &http.Server{WriteTimeout: time.Second, Handler: Chain(http.HandlerFunc(
				func(w http.ResponseWriter, _ *http.Request) {
					for e := range events {
						_, err := io.WriteString(w, e)
						if err == nil {
							err = http.NewResponseController(w).Flush()
						}
						if err != nil {
							failed <- err
							return
						}
					}
					failed <- nil
				}), RequestInfo(nil, nil), Progress(time.Second))}
			go func() { _ = server.Serve(listener) }()
			client, err := listener.Dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.WriteString(client, "GET /apis/g/v1/things?watch=true HTTP/1.1\r\nHost: x\r\n\r\n")
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour) // before the first event
			lines := bufio.NewReader(client)
			for range 3 {
				events <- "event\n"
				for line := ""; reads && line != "event\n"; {
					if line, err = lines.ReadString('\n'); err != nil {
						t.Fatal(err)
					}
				}
				began := time.Now()
				if !reads {
					if err := <-failed; err == nil || time.Since(began) != time.Second {
						t.Errorf("a client that doesn't read is dropped after %v: %v", time.Since(began), err)
					}
					break
				}
				time.Sleep(time.Hour)
			}
			if reads {
				close(events)
				rest, err := io.ReadAll(io.LimitReader(lines, 7))
				if err != nil || !strings.Contains(string(rest), "0\r\n") || <-failed != nil {
					t.Errorf("the watch ended with %q %v", rest, err)
				}
			}
			client.Close()
			server.Close()
		})
	}
}

// TestProgressLeavesOthersAlone: an answer of another request keeps the deadline of the server.
func TestProgressLeavesOthersAlone(t *testing.T) {
	w := &deadlines{}
	for _, long := range []bool{false, true} {
		ctx := request.WithInfo(t.Context(), &request.Info{LongRunning: long})
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		Progress(time.Minute)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		if long != (len(w.set) == 2) || long && (!w.set[0].IsZero() || w.set[1].IsZero()) {
			t.Errorf("long-running: %v, deadlines: %v", long, w.set)
		}
	}
}

type deadlines struct {
	http.ResponseWriter
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}
