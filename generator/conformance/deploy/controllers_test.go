//go:build linux

package deploy

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// controllersVariable names a kube-controller-manager.
const controllersVariable = "KUBE_CONTROLLER_MANAGER"

// control runs the controllers of a kube-controller-manager that look at every kind of a cluster.
func (c *cluster) control(t *testing.T) {
	t.Helper()
	kubeconfig := filepath.Join(c.dir, "controllers.kubeconfig")
	write(t, kubeconfig, []byte(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "`+c.url+`", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: `+adminToken+`}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
`))
	log, err := os.Create(filepath.Join(c.dir, "controllers.log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(os.Getenv(controllersVariable), "--kubeconfig="+kubeconfig,
		"--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig, "--leader-elect=false",
		"--controllers=namespace-controller,garbage-collector-controller", "--secure-port=0",
		"--cert-dir="+c.dir)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("kube-controller-manager's log ends with:\n%s", text[max(0, len(text)-5_000):])
		}
	})
}

// configMap returns a ConfigMap, which has owners.
func configMap(name string, owners ...any) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "ownerReferences": owners},
	}
}

const (
	namespaces = "/api/v1/namespaces"
	configMaps = namespaces + "/default/configmaps"
)

// stored is an object as its server answers with it.
type stored struct {
	Metadata struct {
		UID             string
		OwnerReferences []any
	}
}

// made creates an object, and returns a reference to it that blocks its deletion.
func (c *cluster) made(t *testing.T, collection string, object map[string]any) map[string]any {
	t.Helper()
	var answer stored
	c.until(t, adminToken, "POST", collection, http.StatusCreated, object, &answer)
	return map[string]any{
		"apiVersion": object["apiVersion"], "kind": object["kind"], "uid": answer.Metadata.UID,
		"name": object["metadata"].(map[string]any)["name"], "blockOwnerDeletion": true,
	}
}

// released waits until an object has no owners.
func (c *cluster) released(t *testing.T, path string) {
	t.Helper()
	for late := time.Now().Add(time.Minute); ; {
		var answer stored
		c.until(t, adminToken, "GET", path, http.StatusOK, nil, &answer)
		if len(answer.Metadata.OwnerReferences) == 0 {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%s has the owners %v", path, answer.Metadata.OwnerReferences)
		}
	}
}

// TestControllers: the kube-controller-manager of a cluster deletes what a namespace has in the kinds of a server that
// was applied, and collects garbage there, in each way of a deletion, across both servers.
func TestControllers(t *testing.T) {
	if os.Getenv(controllersVariable) == "" {
		t.Skip("set " + controllersVariable + " to a kube-controller-manager")
	}
	c := startCluster(t)
	c.deploy(t)
	const doomed = "/apis/shop.example.com/v1/namespaces/doomed/widgets"
	c.until(t, adminToken, "GET", widgets, http.StatusOK)
	c.control(t)

	c.until(t, adminToken, "POST", namespaces, http.StatusCreated, map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "doomed"},
	})
	c.until(t, adminToken, "POST", doomed, http.StatusCreated, widget("a"))
	c.until(t, adminToken, "DELETE", namespaces+"/doomed", http.StatusOK)
	c.until(t, adminToken, "GET", namespaces+"/doomed", http.StatusNotFound)
	c.until(t, adminToken, "GET", doomed+"/a", http.StatusNotFound)

	for _, policy := range []string{"Background", "Foreground"} {
		chain := c.chain(t, strings.ToLower(policy))
		c.until(t, adminToken, "DELETE", chain[0]+"?propagationPolicy="+policy, http.StatusOK)
		for _, path := range chain {
			c.until(t, adminToken, "GET", path, http.StatusNotFound)
		}
	}
	chain := c.chain(t, "orphan")
	for i, path := range chain[:len(chain)-1] {
		c.until(t, adminToken, "DELETE", path+"?propagationPolicy=Orphan", http.StatusOK)
		c.until(t, adminToken, "GET", path, http.StatusNotFound)
		c.released(t, chain[i+1])
	}
}

// chain creates objects of both servers, each of which owns the next one, and returns their paths.
func (c *cluster) chain(t *testing.T, prefix string) []string {
	t.Helper()
	first := c.made(t, configMaps, configMap(prefix+"-1"))
	second := c.made(t, widgets, widget(prefix+"-2", first))
	third := c.made(t, widgets, widget(prefix+"-3", second))
	c.made(t, configMaps, configMap(prefix+"-4", third))
	return []string{
		configMaps + "/" + prefix + "-1", widgets + "/" + prefix + "-2", widgets + "/" + prefix + "-3",
		configMaps + "/" + prefix + "-4",
	}
}
