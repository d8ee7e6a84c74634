package deploy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// foreign are the kinds of other projects that a deployment has, and the files of their definitions.
var foreign = map[string]struct{ module, file string }{
	"Issuer": {"github.com/cert-manager/cert-manager@v1.21.2", "deploy/crds/cert-manager.io_issuers.yaml"},
	"Certificate": {
		"github.com/cert-manager/cert-manager@v1.21.2", "deploy/crds/cert-manager.io_certificates.yaml",
	},
	"ServiceMonitor": {
		"github.com/prometheus-operator/prometheus-operator@v0.85.0",
		"example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
	},
}

// TestDefinitionsOfOthers: the definitions that cert-manager and Prometheus operator install accept what is written for
// them.
func TestDefinitionsOfOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("downloads modules")
	}
	r := render(t, "cert-manager", "monitoring")
	for kind, of := range foreign {
		validator := validatorOf(t, filepath.Join(download(t, of.module), of.file))
		if len(r[kind]) == 0 {
			t.Errorf("nothing is written for %s", kind)
		}
		for _, object := range r[kind] {
			if errs := refusals(t, validator, object); len(errs) > 0 {
				t.Errorf("%s: %v", kind, errs.ToAggregate())
			}
		}
	}
}

// TestDefinitionsRefuse: the validators of the test above refuse what a definition doesn't allow.
func TestDefinitionsRefuse(t *testing.T) {
	if testing.Short() {
		t.Skip("downloads modules")
	}
	of := foreign["Certificate"]
	certificate := render(t, "cert-manager")["Certificate"][0]
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(certificate)
	if err != nil {
		t.Fatal(err)
	}
	delete(content["spec"].(map[string]any), "secretName")
	validator := validatorOf(t, filepath.Join(download(t, of.module), of.file))
	errs := validation.ValidateCustomResource(nil, content, validator)
	if !slices.ContainsFunc(errs, func(e *field.Error) bool { return e.Field == "spec.secretName" }) {
		t.Errorf("a certificate without secretName: %v", errs)
	}
}

func refusals(t *testing.T, validator validation.SchemaValidator, object runtime.Object) field.ErrorList {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	delete(content, "status") // of which the Go type writes what a controller is to set
	return validation.ValidateCustomResource(nil, content, validator)
}

// download returns the folder of a module.
func download(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	return found.Dir
}

// validatorOf returns what checks objects by the one version of a definition, as kube-apiserver does.
func validatorOf(t *testing.T, file string) validation.SchemaValidator {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, crd); err != nil {
		t.Fatal(err)
	}
	if len(crd.Spec.Versions) != 1 {
		t.Fatalf("%s has %d versions", crd.Name, len(crd.Spec.Versions))
	}
	schema := &apiextensions.JSONSchemaProps{}
	err = apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema, schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(schema)
	if err != nil {
		t.Fatal(err)
	}
	return validator
}
