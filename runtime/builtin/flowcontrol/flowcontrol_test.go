package flowcontrol_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/flowcontrol"
	"apigen.dev/runtime/builtin/flowcontrol/preset"
	"apigen.dev/runtime/internal/http/filter"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/timing"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	"github.com/spf13/pflag"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	group   = "/apis/flowcontrol.apiserver.k8s.io/v1/"
	schemas = group + "flowschemas"
	levels  = group + "prioritylevelconfigurations"
	widgets = "/apis/shop.example.com/v1/namespaces/ns/widgets"
)

// bench is a server of 3 seats, with users whose tokens are their names, and a path that answers when the test lets it.
type bench struct {
	testing.TB
	*apitest.Server
	client        *http.Client
	slow, entered chan struct{}
	observed      chan filter.Observation // of requests to /queued
}

func start(t testing.TB, args ...string) *bench { return startOn(t, nil, args...) }

// unclosed is a backend that outlives a server.
type unclosed struct{ storage.Backend }

func (unclosed) Close() error { return nil }

func startOn(t testing.TB, backend storage.Backend, args ...string) *bench {
	t.Helper()
	return startWith(t, func(config *server.Config) {
		if backend != nil {
			config.Backend = unclosed{backend}
		}
	}, args...)
}

func startWith(t testing.TB, change func(*server.Config), args ...string) *bench {
	t.Helper()
	b := &bench{TB: t, slow: make(chan struct{}), entered: make(chan struct{}, 10)}
	b.observed = make(chan filter.Observation, 10)
	feature := &flowcontrol.Feature{}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	feature.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	definition := shop.Definition()
	definition.Extensions = append(definition.Extensions, logged())
	groups := append(feature.Groups(), registry.Group{
		Name: "shop.example.com", Versions: []string{"v1", "v1beta1"},
		Resources: []registry.Resource{registry.New(definition)},
	})
	b.Server = apitest.StartWith(t, func(config *server.Config) {
		config.MaxReads, config.MaxWrites = 2, 1
		config.Authorizer = auth.Always(auth.Allow)
		tokens := new(auth.Tokens)
		for _, name := range []string{"ann", "bob"} {
			tokens.Add(name, &auth.User{Name: name, Groups: []string{auth.Authenticated}})
		}
		config.Authentication.Tokens = append(config.Authentication.Tokens, tokens)
		config.Observers = append(config.Observers, func(o filter.Observation) {
			if o.Request.URL.Path == "/queued" {
				b.observed <- o
			}
		})
		config.Paths = map[string]http.Handler{"/slow": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b.entered <- struct{}{}
			select {
			case <-b.slow:
			case <-r.Context().Done():
			}
		})}
		change(config)
		if err := config.Use(t.Context(), feature); err != nil {
			t.Fatal(err)
		}
	}, groups...)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(b.CA)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	b.client = &http.Client{Transport: transport}
	b.until("the server is ready", func() bool { return b.code("", "GET", "/readyz", "") == http.StatusOK })
	return b
}

func (b *bench) until(what string, holds func() bool) {
	b.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !holds(); <-tick.C {
		if time.Now().After(end) {
			b.Fatalf("%s: not within a minute", what)
		}
	}
}

// send sends a request of a user, or of the administrator.
func (b *bench) send(ctx context.Context, user, method, path, body string) *http.Response {
	b.Helper()
	request, err := http.NewRequestWithContext(ctx, method, b.URL+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
		if method == http.MethodPatch {
			request.Header.Set("Content-Type", "application/merge-patch+json")
		}
	}
	if user == "" {
		user = b.Token
	}
	request.Header.Set("Authorization", "Bearer "+user)
	response, err := b.client.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	return response
}

func (b *bench) do(user, method, path, body string) (*http.Response, string) {
	b.Helper()
	response := b.send(b.Context(), user, method, path, body)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	return response, string(text)
}

func (b *bench) code(user, method, path, body string) int {
	b.Helper()
	response, _ := b.do(user, method, path, body)
	return response.StatusCode
}

func (b *bench) must(method, path, body string) string {
	b.Helper()
	response, text := b.do("", method, path, body)
	if response.StatusCode/100 != 2 {
		b.Fatalf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
	return text
}

func get[T any](b *bench, path string) (object T) {
	b.Helper()
	if err := json.Unmarshal([]byte(b.must("GET", path, "")), &object); err != nil {
		b.Fatal(err)
	}
	return object
}

// limit gives a user a level of one seat that rejects the rest.
func (b *bench) limit(user string) (schema, level string) {
	b.Helper()
	return b.confine(user, `{"type":"Reject"}`)
}

// confine gives a user a level of one seat, and says what the level does with the rest.
func (b *bench) confine(user, response string) (schema, level string) {
	b.Helper()
	b.must("POST", levels, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"type":"Limited","limited":{
"nominalConcurrencyShares":1,"borrowingLimitPercent":0,"limitResponse":%s}}}`, user, response))
	b.must("POST", schemas, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"matchingPrecedence":5,
"priorityLevelConfiguration":{"name":%q},"rules":[{"subjects":[{"kind":"User","user":{"name":%q}}],
"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}],"resourceRules":[{"verbs":["*"],"apiGroups":["*"],
"resources":["*"],"namespaces":["*"],"clusterScope":true}]}]}}`, user, user, user))
	schema = string(get[flowcontrolv1.FlowSchema](b, schemas+"/"+user).UID)
	level = string(get[flowcontrolv1.PriorityLevelConfiguration](b, levels+"/"+user).UID)
	b.until("the schema is in force", func() bool {
		response, _ := b.do(user, "GET", "/version", "")
		return response.Header.Get("X-Kubernetes-PF-FlowSchema-UID") == schema
	})
	return schema, level
}

// TestObjects: a server that is ready has the objects of kube-apiserver, whose levels exist, and kubectl shows them so.
func TestObjects(t *testing.T) {
	b := start(t)
	all := get[flowcontrolv1.FlowSchemaList](b, schemas)
	if want := len(preset.MandatorySchemas()) + len(preset.SuggestedSchemas()); len(all.Items) != want {
		t.Errorf("%d schemas", len(all.Items))
	}
	b.until("every level exists", func() bool {
		for _, schema := range get[flowcontrolv1.FlowSchemaList](b, schemas).Items {
			if c := schema.Status.Conditions; len(c) != 1 || c[0].Status != flowcontrolv1.ConditionFalse ||
				c[0].Reason != "Found" || !strings.HasSuffix(c[0].Message, `named "`+
				schema.Spec.PriorityLevelConfiguration.Name+`" and it exists`) {
				return false
			}
		}
		return true
	})
	for path, want := range map[string]string{
		schemas + "/exempt":       "exempt exempt 1 <none> ? False",
		schemas + "/catch-all":    "catch-all catch-all 10000 ByUser ? False",
		levels + "/exempt":        "exempt Exempt <none> <none> <none> <none> ?",
		levels + "/workload-high": "workload-high Limited 40 128 6 50 ?",
		levels + "/catch-all":     "catch-all Limited 5 <none> <none> <none> ?",
	} {
		if got := b.row(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// row returns the cells of an object in kubectl's table, with ? for its age.
func (b *bench) row(path string) string {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.URL+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	response, err := b.Client.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	var table metav1.Table
	if err := json.NewDecoder(response.Body).Decode(&table); err != nil || len(table.Rows) != 1 {
		b.Fatalf("%s: %+v, %v", path, table, err)
	}
	var cells []string
	for i, cell := range table.Rows[0].Cells {
		if table.ColumnDefinitions[i].Name == "Age" {
			cell = "?"
		}
		cells = append(cells, fmt.Sprint(cell))
	}
	return strings.Join(cells, " ")
}

// TestKeptObjects: a server puts back what it keeps, leaves alone what administrators keep, and deletes what is no
// more.
func TestKeptObjects(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	b := startOn(t, backend)
	const shares = `{"spec":{"limited":{"nominalConcurrencyShares":%d}}%s}`
	b.must("PATCH", levels+"/system", fmt.Sprintf(shares, 7, ""))
	b.must("PATCH", levels+"/node-high", fmt.Sprintf(shares, 7,
		`,"metadata":{"annotations":{"apf.kubernetes.io/autoupdate-spec":"false"}}`))
	b.must("PATCH", levels+"/workload-low", fmt.Sprintf(shares, 7,
		`,"metadata":{"annotations":{"apf.kubernetes.io/autoupdate-spec":null}}`))
	b.must("PATCH", levels+"/exempt", `{"spec":{"exempt":{"nominalConcurrencyShares":3}}}`)
	b.must("DELETE", schemas+"/global-default", "")
	b.must("PATCH", schemas+"/catch-all", `{"metadata":{"annotations":null}}`)
	for name, kept := range map[string]string{"old": "true", "mine": "false"} {
		b.must("POST", schemas, fmt.Sprintf(`{"metadata":{"name":%q,"annotations":{
"apf.kubernetes.io/autoupdate-spec":%q}},"spec":{"priorityLevelConfiguration":{"name":"gone"}}}`, name, kept))
	}
	again := startOn(t, backend)
	level := func(name string) flowcontrolv1.PriorityLevelConfiguration {
		return get[flowcontrolv1.PriorityLevelConfiguration](again, levels+"/"+name)
	}
	for name, want := range map[string]int32{"system": 30, "node-high": 7, "workload-low": 7} {
		if got := *level(name).Spec.Limited.NominalConcurrencyShares; got != want {
			t.Errorf("%s has %d shares, want %d", name, got, want)
		}
	}
	if note := level("workload-low").Annotations["apf.kubernetes.io/autoupdate-spec"]; note != "false" {
		t.Errorf("a level that somebody changed says %q", note)
	}
	if got := *level("exempt").Spec.Exempt.NominalConcurrencyShares; got != 3 {
		t.Errorf("the exempt level has %d shares", got)
	}
	if note := get[flowcontrolv1.FlowSchema](again, schemas+"/catch-all").Annotations; len(note) != 1 {
		t.Errorf("the catch-all schema has the annotations %v", note)
	}
	for path, want := range map[string]int{"global-default": 200, "old": 404, "mine": 200} {
		if got := again.code("", "GET", schemas+"/"+path, ""); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	again.until("the reference of mine dangles", func() bool {
		c := get[flowcontrolv1.FlowSchema](again, schemas+"/mine").Status.Conditions
		return len(c) == 1 && c[0].Status == flowcontrolv1.ConditionTrue && c[0].Reason == "NotFound" &&
			c[0].Message == `This FlowSchema references the PriorityLevelConfiguration object named "gone" but there `+
				`is no such object`
	})
	if got := again.row(schemas + "/mine"); got != "mine gone 1000 <none> ? True" {
		t.Errorf("%s", got)
	}
}

// TestLimit: a user whose level is full gets 429 in kube-apiserver's words, and nobody else does.
func TestLimit(t *testing.T) {
	b := start(t)
	schema, level := b.limit("ann")
	ended := make(chan int, 1)
	go func() { ended <- b.code("ann", "GET", "/slow", "") }()
	<-b.entered
	response, text := b.do("ann", "GET", "/version", "")
	if response.StatusCode != http.StatusTooManyRequests || text != "Too many requests, please try again later.\n" ||
		response.Header.Get("Retry-After") != "1" ||
		!strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain") ||
		response.Header.Get("X-Kubernetes-PF-FlowSchema-UID") != schema ||
		response.Header.Get("X-Kubernetes-PF-PriorityLevel-UID") != level {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, text)
	}
	for user, path := range map[string]string{"bob": "/version", "": "/version", "ann": "/readyz"} {
		if got := b.code(user, "GET", path, ""); got != http.StatusOK {
			t.Errorf("%s of %q: %d", path, user, got)
		}
	}
	page := b.must("GET", "/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1", "")
	if !strings.Contains(page, "ann,") || !strings.Contains(page, "/slow,") {
		t.Errorf("%s", page)
	}
	metrics := b.must("GET", "/metrics", "")
	for _, want := range []string{
		`apiserver_flowcontrol_rejected_requests_total{flow_schema="ann",priority_level="ann",` +
			`reason="concurrency-limit"}`,
		`apiserver_flowcontrol_current_executing_seats{flow_schema="ann",priority_level="ann"} 1`,
		`apiserver_flowcontrol_nominal_limit_seats{priority_level="ann"} 1`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics has no %s", want)
		}
	}
	close(b.slow)
	if code := <-ended; code != http.StatusOK {
		t.Errorf("the slow request: %d", code)
	}
	b.until("the seat is free", func() bool { return b.code("ann", "GET", "/version", "") == http.StatusOK })
	if code := b.code("ann", "GET", "/debug/api_priority_and_fairness/dump_queues", ""); code != http.StatusOK {
		t.Errorf("a page: %d", code)
	}
}

// TestWatchesLeave: a watch has a seat until it has told its state, with and without objects, and none afterwards.
func TestWatchesLeave(t *testing.T) {
	b := start(t)
	b.limit("ann")
	for _, objects := range []int{0, 520} {
		for i := range objects {
			b.must("POST", widgets, fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget",
"metadata":{"name":"w%d"}}`, i))
		}
		ctx, cancel := context.WithCancel(t.Context())
		response := b.send(ctx, "ann", "GET", widgets+"?watch=true", "")
		events := bufio.NewReader(response.Body)
		for range objects {
			if _, err := events.ReadBytes('\n'); err != nil {
				t.Fatal(err)
			}
		}
		b.until("the seat is free", func() bool { return b.code("ann", "GET", widgets, "") == http.StatusOK })
		b.must("POST", widgets, fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget",
"metadata":{"name":"late%d"}}`, objects))
		line, err := events.ReadString('\n')
		if err != nil || !strings.Contains(line, "late") {
			t.Errorf("the watch tells %s, %v", line, err)
		}
		cancel()
		response.Body.Close()
		b.must("DELETE", widgets, "")
	}
}

// TestQueueTime: a request knows its share of the server and the time that it waited for a seat, for logs and traces; a
// request that didn't wait has no such time.
func TestQueueTime(t *testing.T) {
	b := start(t)
	b.confine("ann", `{"type":"Queue","queuing":{"queues":1,"handSize":1,"queueLengthLimit":10}}`)
	ended := make(chan struct{})
	go func() { defer close(ended); b.code("ann", "GET", "/slow", "") }()
	<-b.entered
	waited := make(chan struct{})
	go func() { defer close(waited); b.code("ann", "GET", "/queued", "") }()
	const waiting = `apiserver_flowcontrol_current_inqueue_requests{flow_schema="ann",priority_level="ann"} 1`
	b.until("the request waits", func() bool { return strings.Contains(b.must("GET", "/metrics", ""), waiting) })
	b.code("bob", "GET", "/queued", "")
	b.expectShare("global-default", false)
	close(b.slow)
	<-ended
	<-waited
	b.expectShare("ann", true)
}

// expectShare holds the next request to /queued to the name of its level and its schema, and to whether it waited.
func (b *bench) expectShare(name string, waits bool) {
	b.Helper()
	record := timing.From((<-b.observed).Request.Context())
	if spent := record.Spent(timing.Queue); (spent > 0) != waits {
		b.Errorf("a request of %s waited %s in a queue", name, spent)
	}
	if got, want := record.Share(), (timing.Share{Level: name, Schema: name, Seats: 1}); got != want {
		b.Errorf("%+v, want %+v", got, want)
	}
}

// TestOff: without priority and fairness, reads and writes are bounded apart, and the objects are served.
func TestOff(t *testing.T) {
	b := start(t, "--enable-priority-and-fairness=false")
	if code := b.code("", "GET", schemas+"/exempt", ""); code != http.StatusOK {
		t.Errorf("a schema: %d", code)
	}
	var slow sync.WaitGroup
	for _, user := range []string{"ann", "bob"} { // each has half of the places
		slow.Go(func() { b.code(user, "GET", "/slow", "") })
		<-b.entered
	}
	response, text := b.do("bob", "GET", "/version", "")
	if response.StatusCode != http.StatusTooManyRequests ||
		response.Header.Get("X-Kubernetes-PF-FlowSchema-UID") != "" {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, text)
	}
	if code := b.code("", "GET", "/debug/api_priority_and_fairness/dump_queues", ""); code != http.StatusNotFound {
		t.Errorf("a page: %d", code)
	}
	close(b.slow)
	slow.Wait()
}

// TestNoSeats: a server that has no seats doesn't start.
func TestNoSeats(t *testing.T) {
	feature := &flowcontrol.Feature{}
	feature.AddFlags(pflag.NewFlagSet("", pflag.ContinueOnError))
	err := (&server.Config{Limits: server.Limits{MaxReads: -1, MaxWrites: -1}}).Use(t.Context(), feature)
	if err == nil || !strings.Contains(err.Error(), "--max-requests-inflight") {
		t.Errorf("%v", err)
	}
}
