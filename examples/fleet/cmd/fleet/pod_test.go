package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const pods = "/api/v1/namespaces/default/pods"

// TestPodsOfKubectl checks that kubectl's commands for pods work on a kind of this project with the same names.
func TestPodsOfKubectl(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl here; make kubectl builds one: ", err)
	}
	b := start(t)
	board := httptest.NewServer(b.agent)
	t.Cleanup(board.Close)
	b.post(pods, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"crew"},"spec":{"containers":[{"name":"main"}]}}`,
		http.StatusCreated)
	status, err := json.Marshal(map[string]any{"status": map[string]any{"phase": "Running", "address": board.URL}})
	if err != nil {
		t.Fatal(err)
	}
	if code, text := b.ask(http.MethodPatch, pods+"/crew/status", string(status),
		"Content-Type", "application/merge-patch+json"); code != http.StatusOK {
		t.Fatalf("%d %s", code, text)
	}
	b.agent.Logf("weighed anchor")
	b.agent.Logf("set sail")
	for _, c := range []struct{ args, stdin, stdout, stderr string }{
		{"get pods --no-headers -o custom-columns=N:.metadata.name,P:.status.phase", "", "crew   Running\n", ""},
		{"logs crew", "", "weighed anchor\nset sail\n", ""},
		{"logs crew --tail=1 -c main", "", "set sail\n", ""},
		{"logs crew -c other", "", "", "container other is not valid for pod crew"},
		{"exec crew -- echo aye aye", "", "aye\naye\n", ""},
		{"exec -i crew -- cat", "all hands\n", "all hands\n", ""},
		{"exec crew -- fail 3", "", "", "command terminated with exit code 3"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		cmd := exec.CommandContext(ctx, "kubectl",
			append([]string{"--kubeconfig", b.path, "-n", "default"}, strings.Fields(c.args)...)...)
		var stdout, stderr bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.stdin), &stdout, &stderr
		err := cmd.Run()
		cancel()
		if (err != nil) != (c.stderr != "") || stdout.String() != c.stdout ||
			!strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("kubectl %s: %v\nstdout %q\nstderr %q", c.args, err, &stdout, &stderr)
		}
	}
}
