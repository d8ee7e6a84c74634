package flow

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/flow/class"
	"apigen.dev/runtime/internal/flow/queue"
	"apigen.dev/runtime/internal/flow/share"
	"apigen.dev/runtime/internal/request"
	"github.com/prometheus/client_golang/prometheus"
)

// fakeClock is a queue.Clock that stands still.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) AfterFunc(time.Duration, func()) {}

func (c *fakeClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func queues(n int) queue.Config { return queue.Config{Queues: n, Length: 100, Hand: 1} }
func limited(name string, shares, lendable int) Level {
	return Level{
		Name: name, UID: name + "-uid", Share: share.Level{Shares: shares, Lendable: lendable}, Queues: queues(8),
	}
}

// forUser is a schema of the requests of a user.
func forUser(user, level string, precedence int) *class.Schema {
	every := []string{class.All}
	return &class.Schema{
		Name: user, UID: user + "-schema", Level: level, Precedence: precedence, By: class.User,
		Rules: []class.Rule{{Users: []string{user}, Paths: []class.Path{{Verbs: every, Paths: every}}}},
	}
}

var version = &request.Info{Path: "/version", Verb: "get"}

func visit(c *Controller, user string) *Visit { return c.Classify(&auth.User{Name: user}, version) }

// enter lets a request enter that waits no time.
func enter(c *Controller, user string, seats int) (*Visit, error) {
	v := visit(c, user)
	return v, v.Enter(context.Background(), queue.Estimate{Seats: seats}, within(0))
}

func configure(t testing.TB, c *Controller, levels []Level, schemas ...*class.Schema) {
	t.Helper()
	if err := c.Configure(levels, schemas); err != nil {
		t.Fatal(err)
	}
}

// seats returns what each level has, as "a 10/20": now and by its shares.
func seats(c *Controller) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for _, l := range c.state.Load().levels {
		text := fmt.Sprintf("%s %d/%d", l.Name, l.current, l.limits.Nominal)
		if l.quiescing {
			text += " quiescing"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func expect(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

func levelOf(v *Visit) string {
	_, level := v.Names()
	return level
}

// TestClassification: the first schema decides, and the last one has all others. A schema without a level is left out.
func TestClassification(t *testing.T) {
	c := New(100, &fakeClock{now: time.Unix(0, 0)})
	configure(t, c, []Level{limited("low", 1, 0), limited("high", 1, 0)},
		forUser("zoe", "low", 10), forUser("ann", "high", 5), forUser("ann2", "low", 6), forUser("bob", "gone", 1))
	for user, want := range map[string]string{"ann": "high", "bob": "low", "zoe": "low"} {
		v := visit(c, user)
		level := levelOf(v)
		if _, uid := v.UIDs(); level != want || !slices.Equal(uid, []string{want + "-uid"}) {
			t.Errorf("%s is in %s, %s", user, level, uid)
		}
	}
	v := visit(c, "bob")
	schema, _ := v.Names()
	if uid, _ := v.UIDs(); schema != "zoe" || !slices.Equal(uid, []string{"zoe-schema"}) {
		t.Errorf("the fallback is %s", schema)
	}
	wrong := limited("low", 1, 0)
	wrong.Queues = queue.Config{Queues: 2, Hand: 3}
	if err := c.Configure([]Level{wrong}, nil); err == nil || levelOf(visit(c, "ann")) != "high" {
		t.Errorf("a wrong configuration: %v", err)
	}
}

// TestBorrowing: a level that is idle lends its seats, and has them back in the period after it needs them.
func TestBorrowing(t *testing.T) {
	clock := &fakeClock{now: time.Unix(0, 0)}
	c := New(100, clock)
	configure(t, c, []Level{limited("busy", 1, 50), limited("idle", 1, 80)}, forUser("ann", "busy", 1),
		forUser("bob", "idle", 2))
	expect(t, "at the beginning", seats(c), "busy 71/50, idle 29/50") // in the ratio of what they don't lend
	var inside []*Visit
	flood := func(user string) {
		for {
			v, err := enter(c, user, 1)
			if err != nil {
				return
			}
			inside = append(inside, v)
		}
	}
	flood("ann")
	clock.pass(10 * time.Second)
	c.Adjust()
	expect(t, "while one is busy", seats(c), "busy 88/50, idle 12/50")
	flood("ann")
	flood("bob")
	if len(inside) != 100 {
		t.Errorf("%d requests are inside, of 100 seats", len(inside))
	}
	var waiting sync.WaitGroup
	for range 60 {
		waiting.Go(func() {
			v := visit(c, "bob")
			if err := v.Enter(t.Context(), queue.Estimate{Seats: 1}, within(time.Hour)); err != nil {
				t.Error(err)
				return
			}
			v.Leave()
		})
	}
	for c.state.Load().level("idle").set.Dump().Waiting < 60 {
		runtime.Gosched()
	}
	clock.pass(10 * time.Second)
	c.Adjust()
	expect(t, "while both are busy", seats(c), "busy 50/50, idle 50/50")
	for _, v := range inside {
		v.Leave()
	}
	waiting.Wait()
	for range 100 {
		clock.pass(10 * time.Second)
		c.Adjust()
	}
	expect(t, "after a long time", seats(c), "busy 71/50, idle 29/50")
}

// TestQuiescing: a level that is gone keeps its requests until they have left, and then goes.
func TestQuiescing(t *testing.T) {
	clock := &fakeClock{now: time.Unix(0, 0)}
	c := New(100, clock)
	a, b := limited("a", 1, 0), limited("b", 1, 0)
	configure(t, c, []Level{a, b}, forUser("ann", "a", 1), forUser("bob", "b", 2))
	inside, err := enter(c, "ann", 1)
	if err != nil {
		t.Fatal(err)
	}
	configure(t, c, []Level{b}, forUser("ann", "a", 1), forUser("bob", "b", 2))
	expect(t, "while a request is inside", seats(c), "a 50/50 quiescing, b 50/50")
	expect(t, "a new request", levelOf(visit(c, "ann")), "b")
	clock.pass(time.Second)
	configure(t, c, []Level{a, b}, forUser("ann", "a", 1), forUser("bob", "b", 2))
	if v, err := enter(c, "ann", 1); err != nil || v.route.level.set != inside.route.level.set {
		t.Errorf("a level that came back: %v", err)
	} else {
		v.Leave()
	}
	configure(t, c, []Level{b}, forUser("bob", "b", 2))
	inside.Leave()
	c.Adjust()
	expect(t, "when it has left", seats(c), "b 100/100")
	if len(c.claims) != 1 || len(c.sources) != 1 {
		t.Errorf("%d claims and %d sources are kept", len(c.claims), len(c.sources))
	}
}

// TestExempt: requests of an exempt level are not limited, and are counted.
func TestExempt(t *testing.T) {
	clock := &fakeClock{now: time.Unix(0, 0)}
	c := New(10, clock)
	configure(t, c, []Level{{Name: "exempt", Share: share.Level{Exempt: true}}, limited("rest", 1, 80)},
		forUser("root", "exempt", 1), forUser("ann", "rest", 2))
	for range 100 {
		v, err := enter(c, "root", 1)
		if err != nil || !v.Exempt() {
			t.Fatal(err)
		}
		defer v.Leave()
	}
	clock.pass(10 * time.Second)
	c.Adjust()
	expect(t, "where exempt requests have all seats", seats(c), "exempt 100/0, rest 2/10")
}

// TestRejections: a request gives up after its limit, and one whose queue is full is rejected. Clients are told to come
// later while there are many of them.
func TestRejections(t *testing.T) {
	clock := &fakeClock{now: time.Unix(1000, 0)}
	c := New(1, clock)
	level := limited("a", 1, 0)
	level.Queues = queue.Config{Queues: 1, Length: 1, Hand: 1}
	configure(t, c, []Level{level}, forUser("ann", "a", 1))
	inside, err := enter(c, "ann", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := enter(c, "ann", 1); !errors.Is(err, queue.TimeOut) {
		t.Errorf("a request that waits: %v", err)
	}
	waiting := visit(c, "ann")
	var working sync.WaitGroup
	working.Go(func() { err = waiting.Enter(t.Context(), queue.Estimate{Seats: 1}, within(time.Hour)) })
	for c.state.Load().level("a").set.Dump().Waiting == 0 {
		runtime.Gosched()
	}
	full, fullErr := enter(c, "ann", 1)
	if !errors.Is(fullErr, queue.QueueFull) || full.RetryAfter() != 1 {
		t.Errorf("a request whose queue is full: %v, retry after %d", fullErr, full.RetryAfter())
	}
	inside.Leave()
	working.Wait()
	if err != nil {
		t.Errorf("the request that waited: %v", err)
	}
	waiting.Leave()
}

// TestRetryAfter: it doubles up to 32 seconds under a flood, and falls by a second at a time afterwards.
func TestRetryAfter(t *testing.T) {
	var d drops
	var seen []int
	now := int64(1000)
	note := func() {
		if n := d.retryAfter(); len(seen) == 0 || seen[len(seen)-1] != n {
			seen = append(seen, n)
		}
	}
	for range 100 {
		for range 5 {
			d.add(now)
		}
		note()
		now++
	}
	for range 40 {
		now += 33
		d.add(now)
		note()
	}
	want := []int{1, 2, 4, 8, 16, 32}
	for n := 31; n >= 1; n-- {
		want = append(want, n)
	}
	if !slices.Equal(seen, want) {
		t.Errorf("%v", seen)
	}
}

// TestWatches: a write counts the watches of its resource, of its namespace and of its object.
func TestWatches(t *testing.T) {
	c := New(1, &fakeClock{})
	info := func(method, url string) *request.Info {
		i, err := request.New(httptest.NewRequest(method, url, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	var ends []func()
	for _, url := range []string{"/api/v1/pods?watch=1", "/api/v1/namespaces/ns/pods?watch=1",
		"/api/v1/namespaces/ns/pods?watch=1&fieldSelector=metadata.name=a", "/api/v1/namespaces/other/pods?watch=1",
		"/api/v1/nodes?watch=1", "/api/v1/pods?watch=1&fieldSelector=spec.nodeName=n",
		"/api/v1/pods?watch=1&fieldSelector=spec.nodeName!=n"} {
		ends = append(ends, c.Watch(info("GET", url)))
	}
	for _, row := range []struct {
		method, url string
		want        int
	}{
		{"PUT", "/api/v1/namespaces/ns/pods/a", 4}, {"PUT", "/api/v1/namespaces/ns/pods/b", 3},
		{"POST", "/api/v1/namespaces/ns/pods", 3}, {"DELETE", "/api/v1/namespaces/x/pods/a", 2},
		{"PUT", "/api/v1/nodes/a", 1}, {"PUT", "/api/v1/secrets/a", 0},
	} {
		if got := c.Watches(info(row.method, row.url)); got != row.want {
			t.Errorf("%s %s is seen by %d watches", row.method, row.url, got)
		}
	}
	for _, end := range ends {
		end()
	}
	if len(c.watches.count) > 0 {
		t.Errorf("%v", c.watches.count)
	}
}

// TestMetricsAndPages: both tell what happens, under kube-apiserver's names.
func TestMetricsAndPages(t *testing.T) {
	clock := &fakeClock{now: time.Unix(1000, 0)}
	c := New(2, clock)
	configure(t, c, []Level{limited("a", 1, 0), {Name: "exempt", Share: share.Level{Exempt: true}}},
		forUser("ann", "a", 1), forUser("root", "exempt", 2))
	one, err := enter(c, "ann", 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := enter(c, "ann", 1); err == nil {
		t.Fatal("a request passes the limit")
	}
	root, err := enter(c, "root", 1)
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	clock.pass(time.Second)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetValue())
			}
			name := strings.TrimPrefix(family.GetName(), prefix) + " " + strings.Join(labels, " ")
			values[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetHistogram().GetSampleSum()
		}
	}
	for name, want := range map[string]float64{
		"current_executing_seats ann a": 2, "current_executing_requests root exempt": 1,
		"dispatched_requests_total ann a": 1, "rejected_requests_total ann a time-out": 1,
		"current_limit_seats a": 2, "priority_level_seat_utilization executing a": 1e9,
		"read_vs_write_current_requests executing readOnly": 1e9, "demand_seats a": 1e9,
		"apiserver_current_inflight_requests readOnly": 2, "apiserver_current_inflight_requests mutating": 0,
		"apiserver_current_inqueue_requests readOnly": 1,
	} {
		if got, found := values[name]; !found || got != want {
			t.Errorf("%s is %v (%t), want %v", name, got, found, want)
		}
	}
	pages := c.Pages()
	page := func(url string) string {
		w := httptest.NewRecorder()
		path, _, _ := strings.Cut(url, "?")
		pages[path].ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
		return w.Body.String()
	}
	const dumps = "/debug/api_priority_and_fairness/"
	for url, want := range map[string]string{
		dumps + "dump_priority_levels":                     "a,                 0,            false,  false,       0,",
		dumps + "dump_queues":                              " 2,          0.00600000ss,",
		dumps + "dump_requests?includeRequestDetails=true": "exempt,            root,           -1,         -1,   ",
	} {
		if text := page(url); !strings.Contains(text, want) {
			t.Errorf("%s:\n%s\nwant %s", url, text, want)
		}
	}
	one.Leave()
	root.Leave()
}

// TestConcurrentUse: requests, changes of the configuration, adjustments and scrapes at the same time.
func TestConcurrentUse(t *testing.T) {
	c := New(4, queue.RealClock{})
	a, b := limited("a", 1, 50), limited("b", 1, 50)
	configure(t, c, []Level{a, b}, forUser("ann", "a", 1), forUser("bob", "b", 2))
	var working sync.WaitGroup
	for worker := range 16 {
		working.Go(func() {
			user := []string{"ann", "bob"}[worker%2]
			for range 200 {
				v := visit(c, user)
				if v.Enter(t.Context(), queue.Estimate{Seats: 1}, within(time.Minute)) == nil {
					v.Leave()
				}
			}
		})
	}
	working.Go(func() {
		for i := range 50 {
			levels := []Level{a, b}
			if i%2 == 0 {
				levels = levels[:1]
			}
			configure(t, c, levels, forUser("ann", "a", 1), forUser("bob", "b", 2))
			c.Adjust()
			out := make(chan prometheus.Metric, 1000)
			c.Collect(out)
		}
	})
	working.Wait()
	for _, l := range c.state.Load().levels {
		if !l.set.Idle() {
			t.Errorf("%s isn't idle", l.Name)
		}
	}
}

// within is the longest time that a request waits.
func within(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

func BenchmarkVisit(b *testing.B) {
	c := New(600, queue.RealClock{})
	schemas := []*class.Schema{}
	for i := range 12 {
		schemas = append(schemas, forUser(fmt.Sprint("user", i), "a", i))
	}
	level := limited("a", 1, 0)
	level.Queues = queue.Config{Queues: 128, Length: 50, Hand: 6}
	configure(b, c, []Level{level}, append(schemas, forUser("ann", "a", 100))...)
	user := &auth.User{Name: "ann", Groups: []string{"g", auth.Authenticated}}
	b.ReportAllocs()
	for b.Loop() {
		v := c.Classify(user, version)
		if err := v.Enter(context.Background(), queue.Estimate{Seats: 1}, within(time.Second)); err != nil {
			b.Fatal(err)
		}
		v.Leave()
	}
}
