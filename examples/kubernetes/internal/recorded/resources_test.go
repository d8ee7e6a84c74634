package recorded

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// resourcesFile has all resources and subresources of kube-apiserver, with their verbs.
const resourcesFile = "testdata/resources.txt"

// resources lists what a server serves, one resource a line, in the order of names.
func resources(t *testing.T, p *peer) string {
	t.Helper()
	get := func(path string, into any) {
		code, answer, err := p.send(t.Context(), http.MethodGet, path, "application/json", "")
		if err != nil || code != http.StatusOK {
			t.Fatalf("%s: %d %s %v", path, code, answer, err)
		}
		if err := json.Unmarshal(answer, into); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{"/api/v1"}
	var groups metav1.APIGroupList
	get("/apis", &groups)
	for _, group := range groups.Groups {
		for _, version := range group.Versions {
			paths = append(paths, "/apis/"+version.GroupVersion)
		}
	}
	var lines []string
	for _, path := range paths {
		var list metav1.APIResourceList
		get(path, &list)
		for _, r := range list.APIResources {
			slices.Sort(r.Verbs)
			slices.Sort(r.Categories)
			kind := r.Kind
			if r.Group != "" {
				kind = r.Group + "/" + r.Version + " " + kind
			}
			lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s namespaced=%t %s %s %s",
				list.GroupVersion, r.Name, kind, r.Namespaced, strings.Join(r.ShortNames, ","),
				strings.Join(r.Categories, ","), strings.Join(r.Verbs, ","))), " "))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// differences are the resources that one server alone has, each with the reason.
var differences = map[string]string{
	"v1 nodes/proxy NodeProxyOptions namespaced=false create,delete,get,patch,update":      connections,
	"v1 pods/attach PodAttachOptions namespaced=true create,get":                           connections,
	"v1 pods/exec PodExecOptions namespaced=true create,get":                               connections,
	"v1 pods/log Pod namespaced=true get":                                                  connections,
	"v1 pods/portforward PodPortForwardOptions namespaced=true create,get":                 connections,
	"v1 pods/proxy PodProxyOptions namespaced=true create,delete,get,patch,update":         connections,
	"v1 services/proxy ServiceProxyOptions namespaced=true create,delete,get,patch,update": connections,

	"certificates.k8s.io/v1 clustertrustbundles ClusterTrustBundle namespaced=false " + all:      stable,
	"certificates.k8s.io/v1 podcertificaterequests PodCertificateRequest namespaced=true " + all: stable,
	"certificates.k8s.io/v1 podcertificaterequests/status PodCertificateRequest namespaced=true " +
		"get,patch,update": stable,
	"storagemigration.k8s.io/v1 storageversionmigrations StorageVersionMigration namespaced=false " + all: stable,
	"storagemigration.k8s.io/v1 storageversionmigrations/status StorageVersionMigration namespaced=false " +
		"get,patch,update": stable,
}

// Reasons of differences.
const (
	connections = "the server makes no connections to kubelets yet"
	stable      = "Kubernetes 1.37 made the kind stable, and the server doesn't serve it yet"
)

// all are the verbs of most resources.
const all = "create,delete,deletecollection,get,list,patch,update,watch"

// TestResources: the server lists what kube-apiserver lists, but for differences that are explained.
func TestResources(t *testing.T) {
	recorded, err := os.ReadFile(resourcesFile)
	if err != nil {
		t.Fatal(err)
	}
	ours, _ := start(t)
	want := strings.Split(strings.TrimSpace(string(recorded)), "\n")
	got := strings.Split(strings.TrimSpace(resources(t, ours)), "\n")
	for _, line := range want {
		if !slices.Contains(got, line) && differences[line] == "" {
			t.Errorf("kube-apiserver alone: %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) && differences[line] == "" {
			t.Errorf("ours alone: %s", line)
		}
	}
	for line := range differences {
		if slices.Contains(want, line) == slices.Contains(got, line) {
			t.Errorf("no difference any more: %s", line)
		}
	}
}
