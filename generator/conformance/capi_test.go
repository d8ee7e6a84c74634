package conformance

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestClusterAPI: types of Cluster API, most of whose conversions are written by hand around generated functions, are
// converted by ours as by upstream's, and the report of losses names what is left to those.
func TestClusterAPI(t *testing.T) {
	const core = "sigs.k8s.io/cluster-api/api/core"
	dir := newModule(t)
	from := filepath.Join(moduleDir(t, "sigs.k8s.io/cluster-api/api"), "core")
	copyTree(t, from, filepath.Join(dir, "core"), emitted.MatchString,
		strings.NewReplacer(core+"/v1beta", modulePath+"/core/v1beta"))
	report := run(t, dir, "sh", "-c", apigen(t)+" build -v --lenient ./core/... 2>&1")
	for _, want := range []string{
		"v1beta1.Machine <-> v1beta2.Machine:",
		"  spec: by hand: Convert_v1beta1_MachineSpec_To_v1beta2_MachineSpec",
		"  spec.nodeDrainTimeout: left to what is written by hand",
		"  spec.deletion: of the hub, left to what is written by hand",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report doesn't say %q:\n%s", want, report)
		}
	}
	copyTest(t, "compare", filepath.Join(dir, "compare"))
	copyTest(t, "capi", filepath.Join(dir, "capi"))
	goTest(t, dir, "./capi")
}
