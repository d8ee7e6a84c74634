package crd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"apigen.dev/generator/internal/emit/crd"
	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/program"
)

// source is a project whose packages both generators read.
type source struct {
	name string
	// below is the import path that all its packages are below.
	below    string
	patterns []string
	// embedded: the project asks for the metadata of objects inside of objects.
	embedded bool
}

var sources = []source{
	{name: "kinds", below: "apigen.dev/generator/conformance/crd/kinds", patterns: []string{"./kinds/..."}},
	{name: "kinds with metadata", below: "apigen.dev/generator/conformance/crd/kinds",
		patterns: []string{"./kinds/..."}, embedded: true},
	project("gateway-api", "sigs.k8s.io/gateway-api", "apis/v1", "apis/v1beta1", "apis/v1alpha2", "apis/v1alpha3",
		"apisx/v1alpha1"),
	project("cluster-api", "sigs.k8s.io/cluster-api/api", "core/...", "bootstrap/...", "controlplane/...", "addons/...",
		"ipam/...", "runtime/v1beta2"),
	project("karpenter", "sigs.k8s.io/karpenter", "pkg/apis/v1", "pkg/apis/v1alpha1"),
	project("cert-manager", "github.com/cert-manager/cert-manager", "pkg/apis/acme/v1", "pkg/apis/certmanager/v1"),
	project("prometheus-operator", "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring", "..."),
	project("kueue", "sigs.k8s.io/kueue", "apis/kueue/..."),
	project("mcs-api", "sigs.k8s.io/mcs-api", "pkg/apis/..."),
	project("jobset", "sigs.k8s.io/jobset", "api/jobset/..."),
	project("lws", "sigs.k8s.io/lws", "api/leaderworkerset/..."),
	project("source-controller", "github.com/fluxcd/source-controller/api", "..."),
	project("kustomize-controller", "github.com/fluxcd/kustomize-controller/api", "..."),
	project("helm-controller", "github.com/fluxcd/helm-controller/api", "..."),
	project("notification-controller", "github.com/fluxcd/notification-controller/api", "..."),
	project("external-snapshotter", "github.com/kubernetes-csi/external-snapshotter/client/v8",
		"apis/volumesnapshot/..."),
	project("network-policy-api", "sigs.k8s.io/network-policy-api", "apis/..."),
}

// project is a source in a module.
func project(name, module string, packages ...string) source {
	s := source{name: name, below: module}
	for _, p := range packages {
		s.patterns = append(s.patterns, module+"/"+p)
	}
	s.embedded = name == "prometheus-operator"
	return s
}

// controllerGen builds controller-gen.
func controllerGen(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "controller-gen")
	run(t, "go", "build", "-o", path, "sigs.k8s.io/controller-tools/cmd/controller-gen")
	return path
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out.String())
	}
}

// theirs are controller-gen's documents by their file names.
func (s source) theirs(t *testing.T, tool string) map[string]any {
	t.Helper()
	dir := t.TempDir()
	options := "crd:allowDangerousTypes=true,omitToolVersion=true"
	if s.embedded {
		options += ",generateEmbeddedObjectMeta=true"
	}
	args := []string{options, "output:crd:dir=" + dir}
	for _, p := range s.patterns {
		args = append(args, "paths="+p)
	}
	run(t, tool, args...)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = parse(t, data)
	}
	return out
}

// program is what apigen reads of the packages, with a package above them that asks for definitions.
func (s source) program(t *testing.T) *model.Program {
	t.Helper()
	res, err := program.Read(t.Context(), program.Options{Options: load.Options{Patterns: s.patterns}})
	if err != nil {
		t.Fatal(err)
	}
	p := res.Program
	p.Packages = append(p.Packages,
		&model.Package{Path: s.below,
			PackageProducts: model.PackageProducts{CRDs: &model.Folder{Dir: "crds"}, EmbeddedMetadata: s.embedded},
			Output:          true})
	return p
}

// ours are apigen's.
func (s source) ours(t *testing.T) map[string]any {
	t.Helper()
	p := plan.New(s.program(t))
	if faults := crd.Emitter().Faults(p); len(faults) > 0 {
		t.Fatal(faults)
	}
	files, err := crd.Emitter().Emit(p)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for _, f := range files {
		out[f.Name] = parse(t, f.Content)
	}
	return out
}

func parse(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
