package flowcontrol_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/subresource"
)

// logged returns a log of a widget, which is a line, and then lasts as long as the client wants.
func logged() subresource.Extension[*shop.Widget] {
	return subresource.StreamOf(subresource.Stream[*shop.Widget, *bool]{
		Name: "log", Options: subresource.Options[*bool]{
			New:    func() *bool { return new(bool) },
			Decode: func(url.Values, *bool) error { return nil },
		},
		Open: func(ctx context.Context, w *shop.Widget, _ *bool) (io.ReadCloser, error) {
			reader, writer := io.Pipe()
			context.AfterFunc(ctx, func() { writer.CloseWithError(ctx.Err()) })
			go fmt.Fprintf(writer, "the log of %s\n", w.Name)
			return reader, nil
		},
	})
}

// TestLogsPass: a request that lasts as long as its client wants passes a level that is full, and occupies no seat.
func TestLogsPass(t *testing.T) {
	b := start(t)
	b.must("POST", widgets, `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w"}}`)
	b.limit("ann")
	follow := func() (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		response := b.send(ctx, "ann", "GET", widgets+"/w/log", "")
		line, err := bufio.NewReader(response.Body).ReadString('\n')
		if response.StatusCode != http.StatusOK || err != nil || line != "the log of w\n" {
			t.Errorf("the log: %s, %q, %v", response.Status, line, err)
		}
		return func() { cancel(); response.Body.Close() }
	}
	first := follow()
	defer first()
	ended := make(chan int, 1)
	go func() { ended <- b.code("ann", "GET", "/slow", "") }() // the log has left the seat to it
	<-b.entered
	if code := b.code("ann", "GET", widgets+"/w", ""); code != http.StatusTooManyRequests {
		t.Errorf("the level is not full: %d", code)
	}
	second := follow()
	defer second()
	close(b.slow)
	if code := <-ended; code != http.StatusOK {
		t.Errorf("the slow request: %d", code)
	}
}

// TestSeatsOfLists: a list costs a seat for each 100 kB that it has, by the size that the cache measures.
func TestSeatsOfLists(t *testing.T) {
	b := startWith(t, func(config *server.Config) { config.MaxReads = 600 })
	const name = `apiserver_flowcontrol_work_estimated_seats_sum{flow_schema="global-default",` +
		`priority_level="global-default"} `
	value := regexp.MustCompile(regexp.QuoteMeta(name) + `(\S+)`)
	seats := func(query string) (occupied string) {
		sum := func() (n float64) {
			found := value.FindStringSubmatch(b.must("GET", "/metrics", ""))
			if found != nil {
				fmt.Sscan(found[1], &n)
			}
			return n
		}
		before := sum()
		if code := b.code("bob", "GET", widgets+query, ""); code != http.StatusOK {
			t.Errorf("%s: %d", query, code)
		}
		return fmt.Sprint(sum() - before)
	}
	if got := seats(""); got != "1" {
		t.Errorf("a list without objects occupies %s seats", got)
	}
	for i := range 3 {
		b.must("POST", widgets, fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget",
"metadata":{"name":"w%d"},"spec":{"notes":{"text":%q}}}`, i, strings.Repeat("x", 150_000)))
	}
	b.until("the cache has the objects", func() bool { return seats("") == "5" })
	for query, want := range map[string]string{"": "5", "?limit=1&resourceVersion=0": "2", "/w0": "1"} {
		if got := seats(query); got != want {
			t.Errorf("GET %s occupies %s seats, want %s", query, got, want)
		}
	}
}
