package conformance

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAPIServers compares the copies, conversions and defaults of aggregated API servers that have an internal version
// with upstream's: the functions have the same signatures, give the same results for fuzzed objects, and share memory
// only where upstream's do.
func TestAPIServers(t *testing.T) {
	for _, server := range []struct {
		module   string
		packages string
		with     string // what else their packages import of the module
		fillers  []string
	}{
		{
			module:   "k8s.io/apiextensions-apiserver",
			packages: "apiextensions apiextensions/v1 apiextensions/v1beta1",
			with:     "apiextensions/fuzzer",
			fillers:  []string{"apiextensions"},
		},
		{
			module:   "k8s.io/kube-aggregator",
			packages: "apiregistration apiregistration/v1 apiregistration/v1beta1",
		},
		{
			module: "k8s.io/metrics",
			packages: "metrics metrics/v1 metrics/v1alpha1 metrics/v1beta1 " +
				"custom_metrics custom_metrics/v1beta1 custom_metrics/v1beta2 " +
				"external_metrics external_metrics/v1beta1",
		},
	} {
		t.Run(filepath.Base(server.module), func(t *testing.T) {
			dir, from := newModule(t), filepath.Join(moduleDir(t, server.module), "pkg", "apis")
			packages, dirs := map[string]string{}, map[string]string{}
			rename := strings.NewReplacer(server.module+"/pkg/apis/", modulePath+"/apis/")
			for _, pkg := range strings.Fields(server.packages + " " + server.with) {
				copyPackage(t, filepath.Join(from, pkg), filepath.Join(dir, "apis", pkg), rename)
			}
			run(t, dir, apigen(t), "build", "./...")
			for _, pkg := range strings.Fields(server.packages) {
				theirs := server.module + "/pkg/apis/" + pkg
				packages[theirs], dirs[theirs] = modulePath+"/apis/"+pkg, filepath.Join(from, pkg)
			}
			comparePairs(t, dir, packages, dirs, server.fillers...)
		})
	}
}
