package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
)

// raw starts a backend that does with a connection what it likes once it has read the header of a request.
func raw(t *testing.T, do func(conn *tls.Conn, r *http.Request, in *bufio.Reader)) Config {
	t.Helper()
	certificate, trust := serverCertificate(t)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(patience))
				in := bufio.NewReader(conn)
				if r, err := http.ReadRequest(in); err == nil {
					do(conn.(*tls.Conn), r, in)
				}
			}()
		}
	}()
	return Config{
		Namespace: "db", Name: "store", CABundle: trust, Resolve: at(listener.Addr().String()),
		Log: slog.New(slog.DiscardHandler),
	}
}

// Beginnings of answers.
const (
	chunked  = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	switched = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
)

const (
	refused = "503"    // the client sees 503
	broken  = "broken" // the client sees a body that breaks off, or a connection that does
)

func TestHostileBackends(t *testing.T) {
	answer := func(text string) func(*tls.Conn, *http.Request, *bufio.Reader) {
		return func(conn *tls.Conn, _ *http.Request, _ *bufio.Reader) { _, _ = io.WriteString(conn, text) }
	}
	for name, test := range map[string]struct {
		do   func(*tls.Conn, *http.Request, *bufio.Reader)
		want string
		text string
	}{
		"closes at once": {answer(""), refused, "EOF"},
		"resets": {func(conn *tls.Conn, _ *http.Request, _ *bufio.Reader) {
			_ = conn.NetConn().(*net.TCPConn).SetLinger(0)
			conn.NetConn().Close()
		}, refused, ""},
		"garbage":           {answer("\x00\xff\x00garbage\r\n\r\n"), refused, "malformed"},
		"half a header":     {answer("HTTP/1.1 200 OK\r\nContent-Le"), refused, "malformed"},
		"a broken header":   {answer("HTTP/1.1 200 OK\r\nno colon\r\n\r\n"), refused, "malformed"},
		"an endless header": {endless("HTTP/1.1 200 OK\r\nA: "), refused, "exceeded"},
		"endless headers":   {endless("HTTP/1.1 200 OK\r\n", "A: b\r\n"), refused, ""},
		"a negative length": {answer("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), refused, "Content-Length"},
		"two lengths": {
			answer("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), refused, "",
		},
		"informational only": {endless("", "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"), refused, ""},
		"an unasked switch":  {answer("HTTP/1.1 101 Switching Protocols\r\n\r\n"), refused, `protocol ""`},
		"a named switch": {
			answer(switched), refused, `protocol "x"`,
		},
		"a body too short": {answer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"), broken, ""},
		"a body too long":  {answer("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"), "200", "abc"},
		"a cut chunk":      {answer(chunked + "8\r\nabc"), broken, "abc"},
		"no last chunk":    {answer(chunked + "3\r\nabc\r\n"), broken, "abc"},
		"a huge chunk": {
			answer(chunked + "fffffffffffffffff\r\nabc"), broken, "",
		},
		"no chunk": {answer(chunked + "zz\r\nabc"), broken, ""},
		"endless trailers": {
			endless(chunked+"1\r\na\r\n0\r\n", "A: b\r\n"), broken, "a",
		},
		"an unknown coding": {answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\n\r\nabc"), refused, "encoding"},
		"an odd code":       {answer("HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n"), "999", ""},
		"a code too small":  {answer("HTTP/1.1 042 What\r\nContent-Length: 0\r\n\r\n"), refused, "status code 42"},
	} {
		t.Run(name, func(t *testing.T) {
			s := front(t, open(t, raw(t, test.do)), alice)
			response, body, err := tryGet(t, s.URL+"/apis/g/v1/things", nil)
			got := broken
			if err == nil {
				got = fmt.Sprint(response.StatusCode)
			}
			if got != test.want || !strings.Contains(body, test.text) {
				t.Errorf("%s %q (%v), want %s with %q", got, body, err, test.want, test.text)
			}
			if got == refused && !strings.HasPrefix(body, "error trying to reach service: ") &&
				!strings.HasPrefix(body, "the backend ") {
				t.Errorf("%q", body)
			}
		})
	}
}

// endless writes the first piece, and then the others, or bytes, until the connection ends.
func endless(first string, rest ...string) func(*tls.Conn, *http.Request, *bufio.Reader) {
	piece := bytes.Repeat([]byte("a"), 1<<14)
	if len(rest) > 0 {
		piece = bytes.Repeat([]byte(strings.Join(rest, "")), 1<<10)
	}
	return func(conn *tls.Conn, _ *http.Request, _ *bufio.Reader) {
		_, err := io.WriteString(conn, first)
		for err == nil {
			_, err = conn.Write(piece)
		}
	}
}

// A backend that sends much and a client that reads little: the backend must wait, and end with the client.
func TestEndlessBody(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		var sent int
		ended := make(chan int, 1)
		_, config := serveTLS(t, http2, func(w http.ResponseWriter, _ *http.Request) {
			piece := make([]byte, 64<<10)
			for {
				n, err := w.Write(piece)
				if sent += n; err != nil {
					ended <- sent
					return
				}
			}
		})
		b := open(t, config)
		ctx, cancel := context.WithCancel(auth.WithUser(t.Context(), alice))
		w := &stalled{header: http.Header{}, done: ctx.Done(), begun: make(chan struct{})}
		go func() {
			<-w.begun
			cancel()
		}()
		func() {
			defer func() {
				if p := recover(); p != http.ErrAbortHandler { //nolint:errorlint // net/http compares it as well
					t.Errorf("recovered %v", p)
				}
			}()
			b.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/apis/g/v1/things", nil).WithContext(ctx))
		}()
		if n := receive(t, ended); n > 64<<20 {
			t.Errorf("the backend could send %d bytes", n)
		}
	})
}

// stalled is a client that reads nothing until it leaves.
type stalled struct {
	header http.Header
	done   <-chan struct{}
	begun  chan struct{}
	once   bool
}

func (s *stalled) Header() http.Header { return s.header }
func (s *stalled) WriteHeader(int)     {}
func (s *stalled) Flush()              {}
func (s *stalled) Write(p []byte) (int, error) {
	if !s.once {
		s.once = true
		close(s.begun)
	}
	<-s.done
	return len(p), nil
}

// Outside of an http.Server, too, a body that breaks off isn't taken for a complete one.
func TestBrokenBodyWithoutServer(t *testing.T) {
	b := open(t, raw(t, func(conn *tls.Conn, _ *http.Request, _ *bufio.Reader) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
	}))
	defer func() {
		if p := recover(); p != http.ErrAbortHandler { //nolint:errorlint // net/http compares it as well
			t.Errorf("recovered %v", p)
		}
	}()
	r := httptest.NewRequest(http.MethodGet, "/apis/g/v1/things", nil)
	b.ServeHTTP(httptest.NewRecorder(), r.WithContext(auth.WithUser(t.Context(), alice)))
	t.Error("the handler returned")
}

// dial opens a connection to the server in front and writes a request.
func dial(t *testing.T, s *httptest.Server, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err = io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

func upgradeTo(protocol string) string {
	return "POST /apis/g/v1/things/a/exec?command=sh HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\n" +
		"Upgrade: " + protocol + "\r\nContent-Length: 0\r\nX-Remote-User: root\r\n\r\n"
}

func TestUpgrade(t *testing.T) {
	for _, protocol := range []string{"SPDY/3.1", "websocket"} {
		t.Run(protocol, func(t *testing.T) {
			ended := make(chan error, 1)
			// The backend speaks HTTP/2, too, which has no upgrades.
			_, config := serveTLS(t, true, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Remote-User") != "alice" || len(r.Header["X-Remote-Group"]) != 2 ||
					r.Header.Get("Upgrade") != protocol || r.URL.RawQuery != "command=sh" {
					t.Errorf("the backend saw %s %v", r.RequestURI, r.Header)
				}
				conn, buffered, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+
					strings.ToLower(protocol)+"\r\nX-Stream-Protocol-Version: v4\r\n\r\nready\n")
				for {
					line, err := buffered.ReadString('\n')
					if err != nil {
						ended <- err
						return
					}
					_, _ = io.WriteString(conn, "echo "+line)
				}
			})
			conn, in := dial(t, front(t, open(t, config), alice), upgradeTo(protocol))
			response, err := http.ReadResponse(in, nil)
			if err != nil || response.StatusCode != http.StatusSwitchingProtocols ||
				response.Header.Get("X-Stream-Protocol-Version") != "v4" {
				t.Fatalf("%v, %v", response, err)
			}
			want := func(text string) {
				t.Helper()
				if line, err := in.ReadString('\n'); err != nil || line != text {
					t.Fatalf("%q, %v, want %q", line, err, text)
				}
			}
			want("ready\n")
			for _, line := range []string{"one\n", "two\n"} {
				_, _ = io.WriteString(conn, line)
				want("echo " + line)
			}
			conn.Close()
			receive(t, ended)
		})
	}
}

// An end of either side ends both, although the other side would go on.
func TestUpgradeEnds(t *testing.T) {
	t.Run("backend", func(t *testing.T) {
		s := front(t, open(t, raw(t, func(conn *tls.Conn, _ *http.Request, _ *bufio.Reader) {
			_, _ = io.WriteString(conn, switched+"bye")
		})), alice)
		_, in := dial(t, s, upgradeTo("x"))
		if _, err := http.ReadResponse(in, nil); err != nil {
			t.Fatal(err)
		}
		if rest, err := io.ReadAll(in); err != nil || string(rest) != "bye" {
			t.Errorf("%q, %v", rest, err)
		}
	})
	t.Run("client that closes its half", func(t *testing.T) {
		ended := make(chan error, 1)
		s := front(t, open(t, raw(t, func(conn *tls.Conn, _ *http.Request, in *bufio.Reader) {
			_, _ = io.WriteString(conn, switched)
			_, err := io.Copy(io.Discard, in)
			ended <- err
			_, _ = io.Copy(io.Discard, conn)
		})), alice)
		conn, in := dial(t, s, upgradeTo("x"))
		if _, err := http.ReadResponse(in, nil); err != nil {
			t.Fatal(err)
		}
		_ = conn.(*net.TCPConn).CloseWrite()
		if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
			t.Errorf("%q, %v", rest, err)
		}
		receive(t, ended)
	})
	t.Run("context", func(t *testing.T) {
		ended := make(chan error, 1)
		b := open(t, raw(t, func(conn *tls.Conn, _ *http.Request, in *bufio.Reader) {
			_, _ = io.WriteString(conn, switched)
			_, err := io.Copy(io.Discard, in)
			ended <- err
		}))
		cancels := make(chan context.CancelFunc, 1)
		s := front(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithCancel(r.Context())
			cancels <- cancel
			b.ServeHTTP(w, r.WithContext(ctx))
		}), alice)
		_, in := dial(t, s, upgradeTo("x"))
		if _, err := http.ReadResponse(in, nil); err != nil {
			t.Fatal(err)
		}
		receive(t, cancels)()
		if _, err := io.ReadAll(in); err != nil {
			t.Error(err)
		}
		receive(t, ended)
	})
}

// Whatever becomes of an upgrade that fails, the connection to the backend is closed.
func TestUpgradesThatFail(t *testing.T) {
	for name, test := range map[string]struct{ answer, want string }{
		"success":          {"HTTP/1.1 200 OK\r\n\r\n", "503 invalid upgrade response: status code 200\n"},
		"a redirect":       {"HTTP/1.1 302 F\r\nLocation: /\r\n\r\n", "503 invalid upgrade response: status code 302"},
		"an error":         {"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", "403 no"},
		"another protocol": {"HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: y\r\n\r\n", "503 the backend switched"},
		"no protocol":      {"HTTP/1.1 101 S\r\n\r\n", "503 the backend switched to"},
		"garbage":          {"garbage\r\n\r\n", "503 error trying to reach service: "},
	} {
		t.Run(name, func(t *testing.T) {
			closed := make(chan struct{})
			s := front(t, open(t, raw(t, func(conn *tls.Conn, _ *http.Request, in *bufio.Reader) {
				_, _ = io.WriteString(conn, test.answer)
				_, _ = io.Copy(io.Discard, in)
				close(closed)
			})), alice)
			_, in := dial(t, s, upgradeTo("x"))
			response, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			got := fmt.Sprintf("%d %s", response.StatusCode, body)
			if err != nil || !strings.HasPrefix(got, test.want) {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
			receive(t, closed)
		})
	}
	t.Run("a client that can't switch", func(t *testing.T) {
		closed := make(chan struct{})
		b := open(t, raw(t, func(conn *tls.Conn, _ *http.Request, in *bufio.Reader) {
			_, _ = io.WriteString(conn, switched)
			_, _ = io.Copy(io.Discard, in)
			close(closed)
		}))
		r := httptest.NewRequest(http.MethodGet, "/apis/g/v1/things", nil)
		r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"x"}}
		w := httptest.NewRecorder()
		if b.ServeHTTP(w, r.WithContext(auth.WithUser(t.Context(), alice))); w.Code != http.StatusServiceUnavailable {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		receive(t, closed)
	})
}
