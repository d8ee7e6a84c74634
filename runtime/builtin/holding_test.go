package builtin_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/apiregistration"
	"apigen.dev/runtime/server"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Tokens of two users of the same priority level.
const (
	holdingToken = "holding-token"
	busyToken    = "busy-token"
)

// startCrowded starts a server before a peer, for two users who may do everything, and whom priority and fairness
// treats like any user. It has places for reads, and for writes; 0 is the default. No request is refused because it has
// waited in a queue.
func startCrowded(t *testing.T, p *peer, places int) *apitest.Server {
	t.Helper()
	return startFeatures(t, func(c *server.Config) {
		tokens := new(auth.Tokens)
		tokens.Add(holdingToken, &auth.User{Name: "holding"})
		tokens.Add(busyToken, &auth.User{Name: "busy"})
		c.Authentication.Tokens = append(c.Authentication.Tokens, tokens)
		c.MaxReads, c.MaxWrites = places, places
		c.Authorizer, c.RequestTimeout = auth.Always(auth.Allow), time.Hour
		c.Services = func(context.Context, string, string, int32) (string, error) {
			return p.Listener.Addr().String(), nil
		}
	}, &apiregistration.Feature{})
}

// users are clients of a server who say with each request who they are.
type users struct {
	*apitest.Server
	t        *testing.T
	tls      *tls.Config
	client   *http.Client
	upgrades bool // asks for a WebSocket, over HTTP/1.1
}

func usersOf(t *testing.T, s *apitest.Server) *users {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CA)
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	transport := &http.Transport{TLSClientConfig: config.Clone(), ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &users{Server: s, t: t, tls: config, client: &http.Client{Transport: transport}}
}

// upgrading returns users whose requests ask for WebSockets.
func (u *users) upgrading() *users {
	transport := &http.Transport{TLSClientConfig: u.tls.Clone()}
	u.t.Cleanup(transport.CloseIdleConnections)
	return &users{Server: u.Server, t: u.t, tls: u.tls, client: &http.Client{Transport: transport}, upgrades: true}
}

// code sends a request of a user, and returns the code of the answer, or 0 if ctx ended first.
func (u *users) code(ctx context.Context, token, method, path, body string) int {
	return u.send(ctx, token, method, path, "application/json", body)
}

// send is code for a body of any type.
func (u *users) send(ctx context.Context, token, method, path, contentType, body string) int {
	r, err := http.NewRequestWithContext(ctx, method, u.URL+path, strings.NewReader(body))
	if err != nil {
		u.t.Error(err)
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", contentType)
	if u.upgrades {
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
	}
	response, err := u.client.Do(r)
	if err != nil {
		if ctx.Err() == nil {
			u.t.Error(err)
		}
		return 0
	}
	defer response.Body.Close()
	defer context.AfterFunc(ctx, func() { response.Body.Close() })() // net/http leaves an upgraded connection open
	_, _ = io.Copy(io.Discard, response.Body)                        // it may break off where ctx ends
	return response.StatusCode
}

// busyIsServed wants the requests of a user to be answered.
func (u *users) busyIsServed(while string) {
	u.t.Helper()
	for range 20 {
		for _, path := range []string{"/api/v1/namespaces/default", "/apis", "/api/v1/namespaces"} {
			if code := u.code(u.t.Context(), busyToken, http.MethodGet, path, ""); code != http.StatusOK {
				u.t.Fatalf("%s: another user's GET %s: %d", while, path, code)
			}
		}
	}
}

// TestUnreadAnswersHoldNoSeats: where priority and fairness bounds requests, 300 answers that a user doesn't read leave
// the seats of their level to others.
func TestUnreadAnswersHoldNoSeats(t *testing.T) {
	for _, row := range []struct{ way, method, path, body, code string }{
		{"document", http.MethodGet, "/openapi/v2", "", "200"},
		{"review", http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			`{"spec":{"resourceAttributes":{"verb":"get","resource":"secrets"}}}`, "201"},
		{"answer of another server", http.MethodGet, "/apis/shop.example.com/v1/widgets", "", "200"},
	} {
		t.Run(row.way, func(t *testing.T) {
			p := startPeer(t)
			front := startCrowded(t, p, 20)
			until(t, front, http.MethodPost, services, registration("widgets", true, nil), http.StatusCreated)
			available(t, front, "True", "Passed")
			u := usersOf(t, front)
			const connections, streams = 3, 100
			for range connections {
				codes := u.unread(streams, row.method, row.path, row.body)
				if codes[row.code] != streams {
					t.Errorf("the user who doesn't read is answered %v", codes)
				}
			}
			u.busyIsServed("unread answers")
		})
	}
}

// unread sends requests of a user who lets the server send nothing but the heads of answers, and returns how many
// answers have which code.
func (u *users) unread(streams int, method, path, body string) map[string]int {
	u.t.Helper()
	config := u.tls.Clone()
	config.NextProtos = []string{"h2"}
	host := strings.TrimPrefix(u.URL, "https://")
	connection, err := tls.Dial("tcp", host, config)
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { connection.Close() })
	if _, err := io.WriteString(connection, http2.ClientPreface); err != nil {
		u.t.Fatal(err)
	}
	framer := http2.NewFramer(connection, connection)
	framer.ReadMetaHeaders = hpack.NewDecoder(4<<10, nil)
	if err := framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		u.t.Fatal(err)
	}
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	encoder.SetMaxDynamicTableSizeLimit(0) // each head stands for itself
	for _, field := range [][2]string{
		{":method", method}, {":scheme", "https"}, {":authority", host}, {":path", path},
		{"authorization", "Bearer " + holdingToken}, {"content-type", "application/json"},
	} {
		if err := encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			u.t.Fatal(err)
		}
	}
	for i := range streams {
		err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), EndHeaders: true,
			EndStream: body == "", BlockFragment: head.Bytes()})
		if err == nil && body != "" {
			err = framer.WriteData(uint32(2*i+1), true, []byte(body))
		}
		if err != nil {
			u.t.Fatal(err)
		}
	}
	codes := map[string]int{}
	for answered := 0; answered < streams; {
		frame, err := framer.ReadFrame()
		if err != nil {
			u.t.Fatal(err)
		}
		if head, ok := frame.(*http2.MetaHeadersFrame); ok {
			codes[head.PseudoValue("status")]++
			answered++
		}
	}
	return codes
}

// hanging counts the requests that a peer has, and answers none before their clients leave.
type hanging struct {
	mu   sync.Mutex // guards the fields below
	now  int        // requests
	most int
}

func (h *hanging) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.add(1)
	defer h.add(-1)
	<-r.Context().Done()
	http.Error(w, "nothing", http.StatusTeapot)
}

// upgrade accepts an upgrade, and says nothing after that.
func (h *hanging) upgrade(w http.ResponseWriter, _ *http.Request) {
	h.add(1)
	defer h.add(-1)
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer connection.Close()
	_, _ = io.WriteString(connection,
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	_, _ = io.Copy(io.Discard, connection)
}

func (h *hanging) add(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now += n
	h.most = max(h.most, h.now)
}

func (h *hanging) requests() (now, most int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now, h.most
}

// TestHangingPeers: 300 requests of one user, which wait for a server that hangs, leave room for another user's. When
// the clients leave, the other server has none of their requests any more.
func TestHangingPeers(t *testing.T) {
	behind := func(t *testing.T, s *apitest.Server, _ *peer) {
		t.Helper()
		until(t, s, http.MethodPost, services, registration("hanging", true, nil), http.StatusCreated)
		available(t, s, "True", "Passed")
	}
	hooked := func(t *testing.T, s *apitest.Server, p *peer) {
		t.Helper()
		p.turn(another, func(string) bool { return true })
		registerWebhooks(t, s, p.URL+"/review", p.ca())
	}
	for _, row := range []struct {
		way, method, path, body string
		register                func(*testing.T, *apitest.Server, *peer)
		places                  int
		least                   int // how many requests hang at least
		upgrades, accepts       bool
	}{
		{way: "read", method: "GET", path: "/apis/shop.example.com/v1/widgets", register: behind, least: 10},
		{way: "watch", method: "GET", path: "/apis/shop.example.com/v1/widgets?watch=true", register: behind,
			places: 20, least: 300},
		{way: "upgrade", method: "GET", path: "/apis/shop.example.com/v1/widgets", register: behind, least: 10,
			upgrades: true},
		{way: "accepted upgrade", method: "GET", path: "/apis/shop.example.com/v1/widgets", register: behind,
			places: 20, least: 300, upgrades: true, accepts: true},
		{way: "dry run", method: "POST", path: "/api/v1/namespaces/default/configmaps?dryRun=All",
			body: `{"metadata":{"name":"x"}}`, register: hooked, least: 10},
		{way: "conversion of lists", method: "GET", path: "/apis/shop.example.com/v2/cables", register: hooked,
			least: 10},
		{way: "conversion of an object", method: "GET", path: "/apis/shop.example.com/v2/cables/c", register: hooked,
			least: 1},
	} {
		t.Run(row.way, func(t *testing.T) {
			t.Parallel() // another user may have to wait until the level borrows seats
			p, h := startPeer(t), &hanging{}
			front := startCrowded(t, p, row.places)
			row.register(t, front, p)
			u, others := usersOf(t, front), usersOf(t, front) // which have connections of their own
			how := h.ServeHTTP
			if row.upgrades {
				u = u.upgrading()
			}
			if row.accepts {
				how = h.upgrade
			}
			p.turn(how, func(path string) bool {
				return path == "/review" || strings.HasSuffix(path, "/widgets")
			})
			ctx, leave := context.WithCancel(t.Context())
			var holders sync.WaitGroup
			for range 300 {
				holders.Go(func() { u.code(ctx, holdingToken, row.method, row.path, row.body) })
			}
			untilTrue(t, "the requests", func() bool {
				_, most := h.requests()
				return most >= row.least
			})
			others.busyIsServed("during")
			_, most := h.requests()
			t.Logf("%d requests hung at once", most)
			leave()
			holders.Wait()
			untilTrue(t, "the end of the requests", func() bool {
				now, _ := h.requests()
				return now == 0
			})
			others.busyIsServed("after")
		})
	}
}

// conversions are calls of a conversion webhook that hangs, in their order.
type conversions struct {
	mu    sync.Mutex // guards calls
	calls []context.Context
}

func (c *conversions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Has("timeout") {
		http.Error(w, "admission", http.StatusTeapot)
		return
	}
	c.mu.Lock()
	c.calls = append(c.calls, r.Context())
	c.mu.Unlock()
	<-r.Context().Done()
}

// ended returns of each call whether it has ended.
func (c *conversions) ended() (ended []bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.calls {
		ended = append(ended, call.Err() != nil)
	}
	return ended
}

// TestConversionsEndWithTheirReaders: where a conversion webhook hangs, a request that a client leaves gives its seat
// back, and the webhook sees the end of the call, before the time of any call has passed: an older one of another
// client still waits then.
func TestConversionsEndWithTheirReaders(t *testing.T) {
	for way, path := range map[string]string{"list": "", "object": "/left"} {
		t.Run(way, func(t *testing.T) {
			p, hook := startPeer(t), &conversions{}
			front := startCrowded(t, p, 0)
			p.turn(another, func(string) bool { return true })
			registerWebhooks(t, front, p.URL+"/review", p.ca())
			until(t, front, http.MethodPost, "/apis/shop.example.com/v1/cables",
				`{"apiVersion":"shop.example.com/v1","kind":"Cable","metadata":{"name":"left"}}`, http.StatusCreated)
			p.turn(hook.ServeHTTP, func(path string) bool { return path == "/review" })
			u := usersOf(t, front)
			untilTrue(t, "the levels of ordinary users", func() bool {
				u.code(t.Context(), busyToken, http.MethodGet, "/apis/shop.example.com", "")
				_, found := executing(t, front)
				return found
			})
			var clients sync.WaitGroup
			begin := func(token, path string, calls int) context.CancelFunc {
				ctx, leave := context.WithCancel(t.Context())
				clients.Go(func() { u.code(ctx, token, http.MethodGet, "/apis/shop.example.com/v2/cables"+path, "") })
				untilTrue(t, "a call", func() bool { return len(hook.ended()) == calls })
				return leave
			}
			leaveLater := begin(busyToken, "/c", 1)
			leave := begin(holdingToken, path, 2)
			if n, _ := executing(t, front); n != 2 {
				t.Errorf("%d requests have seats", n)
			}
			leave()
			untilTrue(t, "the end of the second call", func() bool { return hook.ended()[1] })
			untilTrue(t, "the end of the second request", func() bool {
				n, _ := executing(t, front)
				return n < 2
			})
			if hook.ended()[0] {
				t.Error("the older call has ended, too")
			}
			leaveLater()
			clients.Wait()
		})
	}
}

// executing returns how many requests of ordinary users a server works on, and whether it has a level for them yet.
func executing(t *testing.T, s *apitest.Server) (n int, found bool) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := s.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	const metric = "\napiserver_flowcontrol_current_executing_requests{" +
		`flow_schema="global-default",priority_level="global-default"} `
	_, value, found := strings.Cut(string(text), metric)
	if !found {
		return 0, false
	}
	value, _, _ = strings.Cut(value, "\n")
	if n, err = strconv.Atoi(value); err != nil {
		t.Fatalf("the metric of executing requests is %q", value)
	}
	return n, true
}
