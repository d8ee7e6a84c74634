package endpoint_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// openAPI is as much as kubectl needs: the kind, and the parameters of a write.
const openAPI = `{"openapi":"3.0.0","info":{"title":"shop","version":"v1"},
"paths":{"/apis/shop.example.com/v1/namespaces/{namespace}/widgets":{"post":{
 "operationId":"createWidget","x-kubernetes-action":"post",
 "x-kubernetes-group-version-kind":{"group":"shop.example.com","version":"v1","kind":"Widget"},
 "parameters":[{"name":"dryRun","in":"query","schema":{"type":"string"}},
 {"name":"fieldValidation","in":"query","schema":{"type":"string"}}],
 "responses":{"200":{"description":"OK"}}},
 "patch":{"x-kubernetes-action":"patch",
 "x-kubernetes-group-version-kind":{"group":"shop.example.com","version":"v1","kind":"Widget"},
 "parameters":[{"name":"dryRun","in":"query","schema":{"type":"string"}},
 {"name":"fieldValidation","in":"query","schema":{"type":"string"}}],
 "responses":{"200":{"description":"OK"}}}}},
"components":{"schemas":{"com.example.shop.v1.Widget":{"description":"A widget is sold.","type":"object",
 "x-kubernetes-group-version-kind":[{"group":"shop.example.com","version":"v1","kind":"Widget"}],
 "properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"},
  "spec":{"type":"object","properties":{"color":{"type":"string","description":"What it looks like."}}}}}}}}`

// machine is the kubectl of the machine, pointed at a server.
type machine struct {
	kubectl, dir, url string
}

func newMachine(t *testing.T, target *target) *machine {
	t.Helper()
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("this machine has no kubectl")
	}
	return &machine{kubectl, t.TempDir(), target.url}
}

func (m *machine) command(ctx context.Context, args ...string) *exec.Cmd {
	args = append([]string{"--server=" + m.url, "--cache-dir=" + filepath.Join(m.dir, "cache")}, args...)
	command := exec.CommandContext(ctx, m.kubectl, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull, "HOME="+m.dir)
	return command
}

// run runs kubectl, and looks for want in what it prints.
func (m *machine) run(t *testing.T, fails bool, want string, args ...string) {
	t.Helper()
	out, err := m.command(t.Context(), args...).CombinedOutput()
	if (err != nil) != fails || !strings.Contains(string(out), want) {
		t.Errorf("kubectl %v: %v\n%swant %q", args, err, out, want)
	}
}

// TestKubectlWatches reads the lines of kubectl get -w, each before it does what makes the next.
func TestKubectlWatches(t *testing.T) {
	target := newTarget(t)
	m := newMachine(t, target)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	watch := m.command(ctx, "get", "widgets", "-w", "--output-watch-events")
	pipe, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(pipe)
	expect := func(words ...string) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("no line with %q: %v", words, lines.Err())
		}
		if got := strings.Fields(lines.Text()); len(got) < len(words) || !slices.Equal(got[:len(words)], words) {
			t.Fatalf("%q, want %q", lines.Text(), words)
		}
	}
	expect("EVENT", "NAME", "COLOR", "AGE")
	expect("ADDED", "a", "blue")
	m.run(t, false, "patched", "patch", "widget", "a", "--type=merge", "-p", `{"spec":{"color":"red"}}`)
	expect("MODIFIED", "a", "red")
	m.run(t, false, "deleted", "delete", "widget", "a")
	expect("DELETED", "a", "red")
	cancel()
	_ = watch.Wait() // it was killed
}

// TestKubectl drives a server with the kubectl of the machine, if there is one.
func TestKubectl(t *testing.T) {
	target := newTarget(t)
	m := newMachine(t, target)
	manifest := filepath.Join(m.dir, "widget.yaml")
	write := func(color, more string) {
		text := "apiVersion: shop.example.com/v1\nkind: Widget\nmetadata:\n  name: k\nspec:\n  color: " + color +
			"\n" + more
		if err := os.WriteFile(manifest, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(fails bool, want string, args ...string) {
		t.Helper()
		m.run(t, fails, want, args...)
	}
	write("red", "")
	run(false, "created (server dry run)", "create", "-f", manifest, "--dry-run=server")
	run(false, "widgets   wg           shop.example.com/v1   true         Widget", "api-resources")
	run(false, "What it looks like.", "explain", "widgets.spec")
	run(false, "widget.shop.example.com/k created", "create", "-f", manifest)
	run(true, `widgets.shop.example.com "k" already exists`, "create", "-f", manifest)
	run(false, "k      red", "get", "wg")
	run(false, "NAMESPACE   NAME   COLOR   AGE", "get", "wg", "-A")
	run(false, "color: red", "get", "widget", "k", "-o", "yaml")
	run(false, "widget.shop.example.com/k", "get", "widgets", "-o", "name", "--field-selector", "spec.color=red")
	run(true, "field label not supported: spec.size", "get", "widgets", "--field-selector", "spec.size=1")
	run(false, "configured", "apply", "-f", manifest)
	write("green", "")
	run(false, "configured", "apply", "-f", manifest)
	run(false, "k      green", "get", "widget", "k")
	run(false, "unchanged", "apply", "-f", manifest)
	run(false, "replaced", "replace", "-f", manifest)
	run(false, "patched", "patch", "widget", "k", "--type=json", "-p",
		`[{"op":"replace","path":"/spec/color","value":"blue"}]`)
	run(false, "patched", "patch", "widget", "k", "--type=merge", "--subresource=status", "-p",
		`{"status":{"phase":"Sold"}}`)
	run(false, "Sold", "get", "widget", "k", "-o", "jsonpath={.status.phase}")
	run(false, "labeled", "label", "widget", "k", "a=b")
	run(false, "k      blue", "get", "widgets", "-l", "a=b", "--chunk-size=1")
	run(false, "condition met", "wait", "widget/k", "--for=jsonpath={.status.phase}=Sold", "--timeout=5s")
	write("green", "  bogus: 1\n")
	run(true, `unknown field "spec.bogus"`, "apply", "-f", manifest)
	run(false, `unknown field "spec.bogus"`, "apply", "-f", manifest, "--validate=warn")
	run(true, `unknown field "spec.bogus"`, "apply", "--server-side", "-f", manifest, "--validate=false")
	run(false, "deleted", "delete", "widget", "k")
	run(true, "NotFound", "get", "widget", "k")
	run(false, `widget.shop.example.com "a" deleted`, "delete", "widgets", "--all")
	run(false, "No resources found", "get", "widgets")
	run(true, `the server doesn't have a resource type "gizmos"`, "get", "gizmos")
}
