package crd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"apigen.dev/generator/emit/crd"
	"apigen.dev/generator/load"
	"apigen.dev/generator/model"
)

// source is a project whose packages both generators read.
type source struct {
	name string
	// below is the import path that all its packages are below.
	below    string
	patterns []string
	embedded bool
}

var sources = []source{
	{name: "gateway-api", below: "sigs.k8s.io/gateway-api", patterns: []string{"sigs.k8s.io/gateway-api/apis/v1", "sigs.k8s.io/gateway-api/apis/v1beta1", "sigs.k8s.io/gateway-api/apis/v1alpha2", "sigs.k8s.io/gateway-api/apis/v1alpha3", "sigs.k8s.io/gateway-api/apisx/v1alpha1"}},
	{name: "cluster-api", below: "sigs.k8s.io/cluster-api/api", patterns: []string{"sigs.k8s.io/cluster-api/api/core/...", "sigs.k8s.io/cluster-api/api/bootstrap/...", "sigs.k8s.io/cluster-api/api/controlplane/...", "sigs.k8s.io/cluster-api/api/addons/...", "sigs.k8s.io/cluster-api/api/ipam/...", "sigs.k8s.io/cluster-api/api/runtime/v1beta2"}},
	{name: "karpenter", below: "sigs.k8s.io/karpenter", patterns: []string{"sigs.k8s.io/karpenter/pkg/apis/v1", "sigs.k8s.io/karpenter/pkg/apis/v1alpha1"}},
	{name: "cert-manager", below: "github.com/cert-manager/cert-manager", patterns: []string{"github.com/cert-manager/cert-manager/pkg/apis/acme/v1", "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"}},
	{name: "prometheus-operator", below: "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring", embedded: true, patterns: []string{"github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/..."}},
	{name: "kueue", below: "sigs.k8s.io/kueue", patterns: []string{"sigs.k8s.io/kueue/apis/kueue/..."}},
	{name: "mcs-api", below: "sigs.k8s.io/mcs-api", patterns: []string{"sigs.k8s.io/mcs-api/pkg/apis/..."}},
	{name: "network-policy-api", below: "sigs.k8s.io/network-policy-api", patterns: []string{"sigs.k8s.io/network-policy-api/apis/..."}},
}

func TestEqual(t *testing.T) {
	tool := controllerGen(t)
	for _, s := range sources {
		t.Run(s.name, func(t *testing.T) {
			theirs, ours := s.theirs(t, tool), s.ours(t)
			for name, want := range theirs {
				got := ours[name]
				if got == nil {
					t.Errorf("%s is missing", name)
					continue
				}
				for _, d := range differences(want, got, name) {
					t.Error(d)
				}
			}
			for name := range ours {
				if theirs[name] == nil {
					t.Errorf("%s is too much", name)
				}
			}
		})
	}
}

func controllerGen(t *testing.T) string {
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

func (s source) theirs(t *testing.T, tool string) map[string]any {
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

func (s source) ours(t *testing.T) map[string]any {
	res, err := load.Load(context.Background(), load.Options{Patterns: s.patterns})
	if err != nil {
		t.Fatal(err)
	}
	p := res.Program
	p.Packages = append(p.Packages, &model.Package{Path: s.below, CRDs: &model.Folder{Dir: "crds"}, EmbeddedMetadata: s.embedded, Output: true})
	files, err := crd.Emit(p)
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
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// differences are the places where two documents differ, lists of names and of rules being sets.
func differences(want, got any, at string) []string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		var out []string
		keys := map[string]bool{}
		for k := range w {
			keys[k] = true
		}
		for k := range g {
			keys[k] = true
		}
		var sorted []string
		for k := range keys {
			sorted = append(sorted, k)
		}
		sort.Strings(sorted)
		for _, k := range sorted {
			out = append(out, differences(w[k], g[k], at+"."+k)...)
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		if strings.HasSuffix(at, ".x-kubernetes-validations") || strings.HasSuffix(at, ".enum") {
			w, g = ordered(w), ordered(g)
		}
		var out []string
		for i := range w {
			out = append(out, differences(w[i], g[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
		return out
	}
	if reflect.DeepEqual(want, got) {
		return nil
	}
	return []string{fmt.Sprintf("%s: controller-gen %#v, apigen %#v", at, want, got)}
}

func ordered(list []any) []any {
	out := append([]any(nil), list...)
	sort.SliceStable(out, func(i, j int) bool { return fmt.Sprint(out[i]) < fmt.Sprint(out[j]) })
	return out
}
