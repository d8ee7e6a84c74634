package access

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// behindRecord is what kube-apiserver's aggregator does, by the names of rows.
const behindRecord = "testdata/behind.txt"

// behindOurs has what ours does where it is different on purpose; see differences. The test writes it where the
// environment variable BEHIND_OURS names it.
const behindOurs = "testdata/behind-ours.txt"

const apiservices = "/apis/apiregistration.k8s.io/v1/apiservices"

// world is an aggregator, and what was seen of it.
type world struct {
	*cluster
	servers *authority // of the backends

	mu   sync.Mutex // guards seen
	seen map[string]string
}

// TestBehind asks our aggregator what kube-apiserver's was asked. `make record` asks kube-apiserver's anew.
func TestBehind(t *testing.T) {
	text, err := os.ReadFile(behindRecord)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile(behindOurs)
	if err != nil {
		t.Fatal(err)
	}
	theirs, kept := parseRecord(string(text)), parseRecord(string(ours))
	w := newWorld(t, startControlPlane(t))
	t.Run("ask", w.ask)
	if path := os.Getenv("BEHIND_OURS"); path != "" && !t.Failed() {
		w.keepDifferent(t, path, theirs)
		return
	}
	for name := range kept {
		if general(kept[name]) == general(theirs[name]) {
			t.Errorf("%s: is not different, and is listed", name)
		}
	}
	for name, outcome := range outcomes {
		if recorded := general(theirs[name]); !isOtherOutcome(name, recorded, recorded) {
			t.Errorf("%s: the recorded answer is none of the outcomes that it has because %s", name, outcome.why)
		}
	}
	for name, got := range w.seen {
		want, why := theirs[name], reasonOf(name)
		if _, isKept := kept[name]; isKept {
			if why == "" {
				t.Errorf("%s: differs without a reason", name)
			}
			want = kept[name]
		}
		diff := cmp.Diff(strings.Split(general(want), "\n"), strings.Split(general(got), "\n"))
		if diff != "" && !isOtherOutcome(name, general(want), general(got)) {
			t.Errorf("%s (-want +ours):\n%s", name, diff)
		}
	}
	for name := range theirs {
		if _, ok := w.seen[name]; !ok && !strings.HasPrefix(name, "local ") {
			t.Errorf("%s: wasn't asked", name)
		}
	}
}

// keepDifferent writes the rows that are different from kube-apiserver's.
func (w *world) keepDifferent(t *testing.T, path string, theirs map[string]string) {
	t.Helper()
	different := &world{seen: map[string]string{}}
	for name, got := range w.seen {
		if general(got) != general(theirs[name]) {
			different.seen[name] = general(got)
		}
	}
	if err := os.WriteFile(path, []byte(different.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func newWorld(t *testing.T, c *cluster) *world {
	t.Helper()
	w := &world{cluster: c, servers: newAuthority(t, "servers"), seen: map[string]string{}}
	if !c.noServices {
		c.create(t, "/api/v1/namespaces", `{"metadata":{"name":"behind"}}`)
		c.create(t, "/api/v1/namespaces/behind/services",
			`{"metadata":{"name":"odd"},"spec":{"type":"ExternalName","externalName":"localhost"}}`)
	}
	return w
}

// scenarios are independent of one another.
var scenarios = map[string]func(*testing.T, *world){
	"exchanges": exchanges, "http2": exchangesInHTTP2, "conditions": conditions, "documents": documents,
	"order": order, "faults": faults, "locals": locals,
}

func (w *world) ask(t *testing.T) {
	w.cluster.ask(t, adminToken, "GET", "/readyz", "") // makes the client before the scenarios share it
	var all sync.WaitGroup                             // t.Parallel would leave them waiting for one another's waiting
	for name, scenario := range scenarios {
		all.Go(func() { t.Run(name, func(t *testing.T) { scenario(t, w) }) })
	}
	all.Wait()
}

// registered makes an APIService for a backend, and waits until it is available.
func (w *world) registered(t *testing.T, b *backend, version string, group, priority int) {
	t.Helper()
	w.create(t, apiservices, w.service(b, version, group, priority, ""))
	w.untilCondition(t, version+"."+b.group, "True")
}

// service returns an APIService. tls is how the backend's certificate is checked, by the authority by default.
func (w *world) service(b *backend, version string, group, priority int, tls string) string {
	if tls == "" {
		tls = `"caBundle":"` + base64.StdEncoding.EncodeToString(w.servers.pem()) + `"`
	}
	return fmt.Sprintf(`{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":%q},"spec":{
		"group":%q,"version":%q,"groupPriorityMinimum":%d,"versionPriority":%d,
		"service":{"namespace":"behind","name":"odd","port":%d},%s}}`, version+"."+b.group, b.group, version, group,
		priority, b.port, tls)
}

// condition returns the condition Available of an APIService.
func (w *world) condition(t *testing.T, name string) (status, text string) {
	t.Helper()
	_, body := w.cluster.ask(t, adminToken, "GET", apiservices+"/"+name, "")
	return conditionOf(body)
}

func conditionOf(body string) (status, text string) {
	var object struct {
		Status struct {
			Conditions []struct{ Type, Status, Reason, Message, LastTransitionTime string }
		}
	}
	_ = json.Unmarshal([]byte(body), &object) // what is not an object has no conditions
	for _, c := range object.Status.Conditions {
		text += fmt.Sprintf("%s %s %s: %s", c.Type, c.Status, c.Reason, c.Message)
		status = c.Status
		if c.LastTransitionTime == "" {
			text += " (no time)"
		}
	}
	return status, text
}

func (w *world) untilCondition(t *testing.T, name, want string) string {
	t.Helper()
	var text string
	until(t, func() (bool, string) {
		var status string
		status, text = w.condition(t, name)
		return status == want, name + ": " + text
	})
	return text
}

// add records what was seen.
func (w *world) add(name string, lines ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.Join(lines, "\n")
	for _, n := range neutral {
		text = n.pattern.ReplaceAllString(text, n.name)
	}
	w.seen[name] = strings.TrimRight(text, "\n")
}

// neutral are names for what differs by nature.
var neutral = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uid>"},
	{regexp.MustCompile(`x{100,}`), "<many x>"},
	{regexp.MustCompile(`(127\.0\.0\.1|\[::1\]):\d+`), "<address>"},
	{regexp.MustCompile(`localhost:\d+`), "localhost:<port>"},
	{regexp.MustCompile(`(hash=)[^"]*`), "$1<hash>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "<time>"},
}

// parseRecord reads what String wrote: rows by their names.
func parseRecord(text string) map[string]string {
	seen := map[string]string{}
	for _, part := range strings.Split(text, "\n=== ")[1:] {
		name, lines, _ := strings.Cut(part, "\n")
		seen[name] = strings.TrimRight(lines, "\n")
	}
	return seen
}

// String returns the rows that were seen, sorted.
func (w *world) String() string {
	var names []string
	for name := range w.seen {
		names = append(names, name)
	}
	slices.Sort(names)
	text := "Rows, and what an aggregator does; see behind_test.go.\n"
	for _, name := range names {
		text += "\n=== " + name + "\n" + w.seen[name] + "\n"
	}
	return text
}
