package controllers

import (
	"os"
	"path/filepath"
	"testing"
)

var gatekeeper = program{
	name: "gatekeeper", module: "github.com/open-policy-agent/gatekeeper/v3", version: "v3.23.1",
}

// TestGatekeeper: constraints refuse and report, and mutators change what is written.
func TestGatekeeper(t *testing.T) {
	long(t)
	port, certs := freePort(t), t.TempDir()
	c := start(t, "gatekeeper-system/gatekeeper-webhook-service=127.0.0.1:"+port)
	manifests, err := os.ReadFile(filepath.Join(gatekeeper.source(t), "deploy", "gatekeeper.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	deployments, binary := c.install(t, string(manifests)), gatekeeper.build(t)
	ports := []string{"--health-addr=127.0.0.1:0", "--prometheus-port=0", "--debug-use-fake-pod", "--cert-dir=" + certs}
	c.run(t, process{
		deployment: deployments["gatekeeper-controller-manager"], binary: binary,
		extra: append([]string{"--host=127.0.0.1", "--port=" + port}, ports...),
	})
	c.awaitSecret(t, certs, "gatekeeper-system", "gatekeeper-webhook-server-cert")
	c.run(t, process{
		deployment: deployments["gatekeeper-audit"], binary: binary,
		extra: append([]string{"--audit-interval=5", "--api-cache-dir=" + t.TempDir(), "--host=127.0.0.1",
			"--port=" + freePort(t)}, ports...),
	})
	c.play(t, "gatekeeper")
}
