package server

import (
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/http/filter"
)

// holders is how many clients of a user hold something at once.
const holders = 300

const widgetsPath = "/apis/shop.example.com/v1/namespaces/default/widgets"

// The bounds of a server whose flags have their defaults.
const (
	headerBound  = 32 * time.Second
	requestBound = time.Minute
	answerBound  = requestBound + answerTime
	idleBound    = 92 * time.Second // with the time between the last frame of HTTP/2 and the end of its connection
	watchBound   = time.Hour
)

// holding is a way to hold something of the server without working.
type holding struct {
	way string
	// hold begins to hold, over a connection of its own.
	hold    func(c *crowd, client net.Conn, u *unread)
	request unread
	// tokens are those of the users who hold. Two leave no place to others, unless they hold none.
	tokens []string
	// large is how many large widgets there are.
	large int
	// begun, if it isn't nil, is called when all clients hold.
	begun func(c *crowd)
	// working is how many handlers work, or wait for their clients to read.
	working int
	// bound is when the server has ended what clients hold, and closes reports whether it has closed their connections.
	bound  time.Duration
	closes bool
	// lingers is how long the server may take to notice that clients have left whose bodies it doesn't read.
	lingers time.Duration
}

// TestHolding: whatever many clients hold at once without working, requests of another user are answered without
// waiting. When the bound of what they hold has passed, or when they leave, the server holds nothing of theirs.
func TestHolding(t *testing.T) {
	for _, row := range append(holdings(), unreadHoldings()...) {
		t.Run(row.way, func(t *testing.T) {
			synctest.Test(t, row.test)
		})
	}
}

// TestUnreadAnswersGiveTheirPlacesBack: a user has as many unread answers as there are places, and leaves all places to
// others. After the deadline the user has none.
func TestUnreadAnswersGiveTheirPlacesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused atomic.Int64
		c := startCrowd(t, Config{
			Limits: Limits{MaxReads: 4},
			Contribution: Contribution{Observers: []func(filter.Observation){func(o filter.Observation) {
				if o.Code == http.StatusTooManyRequests {
					refused.Add(1)
				}
			}}},
		})
		defer c.stop()
		c.fill(1)
		for range 2 {
			u := requestOf(unread{path: widgetsPath + "/large-0"}, limitedToken)
			for range 2 * 4 {
				c.ask(c.dial(), u)
				synctest.Wait()
			}
			if n := refused.Swap(0); n != 4 {
				t.Errorf("%d of 8 requests are refused with 4 places", n)
			}
			c.othersAreServed()
			time.Sleep(2 * requestBound)
			if code := c.as(limitedToken, "GET", widgetsPath+"/small", ""); code != http.StatusOK {
				t.Errorf("after the deadline, the user is answered %d", code)
			}
			synctest.Wait()
		}
	})
}

func (row *holding) test(t *testing.T) {
	c := startCrowd(t, Config{})
	defer c.stop()
	c.fill(row.large)
	c.othersAreServed()
	before := len(c.goroutines())
	for _, waits := range []bool{true, false} { // what one round keeps, the next one misses
		row.begin(c)
		if n := len(c.working()); n != row.working {
			t.Errorf("%d handlers are held, want %d", n, row.working)
		}
		c.othersAreServed()
		if waits {
			row.awaitBound(c)
		}
		c.leave()
		time.Sleep(row.lingers)
		synctest.Wait()
		if left := c.working(); len(left) > 0 {
			t.Errorf("%d handlers run after their clients have left, such as\n%s", len(left), left[0])
		}
		time.Sleep(2 * time.Second) // connections of HTTP/2 end a second after their last frame
		synctest.Wait()
		if after := c.goroutines(); len(after) != before {
			t.Fatalf("%d goroutines before, %d after clients have left, such as\n%s", before, len(after),
				after[len(after)-1])
		}
	}
}

// begin returns when all clients hold what they can.
func (row *holding) begin(c *crowd) {
	for _, token := range row.tokens {
		u := requestOf(row.request, token)
		for range holders {
			client := c.dial()
			go row.hold(c, client, u)
		}
	}
	synctest.Wait()
	if row.begun != nil {
		row.begun(c)
	}
}

func (row *holding) awaitBound(c *crowd) {
	time.Sleep(row.bound)
	synctest.Wait()
	if left := c.working(); len(left) > 0 {
		c.t.Errorf("%d handlers run after %s, such as\n%s", len(left), row.bound, left[0])
	}
	if n := c.open.Load(); row.closes && n > 0 {
		c.t.Errorf("%d connections are open after %s", n, row.bound)
	}
}

// holdings are the ways other than answers that aren't read.
func holdings() []holding {
	one, two := []string{limitedToken}, []string{limitedToken, adminToken}
	version := unread{path: "/version"}
	write := unread{method: "POST", path: widgetsPath + "?dryRun=All", body: widgetOf("new", 10)}
	largeWrite := write
	largeWrite.body = widgetOf("new", 200<<10) // which counts as large
	hangs := write
	hangs.body = widgetOf(hanging, 10)
	watch := unread{path: widgetsPath + "?watch=true"}
	short := unread{path: watch.path + "&timeoutSeconds=5"}
	return []holding{
		{way: "no byte", hold: sendText(""), tokens: one, bound: headerBound, closes: true},
		{way: "half a header", hold: sendText("GET / HTTP/1.1\r\nHost: x\r\n"), tokens: one, bound: headerBound,
			closes: true},
		{way: "no stream", hold: (*crowd).openFrames, tokens: one, bound: idleBound, closes: true},
		{way: "half a header of a stream", hold: (*crowd).halfHeaders, request: version, tokens: one, bound: idleBound,
			closes: true},
		{way: "idle", hold: (*crowd).readOne, request: version, tokens: one, bound: idleBound, closes: true},
		{way: "slow body", hold: (*crowd).halfBody, request: write, tokens: one, working: holders, bound: requestBound},
		{way: "slow large body", hold: (*crowd).mostOfBody, request: largeWrite, tokens: one, working: holders,
			bound: requestBound},
		{way: "slow body of a stream", hold: (*crowd).halfBodyOfStream, request: write, tokens: one, working: 100,
			bound: requestBound},
		{way: "slow body, unauthorized", hold: (*crowd).halfBody, request: write, tokens: []string{"wrong"},
			working: holders, bound: requestBound, lingers: time.Second}, // the longest pause of a refusal
		{way: "expect", hold: (*crowd).expect, request: write, tokens: one, working: holders, bound: requestBound},
		{way: "hanging admission", hold: (*crowd).follow, request: hangs, tokens: one, working: 100,
			bound: requestBound},
		{way: "hanging authorizer", hold: (*crowd).follow, request: version, tokens: []string{hangingToken},
			working: 200, bound: requestBound},
		{way: "hanging authenticator", hold: (*crowd).follow, request: version, tokens: []string{judgedForLong},
			working: holders, bound: requestBound},
		{way: "slow reader", hold: (*crowd).readSlowly, request: unread{path: widgetsPath}, tokens: two, large: 50,
			working: 2 * holders, bound: 2 * requestBound},
		{way: "watch", hold: (*crowd).follow, request: watch, tokens: two, working: 2 * holders, bound: watchBound},
		{way: "unread watch", hold: (*crowd).ask, request: watch, tokens: two, begun: (*crowd).change,
			working: 2 * holders, bound: requestBound},
		{way: "unread WebSocket", hold: (*crowd).upgrade, request: watch, tokens: two, begun: (*crowd).change,
			working: 2 * holders, bound: requestBound, closes: true},
		{way: "WebSocket that doesn't close", hold: (*crowd).upgrade, request: short, tokens: two, working: 2 * holders,
			bound: 5*time.Second + requestBound, closes: true},
	}
}

// unreadHoldings are the answers that clients don't read, over a stream whose window is closed, and over a connection
// of HTTP/1.1 on which they go on to ask.
func unreadHoldings() []holding {
	two := []string{limitedToken, adminToken}
	var rows []holding
	for _, u := range []unread{
		{name: "document", path: "/openapi/v2"},
		{name: "discovery", path: "/apis"},
		{name: "object", path: widgetsPath + "/large-0"},
		{name: "list", path: widgetsPath},
		{name: "table", path: widgetsPath, accept: "application/json;as=Table;g=meta.k8s.io;v=v1"},
		{name: "YAML", path: widgetsPath + "/small", accept: "application/yaml"},
		{name: "write", method: "POST", path: widgetsPath + "?dryRun=All", body: widgetOf("new", 64<<10)},
		{name: "error", path: widgetsPath + "/absent"},
		{name: "refused watch", path: widgetsPath + "?watch=true&resourceVersion=no"},
	} {
		rows = append(rows,
			holding{way: "closed window: " + u.name, hold: (*crowd).ask, request: u, tokens: two, large: 1,
				working: 2 * holders, bound: 2 * requestBound},
			holding{way: "pipeline: " + u.name, hold: (*crowd).pipeline, request: u, tokens: two, large: 1,
				working: 2 * holders, bound: 2 * requestBound, closes: true})
	}
	return rows
}
