package conformance

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// projects are modules whose types are made for controller-gen, and the folders of their packages. The module that
// compares definitions requires them. Karpenter's packages can't be in one process twice, since they add themselves to
// a scheme of all.
var projects = []struct {
	module  string
	folders []string
	// converts: conversions are held, too, around functions written by hand.
	converts bool
}{
	{module: "sigs.k8s.io/gateway-api", folders: []string{"apis", "apisx"}},
	{module: "github.com/cert-manager/cert-manager", folders: []string{"pkg/apis"}},
	{module: "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring", folders: []string{"."}},
	{module: "sigs.k8s.io/kueue", folders: []string{"apis"}},
	{module: "sigs.k8s.io/mcs-api", folders: []string{"pkg/apis"}},
	{module: "sigs.k8s.io/network-policy-api", folders: []string{"apis"}},
	{module: "sigs.k8s.io/cluster-api/api", folders: []string{"."}, converts: true},
}

// copies are the files of copies.
var copies = regexp.MustCompile(`\.deepcopy\.go$`)

// TestProjects: types of projects that use controller-gen are copied as by its functions, on fuzzed objects, under its
// signatures; and nothing is shared that those don't share.
func TestProjects(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the packages of real projects")
	}
	for _, p := range projects {
		t.Run(p.module, func(t *testing.T) {
			only, emitted, held := "deepcopy", copies.MatchString, copiesOf
			if p.converts {
				only, emitted, held = "deepcopy,conversion,defaults", emittedOrProtobuf, functionsOf
			}
			dir := newModuleOf(t, "crd")
			from := moduleDirOf(t, "crd", p.module)
			ours, dirs, rename := map[string]string{}, map[string]string{}, []string(nil)
			for _, pkg := range copied(t, from, p.folders) {
				theirs := strings.TrimSuffix(p.module+"/"+pkg, "/.")
				ours[theirs], dirs[theirs] = modulePath+"/project/"+pkg, filepath.Join(from, filepath.FromSlash(pkg))
				rename = append(rename, `"`+theirs+`"`, `"`+ours[theirs]+`"`, "="+theirs+"\n", "="+ours[theirs]+"\n")
			}
			for theirs, mine := range ours {
				to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(mine, modulePath)))
				copyFolder(t, dirs[theirs], to, emitted, strings.NewReplacer(rename...))
			}
			run(t, dir, apigen(t), "build", "--lenient", "--only", only, "./project/...")
			compareFunctions(t, dir, ours, dirs, held)
		})
	}
}

// copied are the packages below folders whose types have copies made by controller-gen or deepcopy-gen, relative to a
// root.
func copied(t *testing.T, root string, folders []string) []string {
	t.Helper()
	var out []string
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(d.Name(), ".deepcopy.go") {
				return err
			}
			pkg, err := filepath.Rel(root, filepath.Dir(path))
			if pkg = filepath.ToSlash(pkg); !slices.Contains(out, pkg) {
				out = append(out, pkg)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
