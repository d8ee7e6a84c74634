package exchange

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"maps"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/conformance/exchange/apis"
	"apigen.dev/runtime/registry"
	workloads "example.com/workloads/apis/core/wiring"
	events "example.com/workloads/apis/events/wiring"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// differ writes down what ours answers where it differs, with a question mark for the reason: whoever runs it finds the
// reason, or mends the server.
var differ = flag.Bool("differ", false, "write down where ours answers differently")

func scripts(t testing.TB, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	return files
}

// startOurs is a server of ours, and its kubeconfig.
func startOurs(t *testing.T) (*world, []byte) {
	t.Helper()
	server := apitest.Start(t, append(apis.Groups(), coreGroup(), events.Group())...)
	return worldOf(server), server.Kubeconfig
}

func worldOf(server *apitest.Server) *world {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(server.CA)
	return &world{host: strings.TrimPrefix(server.URL, "https://"), token: server.Token,
		tls: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12, CurvePreferences: []tls.CurveID{tls.X25519},
			ClientSessionCache: tls.NewLRUClientSessionCache(0)}} // cheap handshakes: each request has its connection
}

// coreGroup is the core group with config maps and events alone: pods and the like would be found missing,
// and what they own collected.
func coreGroup() registry.Group {
	group := workloads.Group()
	group.Resources = slices.DeleteFunc(group.Resources, func(r registry.Resource) bool {
		return r.Info().Names.Plural != "configmaps" && r.Info().Names.Plural != "events"
	})
	return group
}

// TestExchange: each request is answered as kube-apiserver answers it, and a plain list is answered at once after it.
func TestExchange(t *testing.T) {
	ours, _ := startOurs(t)
	exchangeAll(t, ours)
	if *differ {
		return
	}
	// The protocol changes nothing.
	t.Run("HTTP2", func(t *testing.T) {
		ours, _ := startOurs(t)
		transport := &http.Transport{TLSClientConfig: ours.tls.Clone(), ForceAttemptHTTP2: true,
			DisableCompression: true}
		defer transport.CloseIdleConnections()
		ours.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
		exchangeAll(t, ours)
	})
}

func exchangeAll(t *testing.T, ours *world) {
	t.Helper()
	before := runtime.NumGoroutine()
	requests := 0
	var files sync.WaitGroup // all files wait side by side; test.parallel bounds the scenes
	for _, path := range scripts(t, "http") {
		s := readScript(t, path)
		for _, scene := range s.scenes {
			requests += len(scene.exchanges)
		}
		replayAll := func(t *testing.T) {
			if *differ {
				t.Cleanup(func() { s.write(t) }) // which runs when all scenes have ended
			}
			for _, scene := range s.scenes {
				t.Run(scene.name, func(t *testing.T) {
					t.Parallel()
					replay(t, ours, scene)
				})
			}
		}
		files.Go(func() { t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), replayAll) })
	}
	files.Wait()
	if requests < 300 {
		t.Errorf("%d requests are too few", requests)
	}
	if ours.client != nil {
		ours.client.CloseIdleConnections()
	}
	ends(t, before)
}

func replay(t *testing.T, ours *world, s *scene) {
	a := ours.enter(t, s)
	for _, e := range s.exchanges {
		a.settle(e.request[0])
		a.expects = e.answers()
		if a.wants = e.matches; *differ {
			a.wants = nil
		}
		answers := a.ask(e.request)
		e.check(t, answers)
		a.listsAfter(t, e.request[0])
	}
}

// listsAfter wants a list, whatever was asked before.
func (a *asked) listsAfter(t *testing.T, request string) {
	words := maps.Clone(a.words)
	defer func() { a.words = words }()
	if list := a.ask([]string{"GET $PDBS?limit=1"})[0]; !strings.HasPrefix(list, "<<< 200") {
		t.Errorf("a list after %s: %.300s", request, list)
	}
}

// settle waits, before a request that may be answered with any state that the server had, for the latest one: the
// recorded answer is of that. It asks which revision that is, and then for a state that is not older.
func (a *asked) settle(request string) {
	a.Helper()
	method, target, _ := strings.Cut(request, " ")
	path, query, _ := strings.Cut(target, "?")
	if method != "GET" || !strings.Contains("&"+query+"&", "&resourceVersion=0&") || strings.Contains(path, "/watch/") {
		return
	}
	if revision := a.revision(path); revision != "" {
		a.revision(path + "?resourceVersion=" + revision)
	}
}

// revision returns the resourceVersion of an object or of a list; "" if there is none.
func (a *asked) revision(target string) string {
	a.Helper()
	request, err := http.NewRequestWithContext(a.Context(), http.MethodGet, "https://"+a.host+a.fill(target), nil)
	if err != nil {
		a.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	transport := &http.Transport{TLSClientConfig: a.tls.Clone(), DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		a.Fatal(err)
	}
	defer response.Body.Close()
	var object metav1.PartialObjectMetadata
	if err := json.NewDecoder(response.Body).Decode(&object); err != nil || response.StatusCode != http.StatusOK {
		return ""
	}
	return object.ResourceVersion
}

// matches reports whether answers are those that are expected. A request with @until is repeated until they are: its
// code alone may be that of a server which has not yet seen the request before it.
func (e *exchange) matches(answers []string) bool {
	got := sameManagers(text(answers))
	return got == sameManagers(text(e.theirs)) || got == sameManagers(e.expected())
}

// check compares answers with those that are expected, and takes them over for -differ.
func (e *exchange) check(t *testing.T, answers []string) {
	t.Helper()
	got := text(answers)
	if sameManagers(got) == sameManagers(text(e.theirs)) { // whatever stands in the file: that is always right
		e.why, e.ours = "", nil
		return
	}
	if want := e.expected(); sameManagers(want) != sameManagers(got) {
		t.Errorf("%s\n%s", e.request[0], difference(want, got))
	}
	if e.ours = answers; e.why == "" {
		e.why = "?"
	}
	if e.why == "?" {
		t.Error("why does ours differ? ", e.request[0])
	}
}

// sameManagers is an answer with the managers of fields in the order of their text. Theirs is that of their times, to
// the second, and so depends on whether a second ends between two requests.
func sameManagers(answer string) string {
	lines := strings.Split(answer, "\n")
	isManager := func(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "managedField ") }
	for i := 0; i < len(lines); i++ {
		from := i
		for i < len(lines) && isManager(lines[i]) {
			i++
		}
		slices.Sort(lines[from:i])
	}
	return strings.Join(lines, "\n")
}

// difference shows the lines that only one of two answers has.
func difference(want, got string) string {
	var b strings.Builder
	only := func(mark, of, other string) {
		lines := strings.Split(other, "\n")
		for line := range strings.SplitSeq(of, "\n") {
			if !slices.Contains(lines, line) {
				b.WriteString(mark + " " + line + "\n")
			}
		}
	}
	only("-", want, got)
	only("+", got, want)
	if b.Len() == 0 {
		return "in another order:\n" + got
	}
	return b.String()
}

// ends checks that of all the requests nothing is left running, and no memory in use but a server's.
func ends(t *testing.T, before int) {
	t.Helper()
	const (
		more  = 50        // what a server starts when it is first used; a leak has hundreds
		bound = 128 << 20 // bodies of megabytes came by
	)
	var n int
	for range 1200 { // a minute
		if n = runtime.NumGoroutine(); n <= before+more {
			break
		}
		<-time.After(50 * time.Millisecond)
	}
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	if n > before+more || memory.HeapAlloc > bound {
		t.Errorf("%d goroutines are left of %d, and %d MiB", n, before, memory.HeapAlloc>>20)
	}
}
