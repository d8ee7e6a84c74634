package server

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// unread is a request whose answer the client doesn't read.
type unread struct {
	name, method, path, token, accept, body string
}

func (u *unread) text(host string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept: %s\r\nContent-Type: %s\r\n"+
		"Content-Length: %d\r\n\r\n%s", u.method, u.path, host, u.token, u.accept, "application/json", len(u.body),
		u.body)
}

func unreadRequests(base string) []unread {
	const table = "application/json;as=Table;g=meta.k8s.io;v=v1"
	widget := `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"new"},"spec":{"color":"` +
		strings.Repeat("x", 64<<10) + `"}}`
	all := []unread{
		{name: "document", path: "/openapi/v2", token: limitedToken},
		{name: "discovery", path: "/apis", token: limitedToken},
		{name: "index", path: "/"},
		{name: "version", path: "/version"},
		{name: "metrics", path: "/metrics"},
		{name: "health", path: "/livez?verbose"},
		{name: "object", path: base + "/large-0"},
		{name: "pretty object", path: base + "/large-0?pretty=true"},
		{name: "object in YAML", path: base + "/small", accept: "application/yaml"},
		{name: "list", path: base},
		{name: "list of one page", path: base + "?limit=1"},
		{name: "table", path: base, accept: table},
		{name: "write", method: "POST", path: base + "?dryRun=All", body: widget},
		{name: "refused write", method: "POST", path: base, body: `{"apiVersion":"v1","kind":"Other"}`},
		{name: "not found", path: base + "/absent"},
		{name: "no such path", path: "/absent"},
		{name: "forbidden", path: base, token: limitedToken},
		{name: "forbidden watch", path: base + "?watch=true", token: limitedToken},
		{name: "unauthorized", path: base, token: "wrong"},
		{name: "unauthorized watch", path: base + "?watch=true", token: "wrong"},
		{name: "refused watch", path: base + "?watch=true&resourceVersion=no"},
	}
	for i := range all {
		u := &all[i]
		u.method, u.token = cmp.Or(u.method, "GET"), cmp.Or(u.token, adminToken)
		u.accept = cmp.Or(u.accept, "application/json")
	}
	return all
}

// fill creates a small widget and some that are larger than what connections hold.
func (v *victim) fill(t *testing.T, large int) {
	t.Helper()
	for i := range large + 1 {
		name, size := fmt.Sprint("large-", i), 1<<20
		if i == large {
			name, size = "small", 100
		}
		body := `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"` + name +
			`"},"spec":{"color":"` + strings.Repeat("x", size) + `"}}`
		for { // until it exists: a request of this server has little time
			if code := v.do(t, "POST", v.base, body); code == http.StatusCreated || code == http.StatusConflict {
				break
			}
		}
	}
}

// closedWindow opens a connection of HTTP/2 that lets the server send no data.
func (v *victim) closedWindow(t *testing.T) *attacker {
	t.Helper()
	a, _ := v.attackFrames(t, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	return a
}

// ask sends a request on a stream.
func (a *attacker) ask(stream uint32, u *unread) error {
	err := a.askHead(stream, u)
	for rest := u.body; err == nil && rest != ""; {
		piece := rest[:min(len(rest), 16<<10)]
		rest = rest[len(piece):]
		err = a.WriteData(stream, rest == "", []byte(piece))
	}
	return err
}

func (a *attacker) askHead(stream uint32, u *unread) error {
	return a.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, EndHeaders: true, EndStream: u.body == "",
		BlockFragment: a.headOf(u.method, u.path, u.token, hpack.HeaderField{Name: "accept", Value: u.accept},
			hpack.HeaderField{Name: "content-type", Value: "application/json"}),
	})
}

// awaitReset reads frames until the server has reset a number of streams. A GOAWAY alone ends none of them.
func (a *attacker) awaitReset(streams int) error {
	for streams > 0 {
		frame, err := a.ReadFrame()
		if err != nil {
			return err
		}
		if _, ok := frame.(*http2.RSTStreamFrame); ok {
			streams--
		}
	}
	return nil
}

// TestUnreadAnswersEnd: whatever a client asks for, the server doesn't hold the answer for it for ever.
func TestUnreadAnswersEnd(t *testing.T) {
	t.Parallel()
	s, victim := newVictim(t, Config{Limits: Limits{RequestTimeout: 2 * time.Second}})
	s.http.IdleTimeout = time.Second // which ends connections between two requests
	closed := new(closings)
	s.http.ConnState = closed.note
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	victim.fill(t, 3)
	var asking sync.WaitGroup
	for _, u := range unreadRequests(victim.base) {
		a, connection := victim.closedWindow(t), victim.dialUnread(t)
		asking.Go(func() {
			if err := errors.Join(a.ask(1, &u), a.awaitReset(1)); err != nil {
				t.Errorf("%s: the server held a stream: %v", u.name, err)
			}
		})
		asking.Go(func() {
			defer connection.Close()
			select {
			case <-closed.of(connection.LocalAddr()):
			case <-time.After(time.Minute):
				t.Errorf("%s: the server held a connection", u.name)
			}
		})
		asking.Go(func() { askAgain(connection, u.text(victim.host)) })
	}
	asking.Wait()
	stop()
	if err := <-ended; err != nil {
		t.Errorf("requests are still served: %v", err)
	}
	awaitNoHandlers(t)
}

// askAgain sends a request again and again and reads nothing, until the connection is closed.
func askAgain(w io.Writer, request string) {
	for {
		if _, err := io.WriteString(w, request); err != nil {
			return
		}
	}
}

// closings tells when a server has closed its end of a connection, by the address of the other end: a client whose
// buffers are full may not see it.
type closings struct{ byAddress sync.Map }

func (c *closings) of(client net.Addr) chan struct{} {
	closed, _ := c.byAddress.LoadOrStore(client.String(), make(chan struct{}))
	return closed.(chan struct{})
}

func (c *closings) note(connection net.Conn, state http.ConnState) {
	if state == http.StateClosed {
		close(c.of(connection.RemoteAddr()))
	}
}

// dialUnread opens a connection of HTTP/1.1 that holds little of what the server sends.
func (v *victim) dialUnread(t *testing.T) net.Conn {
	t.Helper()
	below, err := net.Dial("tcp", v.host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { below.Close() })
	if err := below.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	connection := tls.Client(below, v.tls)
	if err := connection.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return connection
}

// awaitNoHandlers waits until no goroutine runs or finishes a handler of net/http.
func awaitNoHandlers(t *testing.T) {
	t.Helper()
	for {
		var stacks strings.Builder
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(stacks.String(), "http2serverConn).runHandler") &&
			!strings.Contains(stacks.String(), "net/http.serverHandler") {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(stacks.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestWatchAfterGet: a connection that is kept alive has the deadline of each of its requests, and no other.
func TestWatchAfterGet(t *testing.T) {
	t.Parallel()
	victim, _ := startDelayed(t, Config{Limits: Limits{RequestTimeout: 2 * time.Second}})
	connection := victim.dialUnread(t)
	reader := bufio.NewReader(connection)
	ask := func(path string) *http.Response {
		u := &unread{method: "GET", path: path, token: adminToken, accept: "application/json"}
		if _, err := io.WriteString(connection, u.text(victim.host)); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatal(response, err)
		}
		return response
	}
	for range 2 {
		first := ask(victim.base)
		if _, err := io.Copy(io.Discard, first.Body); err != nil {
			t.Fatal(err)
		}
	}
	events := bufio.NewReader(ask(victim.base + "?watch=true").Body)
	victim.awaitDeadline(t)
	for _, name := range []string{"a", "b"} {
		code := victim.do(t, "POST", victim.base,
			`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"`+name+`"}}`)
		if code != http.StatusCreated {
			t.Fatal(code)
		}
		if line, err := events.ReadString('\n'); err != nil || !strings.Contains(line, `"name":"`+name+`"`) {
			t.Fatalf("%q %v", line, err)
		}
	}
}

// awaitDeadline returns when the deadline of a request that begins now has passed.
func (v *victim) awaitDeadline(t *testing.T) {
	t.Helper()
	a := v.closedWindow(t)
	u := &unread{method: "GET", path: "/version", token: adminToken, accept: "application/json"}
	if err := errors.Join(a.ask(1, u), a.awaitReset(1)); err != nil {
		t.Fatal(err)
	}
}

// TestUnauthorizedEndsConnection: a client without credentials can't keep a connection of HTTP/2.
func TestUnauthorizedEndsConnection(t *testing.T) {
	victim := startVictim(t)
	a, _ := victim.attackFrames(t)
	err := a.ask(1, &unread{method: "GET", path: "/apis", token: "wrong", accept: "application/json"})
	if err != nil {
		t.Fatal(err)
	}
	goAway := false
	for {
		frame, err := a.ReadFrame()
		if err != nil {
			if !goAway || !errors.Is(err, io.EOF) {
				t.Errorf("the connection ended with %v, GOAWAY: %v", err, goAway)
			}
			return
		}
		if _, ok := frame.(*http2.GoAwayFrame); ok {
			goAway = true
		}
	}
}

// TestUnreadAnswersHoldNoBodies: a client that doesn't read the answers to its large writes leaves the room for large
// bodies to others at once.
func TestUnreadAnswersHoldNoBodies(t *testing.T) {
	t.Parallel()
	victim, _ := startDelayed(t, Config{
		Contribution: Contribution{Authorizer: auth.Always(auth.Allow)}, Limits: Limits{RequestTimeout: time.Hour},
	})
	large := func(name string) string {
		return `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"` + name +
			`"},"spec":{"color":"` + strings.Repeat("x", 1400<<10) + `"}}`
	}
	a := victim.closedWindow(t)
	a.ReadMetaHeaders = hpack.NewDecoder(4<<10, nil)
	const streams = 8 // of which the room for large bodies holds six
	for i := range uint32(streams) {
		err := a.askSlowly(2*i+1, &unread{
			method: "POST", path: victim.base + "?dryRun=All", token: limitedToken, accept: "application/json",
			body: large("a"),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	code := victim.requestAs(t.Context(), t, otherToken, "POST", victim.base, large("b"))
	if code != http.StatusCreated {
		t.Errorf("another user's large write: %d", code)
	}
}

// askSlowly sends a request with a body that is larger than what the server lets a client send at once, and reads the
// frames up to the head of the answer.
func (a *attacker) askSlowly(stream uint32, u *unread) error {
	rest := u.body
	if err := a.askHead(stream, u); err != nil {
		return err
	}
	window := 64 << 10 // the window before any update
	for {
		for rest != "" && window > 0 {
			piece := rest[:min(len(rest), window, 16<<10)]
			rest, window = rest[len(piece):], window-len(piece)
			if err := a.WriteData(stream, rest == "", []byte(piece)); err != nil {
				return err
			}
		}
		frame, err := a.ReadFrame()
		if err != nil {
			return err
		}
		switch f := frame.(type) {
		case *http2.WindowUpdateFrame:
			if f.StreamID == stream {
				window += int(f.Increment)
			}
		case *http2.MetaHeadersFrame:
			if code := f.PseudoValue("status"); code != "201" {
				return fmt.Errorf("the server answered %s", code)
			}
			return nil
		}
	}
}
