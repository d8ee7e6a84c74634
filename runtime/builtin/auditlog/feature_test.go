package auditlog

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
)

// opens is an embedded backend in memory.
type opens struct{}

func (opens) Open(context.Context, string, storage.EmbeddedOptions) (storage.Backend, error) {
	return memory.New(), nil
}

func (opens) Restore(context.Context, string, string, storage.RestoreOptions) error {
	return errors.New("no")
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const everything = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"

// serve runs a server with audit and flags until end is called. client is an administrator's.
func serve(t *testing.T, flags ...string) (client *http.Client, url string, end func() error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	reader, writer := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	command := server.Command(server.Program{Name: "shop", Embedded: opens{},
		Features: []server.Feature{&Feature{}}})
	command.SetArgs(append([]string{"--secure-port=0", "--data-dir=" + dir}, flags...))
	command.SetOut(writer)
	done := make(chan error, 1)
	go func() { err := command.ExecuteContext(ctx); _ = writer.CloseWithError(err); done <- err }()
	t.Cleanup(stop)
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		return nil, "", func() error { return <-done }
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	url = regexp.MustCompile(`https://\S+`).FindString(line)
	config, err := kubeconfig.Read(filepath.Join(dir, "admin.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	if client, err = config.Client(nil, 0); err != nil {
		t.Fatal(err)
	}
	return client, url, func() error { client.CloseIdleConnections(); stop(); return <-done }
}

func get(t *testing.T, client *http.Client, url string) string {
	t.Helper()
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestLogFile: the log has the events of all requests once the server has ended, in every mode, and /metrics count
// them.
func TestLogFile(t *testing.T) {
	for _, mode := range []string{"batch", "blocking", "blocking-strict"} {
		for _, maxSize := range []int{0, 1} {
			t.Run(fmt.Sprint(mode, maxSize), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "logs", "audit.log")
				client, url, end := serve(t, "--audit-policy-file="+write(t, "policy.yaml", everything),
					"--audit-log-path="+path, "--audit-log-mode="+mode, fmt.Sprintf("--audit-log-maxsize=%d", maxSize))
				for range 10 {
					get(t, client, url+"/version")
				}
				metrics := get(t, client, url+"/metrics")
				if !strings.Contains(metrics, "apiserver_audit_event_total 21") ||
					!strings.Contains(metrics, `apiserver_audit_level_total{level="Metadata"} 11`) ||
					!strings.Contains(metrics, "apiserver_audit_requests_rejected_total 0") {
					t.Errorf("metrics:\n%s", regexp.MustCompile("(?m)^apiserver_audit.*$").FindAllString(metrics, -1))
				}
				if err := end(); err != nil {
					t.Fatal(err)
				}
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if n := bytes.Count(data, []byte("\n")); n != 22 {
					t.Errorf("%d events", n)
				}
			})
		}
	}
}

// TestWebhookIsFlushed: a webhook has all events once the server has ended, although no batch was full.
func TestWebhookIsFlushed(t *testing.T) {
	events := make(chan trail.Event, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var list trail.EventList
		if err := json.NewDecoder(r.Body).Decode(&list); err != nil {
			t.Error(err)
		}
		for _, event := range list.Items {
			events <- event
		}
	}))
	defer hook.Close()
	config := "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: '" + hook.URL +
		"'}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a, user: {}}]\n" +
		"current-context: a\n"
	client, url, end := serve(t, "--audit-policy-file="+write(t, "policy.yaml", everything),
		"--audit-webhook-config-file="+write(t, "webhook.kubeconfig", config))
	get(t, client, url+"/version")
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if len(events) != 2 {
		t.Errorf("%d events", len(events))
	}
}

// TestStrictLog: no request runs whose first event could not be written. /dev/full takes no byte.
func TestStrictLog(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	for mode, refused := range map[string]bool{"blocking": false, "blocking-strict": true} {
		client, url, end := serve(t, "--audit-policy-file="+write(t, "policy.yaml", everything),
			"--audit-log-path=/dev/full", "--audit-log-maxsize=0", "--audit-log-mode="+mode)
		if body := get(t, client, url+"/version"); strings.Contains(body, "failed to store audit event") != refused {
			t.Errorf("%s: %s", mode, body)
		}
		if err := end(); err != nil {
			t.Error(err)
		}
	}
}

// TestWithoutPolicy: without a policy, or without a backend, nothing is audited, as in kube-apiserver.
func TestWithoutPolicy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	for _, flag := range []string{"--audit-log-path=" + path,
		"--audit-policy-file=" + write(t, "policy.yaml", everything)} {
		client, url, end := serve(t, flag)
		if metrics := get(t, client, url+"/metrics"); strings.Contains(metrics, "apiserver_audit") {
			t.Errorf("%s: audit has metrics", flag)
		}
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log file: %v", err)
	}
}

func TestBadFlags(t *testing.T) {
	policy := "--audit-policy-file=" + write(t, "policy.yaml", everything)
	for _, test := range []struct{ flags, want string }{
		{"--audit-policy-file=/nowhere", `--audit-policy-file: loading audit policy file: failed to read file path`},
		{"--audit-log-path=x --audit-log-mode=never",
			`invalid audit log mode never, allowed modes are "batch,blocking,blocking-strict"`},
		{"--audit-log-path=x --audit-log-format=xml",
			`invalid audit log format xml, allowed formats are "legacy,json"`},
		{"--audit-log-path=x --audit-log-maxage=-1", "--audit-log-maxage -1 can't be a negative number"},
		{"--audit-log-path=x --audit-log-version=v1", "invalid group version"},
		{"--audit-log-path=x --audit-log-mode=batch --audit-log-batch-buffer-size=0",
			"invalid audit batch log buffer size 0, must be a positive number"},
		{"--audit-log-path=x --audit-log-truncate-max-batch-size=1",
			"invalid audit truncate log max batch size 1, must be greater than max event size (102400)"},
		{"--audit-webhook-config-file=/nowhere", "--audit-webhook-config-file: "},
		{"--audit-webhook-config-file=x --audit-webhook-batch-throttle-qps=0",
			"invalid audit batch webhook throttle QPS 0, must be a positive number"},
	} {
		_, _, end := serve(t, append([]string{policy}, strings.Fields(test.flags)...)...)
		if err := end(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.flags, err)
		}
	}
}

// TestDefaults: the defaults are kube-apiserver's.
func TestDefaults(t *testing.T) {
	command := server.Command(server.Program{Name: "shop", Features: []server.Feature{&Feature{}}})
	for flag, want := range map[string]string{
		"audit-log-mode": "blocking", "audit-log-maxsize": "100", "audit-log-maxage": "366",
		"audit-log-maxbackup":      "100",
		"audit-log-batch-max-size": "1", "audit-log-batch-buffer-size": "10000",
		"audit-log-batch-throttle-enable": "false",
		"audit-webhook-mode":              "batch", "audit-webhook-batch-max-size": "400",
		"audit-webhook-batch-max-wait":     "30s",
		"audit-webhook-batch-throttle-qps": "10", "audit-webhook-batch-throttle-burst": "15",
		"audit-webhook-initial-backoff": "10s", "audit-webhook-truncate-max-event-size": "102400",
		"audit-webhook-truncate-max-batch-size": "10485760", "audit-log-format": "json",
		"audit-log-version": "audit.k8s.io/v1", "audit-log-compress": "false",
	} {
		if got := command.Flag(flag); got == nil || got.DefValue != want {
			t.Errorf("--%s: %+v", flag, got)
		}
	}
}

// TestRotation: a log file that is full gets a successor, and no event is lost between them.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	client, url, end := serve(t, "--audit-policy-file="+write(t, "policy.yaml", everything),
		"--audit-log-path="+filepath.Join(dir, "audit.log"), "--audit-log-maxsize=1")
	const requests = 500
	for range requests {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/version", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("User-Agent", strings.Repeat("a", 1000))
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "audit*.log"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	events := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		events += bytes.Count(data, []byte("\n"))
	}
	if events != 2*requests {
		t.Errorf("%d events", events)
	}
}
