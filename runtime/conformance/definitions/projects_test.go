package definitions

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// definition is a CustomResourceDefinition of a project.
type definition = apiextensionsv1.CustomResourceDefinition

// projects are modules with the definitions of their kinds.
var projects = []string{
	"github.com/cert-manager/cert-manager@v1.21.2", // the first: the test makes objects of its Certificate
	"sigs.k8s.io/cluster-api@v1.14.2",
	"sigs.k8s.io/cluster-api-provider-aws/v2@v2.13.0",
	"github.com/prometheus-operator/prometheus-operator@v0.85.0",
	"github.com/kyverno/kyverno@v1.19.1",
	"github.com/kedacore/keda/v2@v2.21.0",
	"github.com/vmware-tanzu/velero@v1.18.3",
	"knative.dev/serving@v0.51.0",
	"github.com/projectcontour/contour@v1.33.8",
	"github.com/external-secrets/external-secrets@v1.3.2",
	"istio.io/istio@v0.0.0-20260827124520-eed52ebb66ad",
	"istio.io/api@v1.31.4",
	"github.com/cilium/cilium@v1.20.2",
}

// collect returns count definitions of projects. Where these have fewer, copies in other groups make up for the rest. A
// name, or a kind of a group, that occurs more than once counts where it occurs first.
func collect(t *testing.T, count int) []*definition {
	t.Helper()
	download := json.NewDecoder(bytes.NewReader([]byte(command(t, t.TempDir(), "go", append([]string{
		"mod", "download", "-json"}, projects...)...))))
	var all []*definition
	known, webhooks := map[string]bool{}, 0
	for {
		var module struct{ Path, Version, Dir string }
		if err := download.Decode(&module); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		before := len(all)
		for _, crd := range definitionsIn(t, module.Dir) {
			kind := crd.Spec.Group + "/" + crd.Spec.Names.Kind
			if known[crd.Name] || known[kind] {
				continue
			}
			known[crd.Name], known[kind] = true, true
			if c := crd.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
				crd.Spec.Conversion = nil
				webhooks++
			}
			all = append(all, crd)
		}
		t.Logf("%s@%s: %d definitions", module.Path, module.Version, len(all)-before)
	}
	all = all[:min(len(all), count)]
	own := len(all)
	for i := 0; len(all) < count; i++ {
		all = append(all, copyOf(all[i%own], i/own+1))
	}
	t.Logf("%d definitions of projects and %d copies in other groups; %d convert by a webhook, and get conversion None",
		own, count-own, webhooks)
	return all
}

// copyOf returns the same definition in another group.
func copyOf(crd *definition, n int) *definition {
	crd = crd.DeepCopy()
	crd.Spec.Group = "copy" + strconv.Itoa(n) + "." + crd.Spec.Group
	crd.Name = crd.Spec.Names.Plural + "." + crd.Spec.Group
	return crd
}

// definitionsIn returns the definitions in the YAML files of a directory. It leaves out templates, which are no YAML,
// and patches, which have parts of definitions.
func definitionsIn(t *testing.T, dir string) (all []*definition) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err != nil || entry.IsDir() || ext != ".yaml" && ext != ".yml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte("kind: CustomResourceDefinition")) {
			return err
		}
		for document := range bytes.SplitSeq(text, []byte("\n---")) {
			crd := &definition{}
			if yaml.Unmarshal(document, crd) == nil && isWhole(crd) {
				crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
				all = append(all, crd)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// isWhole reports whether a server takes the definition.
func isWhole(crd *definition) bool {
	if crd.APIVersion != apiextensionsv1.SchemeGroupVersion.String() || crd.Kind != "CustomResourceDefinition" ||
		crd.Spec.Group == "" || crd.Name != crd.Spec.Names.Plural+"."+crd.Spec.Group || len(crd.Spec.Versions) == 0 {
		return false
	}
	for i := range crd.Spec.Versions {
		if s := crd.Spec.Versions[i].Schema; s == nil || s.OpenAPIV3Schema == nil {
			return false
		}
	}
	return true
}
