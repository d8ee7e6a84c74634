package controllers

import (
	"path/filepath"
	"testing"
)

var clusterAPI = program{
	name: "cluster-api", module: "sigs.k8s.io/cluster-api", version: "v1.14.2", folder: "core",
}

// TestClusterAPI: Cluster API's core manager reconciles clusters and machines, whose infrastructure the script
// provides. Its webhooks admit and convert, with a certificate of cert-manager.
func TestClusterAPI(t *testing.T) {
	long(t)
	issuing, port, certs := freePort(t), freePort(t), t.TempDir()
	c := start(t, "cert-manager/cert-manager-webhook=127.0.0.1:"+issuing,
		"capi-system/capi-webhook-service=127.0.0.1:"+port)
	c.startCertManager(t, issuing)
	manifests := run(t, ".", "kubectl", "kustomize", filepath.Join(clusterAPI.source(t), "core", "config", "default"))
	deployments := c.install(t, manifests)
	c.awaitSecret(t, certs, "capi-system", "capi-webhook-service-cert")
	c.run(t, process{
		deployment: deployments["capi-controller-manager"],
		binary:     clusterAPI.build(t),
		extra: []string{"--webhook-port=" + port, "--webhook-cert-dir=" + certs, "--health-addr=127.0.0.1:0",
			"--leader-elect=false"}, // it elects a leader in pods alone: nothing else tells it the namespace
		variables: []string{"CAPI_DIAGNOSTICS_ADDRESS=127.0.0.1:0"},
	})
	eventually(t, func() error {
		_, err := c.try(`{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDrainRule",
"metadata": {"name": "probe", "namespace": "default"}, "spec": {"drain": {"behavior": "Skip"}}}`,
			"create", "--dry-run=server", "-f", "-")
		return err
	})
	c.play(t, "clusterapi")
}
