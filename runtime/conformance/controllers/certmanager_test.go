package controllers

import (
	"path/filepath"
	"testing"
)

// certManager is the last release whose mains are in its module: later ones are modules of their own, which no version
// of the module proxy has.
var certManager = program{module: "github.com/cert-manager/cert-manager", version: "v1.11.5"}

var helm = program{name: "helm", module: "helm.sh/helm/v3", version: "v3.19.0", folder: "cmd/helm"}

func (p program) main(name, folder string) program {
	p.name, p.folder = name, folder
	return p
}

// certManagerManifests renders the chart of cert-manager as its release does: with its definitions, and a version.
func certManagerManifests(t *testing.T) string {
	t.Helper()
	source, chart := certManager.source(t), filepath.Join(t.TempDir(), "chart")
	from := filepath.Join(source, "deploy", "charts", "cert-manager")
	run(t, ".", "cp", "-r", "--no-preserve=mode", from, chart)
	run(t, chart, "mv", "Chart.template.yaml", "Chart.yaml")
	definitions, err := filepath.Glob(filepath.Join(source, "deploy", "crds", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, definition := range definitions {
		run(t, ".", "cp", "--no-preserve=mode", definition, filepath.Join(chart, "templates"))
	}
	return run(t, chart, helm.build(t), "template", "cert-manager", ".", "--namespace=cert-manager", "--no-hooks",
		"--kube-version=1.36")
}

// startCertManager installs cert-manager and runs it: its controller, its webhook, and the injector of authorities.
func (c *controlplane) startCertManager(t *testing.T, webhookPort string) {
	t.Helper()
	c.kubectl(t, "", "create", "namespace", "cert-manager")
	deployments := c.install(t, certManagerManifests(t))
	c.run(t, process{
		deployment: deployments["cert-manager-webhook"],
		binary:     certManager.main("cert-manager-webhook", "cmd/webhook").build(t),
		extra: []string{"--kubeconfig=$(KUBECONFIG)", "--secure-port=" + webhookPort,
			"--healthz-port=" + freePort(t)},
	})
	c.run(t, process{
		deployment: deployments["cert-manager-cainjector"],
		binary:     certManager.main("cert-manager-cainjector", "cmd/cainjector").build(t),
		extra:      []string{"--kubeconfig=$(KUBECONFIG)"},
	})
	c.run(t, process{
		deployment: deployments["cert-manager"],
		binary:     certManager.main("cert-manager-controller", "cmd/controller").build(t),
		extra:      []string{"--kubeconfig=$(KUBECONFIG)", "--metrics-listen-address=127.0.0.1:0"},
	})
	eventually(t, func() error { // the injector wrote the webhook's authority, and the webhook answers
		_, err := c.try(issuer, "create", "--dry-run=server", "-f", "-")
		return err
	})
}

const issuer = `{"apiVersion": "cert-manager.io/v1", "kind": "Issuer",
"metadata": {"name": "probe", "namespace": "default"}, "spec": {"selfSigned": {}}}`

// TestCertManager: a certificate that signs itself ends in a Secret, and the webhook refuses what it should.
func TestCertManager(t *testing.T) {
	long(t)
	port := freePort(t)
	c := start(t, "cert-manager/cert-manager-webhook=127.0.0.1:"+port)
	c.startCertManager(t, port)
	c.play(t, "certmanager")
}
