package conformance

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWardleClients: the clients of wardle have the API that upstream's generators gave them, package by package.
func TestWardleClients(t *testing.T) {
	dir := addWardle(t, newModule(t), emitted.MatchString)
	write(t, filepath.Join(dir, "pkg", "apis", "doc.go"),
		"// Package apis collects.\n//\n// +apigen:clients=../generated\npackage apis\n")
	run(t, dir, apigen(t), "build", "./...")
	run(t, dir, apigen(t), "build", "--check", "./...")
	const upstream = "k8s.io/sample-apiserver/pkg"
	pairs := map[string]string{}
	for _, pkg := range strings.Fields(run(t, dir, "go", "list", upstream+"/generated/...")) {
		if !strings.Contains(pkg, "/openapi") {
			pairs[modulePath+strings.TrimPrefix(pkg, "k8s.io/sample-apiserver")] = pkg
		}
	}
	for _, pkg := range strings.Fields(run(t, dir, "go", "list", "./pkg/generated/...")) {
		if pairs[pkg] == "" {
			t.Errorf("%s is a package that upstream's generators don't write", pkg)
		}
	}
	checkAPI(t, dir, pairs, map[string]string{modulePath + "/pkg/": upstream + "/"}, nil)
	checkParser(t, filepath.Join(dir, "pkg", "generated", "applyconfiguration"),
		filepath.Join(moduleDir(t, "k8s.io/sample-apiserver"), "pkg", "generated", "applyconfiguration"))
	checkLeftOvers(t, dir)
}

// checkLeftOvers takes away what asked for clients, and then clients go: those of a version, those of all.
func checkLeftOvers(t *testing.T, dir string) {
	t.Helper()
	run(t, dir, "sed", "-i.bak", "/genclient/d", "pkg/apis/wardle/v1beta1/types.go")
	run(t, dir, apigen(t), "build", "./pkg/apis/...")
	left := strings.Fields(run(t, dir, "go", "list", "./pkg/generated/..."))
	if len(left) == 0 || slices.ContainsFunc(left, func(pkg string) bool { return strings.Contains(pkg, "v1beta1") }) {
		t.Errorf("without +genclient in v1beta1 there are %q", left)
	}
	run(t, dir, "go", "vet", "./pkg/generated/...")
	write(t, filepath.Join(dir, "pkg", "apis", "doc.go"), "package apis\n")
	run(t, dir, apigen(t), "build", "./...")
	if _, err := os.Stat(filepath.Join(dir, "pkg", "generated")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without +apigen:clients there still are clients: %v", err)
	}
}

// TestKubernetesClients checks that the clients and apply configurations for k8s.io/api's core/v1 and apps/v1 have the
// API of client-go's.
func TestKubernetesClients(t *testing.T) {
	dir := newModule(t)
	addKubernetes(t, dir)
	addExpansions(t, dir)
	run(t, dir, apigen(t), "build", "./...")
	pairs := map[string]string{}
	for _, group := range []string{"core", "apps"} {
		for ours, theirs := range map[string]string{
			"clientset/versioned/typed/": "kubernetes/typed/", "listers/": "listers/",
			"informers/externalversions/": "informers/", "applyconfiguration/": "applyconfigurations/",
		} {
			pairs[modulePath+"/client/"+ours+group+"/v1"] = "k8s.io/client-go/" + theirs + group + "/v1"
		}
		pairs[modulePath+"/client/clientset/versioned/typed/"+group+"/v1/fake"] =
			"k8s.io/client-go/kubernetes/typed/" + group + "/v1/fake"
		pairs[modulePath+"/client/informers/externalversions/"+group] = "k8s.io/client-go/informers/" + group
	}
	checkAPI(t, dir, pairs, map[string]string{
		modulePath + "/api/":                               "k8s.io/api/",
		modulePath + "/client/clientset/versioned.":        "k8s.io/client-go/kubernetes.",
		modulePath + "/client/clientset/versioned/":        "k8s.io/client-go/kubernetes/",
		modulePath + "/client/listers/":                    "k8s.io/client-go/listers/",
		modulePath + "/client/informers/externalversions/": "k8s.io/client-go/informers/",
		modulePath + "/client/applyconfiguration/":         "k8s.io/client-go/applyconfigurations/",
	}, elsewhere)
	checkParser(t, filepath.Join(dir, "client", "applyconfiguration"),
		filepath.Join(moduleDir(t, "k8s.io/client-go"), "applyconfigurations"))
}

// addKubernetes copies core/v1 and apps/v1 into a module, and asks for their clients.
func addKubernetes(t testing.TB, dir string) {
	t.Helper()
	from := moduleDir(t, "k8s.io/api")
	for _, pkg := range []string{"core/v1", "apps/v1"} {
		copyTree(t, filepath.Join(from, pkg), filepath.Join(dir, "api", pkg), emittedOrProtobuf,
			strings.NewReplacer(`"k8s.io/api/core/v1"`, `"`+modulePath+`/api/core/v1"`))
	}
	write(t, filepath.Join(dir, "api", "doc.go"), `// Package api collects.
//
// +apigen:clients
// +apigen:clients:external=k8s.io/api/autoscaling/v1:k8s.io/client-go/applyconfigurations/autoscaling/v1
package api
`)
}

// addExpansions copies the hand-written parts of client-go's packages for core/v1 and apps/v1: methods of clients and
// listers beyond the generated ones.
func addExpansions(t testing.TB, dir string) {
	t.Helper()
	from := moduleDir(t, "k8s.io/client-go")
	rewrite := strings.NewReplacer(
		`"k8s.io/api/core/v1"`, `"`+modulePath+`/api/core/v1"`, `"k8s.io/api/apps/v1"`, `"`+modulePath+`/api/apps/v1"`,
		`"k8s.io/client-go/kubernetes/`, `"`+modulePath+`/client/clientset/versioned/`)
	for _, group := range []string{"core", "apps"} {
		for theirs, ours := range map[string]string{
			"kubernetes/typed": "clientset/versioned/typed", "listers": "listers",
		} {
			copyTree(t, filepath.Join(from, theirs, group, "v1"), filepath.Join(dir, "client", ours, group, "v1"),
				func(base string) bool {
					return !strings.HasSuffix(base, "_expansion.go") || base == "generated_expansion.go"
				}, rewrite)
		}
	}
}

// elsewhere are the beginnings of names in client-go that have no counterpart here, and why.
var elsewhere = map[string]string{
	"client-go/informers/apps.Interface.V1beta1()": "apps/v1beta1 is not among the clients here",
	"client-go/informers/apps.Interface.V1beta2()": "apps/v1beta2 is not among the clients here",
	"client-go/applyconfigurations/core/v1.TopologySelector": "only storage/v1 refers to it, " +
		"which is not among the clients here",
}

// checkAPI compares the exported API of packages with that of others: no name may be missing, differ or be new. The map
// names gives their name of each of our packages. Names that begin with a key of allowed may differ, for the reason
// that its value gives.
func checkAPI(t *testing.T, dir string, pairs, names, allowed map[string]string) {
	t.Helper()
	met := map[string]bool{}
	eachName(t, dir, pairs, names, func(name, got, want string) {
		if got == want {
			return
		}
		if prefix := prefixOf(name, allowed); prefix != "" {
			met[prefix] = true
			return
		}
		t.Errorf("%s:\n got %s\nwant %s", name, got, want)
	})
	for key := range allowed {
		if !met[key] {
			t.Errorf("%s is said to differ, and doesn't", key)
		}
	}
}

// eachName goes through the exported API of packages and of their counterparts.
func eachName(t *testing.T, dir string, pairs, names map[string]string, compare func(name, got, want string)) {
	t.Helper()
	paths := append(slices.Sorted(maps.Keys(pairs)), slices.Sorted(maps.Values(pairs))...)
	packages := loadTypes(t, dir, paths)
	var replace []string
	for _, from := range slices.Backward(slices.Sorted(maps.Keys(names))) {
		replace = append(replace, from, names[from])
	}
	for _, ours := range slices.Sorted(maps.Keys(pairs)) {
		theirs := pairs[ours]
		if packages[ours] == nil || packages[theirs] == nil {
			t.Errorf("%s or %s is missing", ours, theirs)
			continue
		}
		got, want := exportedAPI(packages[ours], strings.NewReplacer(replace...)),
			exportedAPI(packages[theirs], strings.NewReplacer())
		t.Logf("%s: %d exported names", ours, len(want))
		if len(want) == 0 {
			t.Errorf("%s: nothing is exported", theirs)
		}
		for _, name := range slices.Sorted(maps.Keys(union(got, want))) {
			compare(strings.TrimPrefix(path.Dir(theirs), "k8s.io/")+"/"+path.Base(theirs)+"."+name,
				got[name], want[name])
		}
	}
}

func prefixOf(key string, of map[string]string) string {
	for prefix := range of {
		if strings.HasPrefix(key, prefix) {
			return prefix
		}
	}
	return ""
}

func union(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// TestOddClients: kinds with every marker of clients, called as packages are, and fields of every shape.
func TestOddClients(t *testing.T) {
	dir := newModule(t)
	copyTest(t, "odd", dir)
	run(t, dir, apigen(t), "build", "./...")
	goTest(t, dir, "./odd")
	run(t, dir, "go", "vet", "./apis/...")
}

// TestProjectClients checks that the clients of a project have everything that upstream's generators wrote for them.
// Those were of an older version, which wrote less than today's and named two interfaces otherwise.
func TestProjectClients(t *testing.T) {
	const project = "sigs.k8s.io/network-policy-api"
	dir := newModuleOf(t, "crd")
	from := moduleDirOf(t, "crd", project)
	copyTree(t, filepath.Join(from, "apis"), filepath.Join(dir, "apis"), copies.MatchString,
		strings.NewReplacer(project+"/apis/", modulePath+"/apis/"))
	write(t, filepath.Join(dir, "apis", "doc.go"),
		"// Package apis collects.\n//\n// +apigen:clients=../pkg/client\npackage apis\n")
	run(t, dir, apigen(t), "build", "--lenient", "./...")
	pairs := map[string]string{}
	for _, pkg := range strings.Fields(run(t, dir, "go", "list", project+"/pkg/client/...")) {
		pairs[modulePath+strings.TrimPrefix(pkg, project)] = pkg
	}
	older := strings.NewReplacer("discovery.DiscoveryInterfaces", "discovery.DiscoveryInterface", ".Typed", ".")
	eachName(t, dir, pairs, map[string]string{modulePath + "/": project + "/"}, func(name, got, want string) {
		if want != "" && older.Replace(got) != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	})
}
