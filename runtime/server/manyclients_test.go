package server

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/testbed"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	"golang.org/x/net/http2"
)

// crowd is a server in a bubble of testing/synctest, and clients that hold something of it. It serves connections
// inside the process, without TLS: nothing but a timer makes anybody wait.
type crowd struct {
	*Server
	t       *testing.T
	pipes   *testbed.Pipes
	backend storage.Backend
	other   *http.Client
	ended   chan error
	clients []net.Conn
	open    atomic.Int64 // connections that the server hasn't closed
}

// counted is a listener that counts the connections of a crowd, those of WebSockets, too.
type counted struct {
	*testbed.Pipes
	crowd *crowd
}

// Accept implements net.Listener.
func (l counted) Accept() (net.Conn, error) {
	connection, err := l.Pipes.Accept()
	if err != nil {
		return nil, err
	}
	l.crowd.open.Add(1)
	return &countedConn{Conn: connection, close: sync.OnceFunc(func() { l.crowd.open.Add(-1) })}, nil
}

type countedConn struct {
	net.Conn
	close func()
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	c.close()
	return c.Conn.Close()
}

func startCrowd(t *testing.T, config Config) *crowd {
	t.Helper()
	c := &crowd{t: t, pipes: testbed.NewPipes(), backend: memory.New(), ended: make(chan error, 1)}
	tokens := new(auth.Tokens)
	for token, user := range map[string]string{
		limitedToken: "limited", adminToken: "another", otherToken: "other", hangingToken: hanging,
	} {
		tokens.Add(token, &auth.User{Name: user, Groups: []string{"dev"}})
	}
	config.Groups, config.Backend, config.Listener = []registry.Group{widgets()}, c.backend, c.pipes
	config.Authentication = auth.Authentication{Tokens: []auth.TokenAuthenticator{hangingReview{}, tokens}}
	config.Authorizer, config.Log = hangingReview{}, slog.New(slog.DiscardHandler)
	config.Admission = []admission.Plugin{{Name: "Hanging", Validate: hangingAdmission}}
	var err error
	if c.Server, err = New(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	c.http.Protocols = new(http.Protocols)
	c.http.Protocols.SetHTTP1(true)
	c.http.Protocols.SetUnencryptedHTTP2(true)
	go func() { c.ended <- c.http.Serve(counted{c.pipes, c}) }()
	c.other = &http.Client{Transport: &http.Transport{DialContext: c.pipes.Dial}}
	return c
}

func (c *crowd) stop() {
	c.leave()
	c.other.CloseIdleConnections()
	_ = c.http.Close()
	<-c.ended
	if err := c.close(); err != nil {
		c.t.Error(err)
	}
	if err := c.backend.Close(); err != nil {
		c.t.Error(err)
	}
}

// hanging is the name of a user about whom the authorizer, and of a widget about which admission, thinks for as long as
// the request lasts.
const hanging = "hanging"

// The tokens of that user, and one about which the authenticator thinks for as long.
const (
	hangingToken  = "hanging-token"
	judgedForLong = "judged-for-long"
)

// hangingReview allows everything, or hangs.
type hangingReview struct{}

// AuthenticateToken implements auth.TokenAuthenticator.
func (hangingReview) AuthenticateToken(ctx context.Context, token string, _ []string) (*auth.Identity, error) {
	if token != judgedForLong {
		return nil, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// Authorize implements auth.Authorizer.
func (hangingReview) Authorize(ctx context.Context, a auth.Attributes) (auth.Decision, string, error) {
	if a.User.Name != hanging {
		return auth.Allow, "", nil
	}
	<-ctx.Done()
	return auth.NoOpinion, "", ctx.Err()
}

func hangingAdmission(ctx context.Context, a *admission.Attributes) error {
	if a.Name != hanging {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

// dial returns a client's end of a connection.
func (c *crowd) dial() net.Conn {
	client, err := c.pipes.Dial(c.t.Context(), "", "")
	if err != nil {
		c.t.Fatal(err)
	}
	c.clients = append(c.clients, client)
	return client
}

// leave closes the connections of all clients that hold something, and waits until the server has noticed.
func (c *crowd) leave() {
	for _, client := range c.clients {
		client.Close()
	}
	c.clients = nil
	synctest.Wait()
}

// as sends a request of another user, or of one who fills the server, and returns the code of the answer.
func (c *crowd) as(token, method, path, body string) int {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, "http://server"+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := c.other.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	if !strings.Contains(path, "watch=true") { // the head of a watch is its beginning
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			c.t.Error(err)
		}
	}
	return response.StatusCode
}

// fill creates widgets: a small one, and some of a megabyte.
func (c *crowd) fill(large int) {
	c.t.Helper()
	bodies := []string{widgetOf("small", 10)}
	for i := range large {
		bodies = append(bodies, widgetOf(fmt.Sprint("large-", i), 1<<20))
	}
	for _, body := range bodies {
		if code := c.as(otherToken, "POST", widgetsPath, body); code != http.StatusCreated {
			c.t.Fatal(code)
		}
	}
}

// turnsWait is how long large answers of a user may wait, all in all, beside clients who don't read: 6 ms until the
// server takes those who have turns for slow, and then 2 ms each time that it gives twice as many turns.
const turnsWait = 30 * time.Millisecond

// othersAreServed wants the requests of another user to be answered while no time passes, but for the turns of a large
// answer.
func (c *crowd) othersAreServed() {
	c.t.Helper()
	began := time.Now()
	for range 20 {
		for _, r := range []struct {
			method, path, body string
			want               int
		}{
			{"GET", "/apis", "", http.StatusOK},
			{"GET", widgetsPath + "/small", "", http.StatusOK},
			{"GET", widgetsPath + "?limit=1", "", http.StatusOK},
			{"POST", widgetsPath, widgetOf("other", 10), http.StatusCreated},
			{"DELETE", widgetsPath + "/other", "", http.StatusOK},
			{"GET", widgetsPath + "?watch=true&timeoutSeconds=60", "", http.StatusOK},
		} {
			if code := c.as(otherToken, r.method, r.path, r.body); code != r.want {
				c.t.Errorf("another user's %s %s: %d", r.method, r.path, code)
			}
		}
	}
	large := widgetOf("large", 256<<10)
	if code := c.as(otherToken, "POST", widgetsPath+"?dryRun=All", large); code != http.StatusCreated {
		c.t.Errorf("another user's large write: %d", code)
	}
	if waited := time.Since(began); waited > turnsWait {
		c.t.Errorf("another user waited %s", waited)
	}
	c.other.CloseIdleConnections()
	synctest.Wait()
}

// goroutines returns the stacks of those in the bubble.
func (c *crowd) goroutines() []string {
	stacks := make([]byte, 64<<20)
	var in []string
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if head, _, _ := strings.Cut(stack, "\n"); strings.Contains(head, "synctest bubble") {
			in = append(in, stack)
		}
	}
	return in
}

// working returns the stacks of those that run handlers, or send what handlers wrote.
func (c *crowd) working() []string {
	var in []string
	for _, stack := range c.goroutines() {
		for _, function := range []string{"runHandler", "serverHandler", "finishRequest"} {
			if strings.Contains(stack, function) {
				in = append(in, stack)
				break
			}
		}
	}
	return in
}

// The ways to begin to hold something. Each of them is a function of a connection, which it may read and write until
// the connection is closed.

func sendText(text string) func(*crowd, net.Conn, *unread) {
	return func(_ *crowd, client net.Conn, _ *unread) { _, _ = io.WriteString(client, text) }
}

// frames begins to speak HTTP/2, and lets the server send so many bytes of each answer. What the server sends is read.
func (c *crowd) frames(client net.Conn, window uint32) *attacker {
	go func() { _, _ = io.Copy(io.Discard, client) }()
	_, _ = io.WriteString(client, http2.ClientPreface)
	a := &attacker{c.t, http2.NewFramer(client, nil), "server"}
	_ = a.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	return a
}

func (c *crowd) openFrames(client net.Conn, _ *unread) { c.frames(client, 1<<16) }

func (c *crowd) halfHeaders(client net.Conn, u *unread) {
	a := c.frames(client, 1<<16)
	_ = a.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: a.headOf(u.method, u.path, u.token)})
}

// ask sends a request on a stream whose window is closed.
func (c *crowd) ask(client net.Conn, u *unread) { _ = c.frames(client, 0).ask(1, u) }

// follow sends a request on a stream whose answer is read.
func (c *crowd) follow(client net.Conn, u *unread) { _ = c.frames(client, 1<<16).ask(1, u) }

func (c *crowd) halfBodyOfStream(client net.Conn, u *unread) {
	a := c.frames(client, 1<<16)
	_ = a.askHead(1, u)
	_ = a.WriteData(1, false, []byte(u.body[:1]))
}

// readSlowly takes a kilobyte of the answer each second.
func (c *crowd) readSlowly(client net.Conn, u *unread) {
	a := c.frames(client, 0)
	err := a.ask(1, u)
	for ; err == nil; time.Sleep(time.Second) {
		if err = a.WriteWindowUpdate(1, 1000); err == nil {
			err = a.WriteWindowUpdate(0, 1000)
		}
	}
}

func (c *crowd) halfBody(client net.Conn, u *unread) {
	text := u.text("server")
	_, _ = io.WriteString(client, text[:len(text)-len(u.body)+1])
	_, _ = io.Copy(io.Discard, client)
}

// mostOfBody sends all of a body but its last byte.
func (c *crowd) mostOfBody(client net.Conn, u *unread) {
	go func() { _, _ = io.Copy(io.Discard, client) }()
	text := u.text("server")
	_, _ = io.WriteString(client, text[:len(text)-1])
}

func (c *crowd) expect(client net.Conn, u *unread) {
	head, _, _ := strings.Cut(u.text("server"), "\r\n\r\n")
	_, _ = io.WriteString(client, head+"\r\nExpect: 100-continue\r\n\r\n")
	_, _ = io.Copy(io.Discard, client)
}

// readOne reads an answer, and keeps the connection.
func (c *crowd) readOne(client net.Conn, u *unread) {
	go func() { _, _ = io.WriteString(client, u.text("server")) }()
	_, _ = io.Copy(io.Discard, client)
}

// pipeline sends requests one after the other, and reads nothing.
func (c *crowd) pipeline(client net.Conn, u *unread) { askAgain(client, u.text("server")) }

// upgrade opens a WebSocket, and reads nothing of it.
func (c *crowd) upgrade(client net.Conn, u *unread) {
	head, _, _ := strings.Cut(u.text("server"), "\r\n\r\n")
	_, _ = io.WriteString(client, head+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nOrigin: http://server\r\n\r\n")
	_, _ = http.ReadResponse(bufio.NewReader(client), nil)
}

// change makes events for watches.
func (c *crowd) change() {
	if code := c.as(otherToken, "POST", widgetsPath, widgetOf("event", 64<<10)); code != http.StatusCreated {
		c.t.Error(code)
	}
	if code := c.as(otherToken, "DELETE", widgetsPath+"/event", ""); code != http.StatusOK {
		c.t.Error(code)
	}
	synctest.Wait()
}

func widgetOf(name string, size int) string {
	return `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"` + name + `"},"spec":{"color":"` +
		strings.Repeat("x", size) + `"}}`
}

// requestOf returns a request of HTTP/1.1 or HTTP/2 with what most requests have.
func requestOf(u unread, token string) *unread {
	u.method, u.token = cmp.Or(u.method, "GET"), token
	u.accept = cmp.Or(u.accept, "application/json")
	return &u
}
