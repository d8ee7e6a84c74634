package exchange

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/conformance/exchange/apis"
	"apigen.dev/runtime/internal/audit/backend"
	"apigen.dev/runtime/internal/audit/policy"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/memory"
)

// The tokens of the users whose requests are audited. The first one is an administrator's.
const (
	adminToken = "recorder"
	bobToken   = "recorder-bob"
)

// auditPolicy is the policy of both servers.
var auditPolicy = filepath.Join("testdata", "audit", "policy.yaml")

// TestAudit: the events of each request are kube-apiserver's, but for IDs, times, addresses and user agents.
func TestAudit(t *testing.T) {
	t.Parallel()
	requests := 0
	for _, path := range scripts(t, "audit") {
		log, groups := &auditLog{}, append(apis.Groups(), coreGroup())
		if filepath.Base(path) == "binary.txt" { // these have protobuf
			groups = builtinGroups()
		}
		ours := startAudited(t, log, groups)
		s := readScript(t, path)
		for _, scene := range s.scenes {
			t.Run(scene.name, func(t *testing.T) {
				a := ours.enter(t, scene)
				for _, e := range scene.exchanges {
					requests++
					e.check(t, a.audited(e, log.events))
				}
			})
		}
		if *differ {
			s.write(t)
		}
	}
	if requests < 60 {
		t.Errorf("%d requests are too few", requests)
	}
}

// startAudited is a server of ours that writes its events to log.
func startAudited(t *testing.T, log *auditLog, groups []registry.Group) *world {
	t.Helper()
	rules, err := policy.ReadFile(auditPolicy)
	if err != nil {
		t.Fatal(err)
	}
	sink := backend.New(backend.Config{Name: "log", Mode: backend.BlockingStrict}, backend.Lines{Out: log},
		backend.NewFailures(slog.Default()))
	tokens := &auth.Tokens{}
	tokens.Add(adminToken, &auth.User{Name: "admin", UID: "1", Groups: []string{auth.Masters}})
	tokens.Add(bobToken, &auth.User{Name: "bob", UID: "2", Groups: []string{"dev"}})
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New()
	running, err := server.New(t.Context(), server.Config{
		Groups:  groups,
		Storage: server.Storage{Backend: store},
		Serving: server.Serving{Listener: listener, Certificate: certified.TLS.Certificates[0]},
		Contribution: server.Contribution{
			Authentication: auth.Authentication{Tokens: []auth.TokenAuthenticator{tokens}},
			Auditor:        &trail.Auditor{Policy: policy.NewEvaluator(rules), Sink: sink},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- running.Run(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = store.Close()
	})
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	return &world{host: listener.Addr().String(), token: adminToken,
		tls: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12, CurvePreferences: []tls.CurveID{tls.X25519},
			ClientSessionCache: tls.NewLRUClientSessionCache(0)}} // cheap handshakes: each request has its connection
}

// auditLog is the log of a server in this process.
type auditLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *auditLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *auditLog) events() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.text.Bytes())
}

// noEvent is what a script says of a request without events.
const noEvent = answerMark + "nothing"

// audited sends a request, and returns the events of it that the log has. If none is expected, it sends another
// request, and looks when the log has the events of that.
func (a *asked) audited(e *exchange, log func() []byte) []string {
	a.Helper()
	id := fmt.Sprintf("%s-%d", a.words["$NS"], time.Now().UnixNano())
	sent := slices.Insert(slices.Clone(e.request), 1, "Audit-ID: "+id)
	m := a.message(sent)
	a.ask(sent)
	wanted := id
	if e.expected() == noEvent {
		wanted = "after-" + id
		a.ask([]string{"GET /version", "Audit-ID: " + wanted})
	}
	if !logged(log, wanted) && wanted != id {
		a.Errorf("the log lacks the events of GET /version")
	}
	var answers []string
	for _, event := range eventsOf(log(), id) {
		answers = append(answers, a.event(event, m))
	}
	if len(answers) == 0 {
		answers = []string{noEvent}
	}
	return answers
}

// logged waits until the log has the last event of a request, and reports whether it came within a minute.
func logged(log func() []byte, id string) bool {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		if events := eventsOf(log(), id); len(events) > 0 && isLast(events[len(events)-1]) {
			return true
		}
	}
	return false
}

func eventsOf(log []byte, id string) []map[string]any {
	var events []map[string]any
	lines := bufio.NewScanner(bytes.NewReader(log))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if !bytes.Contains(lines.Bytes(), []byte(id)) {
			continue
		}
		if event, ok := decode(lines.Bytes()); ok && event["auditID"] == id {
			events = append(events, event)
		}
	}
	return events
}

// isLast reports whether no event follows. One of a request that is refused before its user is known is the only one.
func isLast(event map[string]any) bool {
	user, _ := event["user"].(map[string]any)
	return event["stage"] == "ResponseComplete" || event["stage"] == "Panic" ||
		event["stage"] == "ResponseStarted" && len(user) == 0
}

// event is an event as the file has it.
func (a *asked) event(event map[string]any, m message) string {
	for _, member := range []string{"requestReceivedTimestamp", "stageTimestamp"} {
		if text, _ := event[member].(string); !isMicroTime(text) {
			a.Errorf("%s is %q", member, text)
		}
		delete(event, member)
	}
	if ips, _ := json.Marshal(event["sourceIPs"]); string(ips) != `["127.0.0.1"]` {
		a.Errorf("sourceIPs are %s", ips)
	}
	if event["kind"] != "Event" || event["apiVersion"] != "audit.k8s.io/v1" {
		a.Errorf("the event is of kind %v, %v", event["kind"], event["apiVersion"])
	}
	if annotations, ok := event["annotations"].(map[string]any); ok { // of slow requests alone
		maps.DeleteFunc(annotations, func(key string, _ any) bool {
			return strings.HasPrefix(key, "apiserver.latency.k8s.io/")
		})
	}
	head := fmt.Sprintf("%s%s %s\n", answerMark, event["stage"], event["level"])
	for _, member := range []string{"kind", "apiVersion", "auditID", "sourceIPs", "userAgent", "stage", "level"} {
		delete(event, member)
	}
	return strings.TrimRight(head+a.object(event, m), "\n")
}

func isMicroTime(text string) bool {
	_, err := time.Parse("2006-01-02T15:04:05.000000Z", text)
	return err == nil
}
