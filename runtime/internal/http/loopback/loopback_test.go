package loopback_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/http/loopback"
)

type key string

// call sends a request to a handler.
func call(
	ctx context.Context, t *testing.T, method, body string, handler http.HandlerFunc,
) (*http.Response, error) {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = io.NopCloser(strings.NewReader(body)) // hides the length
	}
	r, err := http.NewRequestWithContext(ctx, method, "https://server.example/a%2Fb?c=d", reader)
	if err != nil {
		t.Fatal(err)
	}
	r.Header["x-lower"] = []string{"1"}
	base := context.WithValue(context.Background(), key("server"), "s")
	client := http.Client{Transport: loopback.Transport{Handler: handler, Context: base}}
	return client.Do(r)
}

func text(t *testing.T, response *http.Response, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestRequestArrives(t *testing.T) {
	ctx := context.WithValue(t.Context(), key("client"), "c")
	response, err := call(ctx, t, http.MethodPost, "hello", func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil || string(content) != "hello" {
			t.Errorf("body %q, %v", content, err)
		}
		if r.URL.String() != "/a%2Fb?c=d" || r.URL.Path != "/a/b" || r.RequestURI != "/a%2Fb?c=d" {
			t.Errorf("URL %s, path %s, target %s", r.URL, r.URL.Path, r.RequestURI)
		}
		if r.Host != "server.example" || r.Header.Get("X-Lower") != "1" || r.ContentLength != -1 {
			t.Errorf("%s %v %d", r.Host, r.Header, r.ContentLength)
		}
		if r.Context().Value(key("server")) != "s" || r.Context().Value(key("client")) != nil {
			t.Error("the context has not the server's values, or has the client's")
		}
		w.Header().Set("Trailer", "After")
		w.Header().Set("X-Before", "2")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusCreated)
		w.Header().Set("X-Late", "3")
		w.Header().Set("After", "4")
		if _, err := io.WriteString(w, "world"); err != nil {
			t.Error(err)
		}
	})
	if got := text(t, response, err); got != "world" || response.StatusCode != http.StatusCreated {
		t.Errorf("%s %q", response.Status, got)
	}
	if response.Header.Get("X-Before") != "2" || response.Header.Get("X-Late") != "" ||
		response.Trailer.Get("After") != "4" {
		t.Errorf("header %v, trailer %v", response.Header, response.Trailer)
	}
}

// A handler that writes nothing has answered 200, and a HEAD has no body.
func TestNoBody(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		response, err := call(t.Context(), t, method, "", func(w http.ResponseWriter, r *http.Request) {
			if n, err := r.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("body %d, %v", n, err)
			}
			if method == http.MethodHead {
				w.Header().Set("Content-Length", "5")
				_, _ = io.WriteString(w, "world")
			}
		})
		if got := text(t, response, err); got != "" || response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %q", method, response.Status, got)
		}
		if method == http.MethodHead && response.ContentLength != 5 {
			t.Errorf("length %d", response.ContentLength)
		}
	}
}

// The client has each piece of a stream before the handler writes the next one, and the status before the first.
func TestStreams(t *testing.T) {
	next := make(chan string)
	response, err := call(t.Context(), t, http.MethodGet, "", func(w http.ResponseWriter, _ *http.Request) {
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		for piece := range next {
			_, _ = io.WriteString(w, piece)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for _, piece := range []string{"one", "two"} {
		next <- piece
		got := make([]byte, len(piece))
		if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != piece {
			t.Errorf("%q, %v", got, err)
		}
	}
	close(next)
	if n, err := response.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%d, %v", n, err)
	}
}

// A client that goes away ends the handler's request, wherever it is.
func TestClientLeaves(t *testing.T) {
	for name, handler := range map[string]func(w http.ResponseWriter, r *http.Request) error{
		"before the response": func(_ http.ResponseWriter, r *http.Request) error {
			<-r.Context().Done()
			return context.Cause(r.Context())
		},
		"in a write": func(w http.ResponseWriter, _ *http.Request) error {
			_, err := w.Write([]byte("nobody reads this"))
			return err
		},
		"in a read": func(_ http.ResponseWriter, r *http.Request) error {
			_, err := r.Body.Read(make([]byte, 1))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancelCause(t.Context())
			ended, arrived := make(chan error), make(chan struct{})
			reader, writer := io.Pipe()
			defer writer.Close()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://s/", reader)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				<-arrived
				leave(errors.New("the client left"))
			}()
			transport := loopback.Transport{Context: context.Background(),
				Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					close(arrived)
					ended <- handler(w, r)
				})}
			response, err := transport.RoundTrip(r)
			if handled := <-ended; handled == nil {
				t.Error("the handler went on")
			}
			if err == nil {
				_, err = io.ReadAll(response.Body)
				response.Body.Close()
			}
			if err == nil || err.Error() != "the client left" {
				t.Errorf("the client got %v", err)
			}
		})
	}
}

// Closing the body of a response ends the handler's request.
func TestBodyIsClosed(t *testing.T) {
	ended := make(chan error, 2)
	response, err := call(t.Context(), t, http.MethodGet, "", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		<-r.Context().Done()
		_, err := io.WriteString(w, "nobody reads this")
		ended <- err
	})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if err := <-ended; err == nil {
		t.Error("a write after the end succeeded")
	}
}

// A client that reads too slowly loses its connection.
func TestWriteDeadline(t *testing.T) {
	ended := make(chan error, 1)
	response, err := call(t.Context(), t, http.MethodGet, "", func(w http.ResponseWriter, _ *http.Request) {
		controller := http.NewResponseController(w)
		if err := errors.Join(controller.SetWriteDeadline(time.Now().Add(time.Hour)),
			controller.SetWriteDeadline(time.Time{}), controller.Flush(),
			controller.SetWriteDeadline(time.Unix(1, 0))); err != nil {
			t.Error(err)
		}
		_, err := io.WriteString(w, "nobody reads this")
		ended <- err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := <-ended; err == nil {
		t.Error("the write succeeded")
	}
	if _, err := io.ReadAll(response.Body); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the client got %v", err)
	}
}

// A handler that panics breaks the response, not the process.
func TestPanics(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{{http.ErrAbortHandler, "the server aborted the response"}, {"broken", "the handler panicked: broken"}} {
		for _, begun := range []bool{false, true} {
			response, err := call(t.Context(), t, http.MethodGet, "", func(w http.ResponseWriter, _ *http.Request) {
				if begun {
					w.WriteHeader(http.StatusOK)
				}
				panic(test.value)
			})
			if err == nil {
				_, err = io.ReadAll(response.Body)
				response.Body.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v: %v", test.value, err)
			}
		}
	}
}
