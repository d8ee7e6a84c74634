package crd_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/crd"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func shop(t *testing.T) *model.Program {
	t.Helper()
	data, err := os.ReadFile("testdata/shop.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return loadtest.Program(t, string(data))
}

// TestGolden compares a document and its remarks with the golden files.
func TestGolden(t *testing.T) {
	p := shop(t)
	p.Header = "// Copyright of nobody.\n//\n// All rights given."
	files, err := crd.Emitter().Emit(plan.New(p))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].Name != crd.FileName("shop.example.com", "widgets") ||
		!crd.Emitter().Owns(files[0].Name) {
		t.Fatalf("%v", files)
	}
	if !bytes.Contains(files[0].Content[:200], []byte(emit.Notice)) {
		t.Error("the document doesn't say that it is generated")
	}
	golden(t, "testdata/"+files[0].Name, files[0].Content)
	again, err := crd.Emitter().Emit(plan.New(p))
	if err != nil || !bytes.Equal(again[0].Content, files[0].Content) {
		t.Error("the second run differs", err)
	}
	var remarks strings.Builder
	for _, r := range crd.Remarks(plan.New(p)) {
		r.Pos.Filename = filepath.Base(filepath.Dir(r.Pos.Filename)) + "/" + filepath.Base(r.Pos.Filename)
		remarks.WriteString(r.Error() + "\n")
	}
	golden(t, "testdata/remarks.txt", []byte(remarks.String()))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from the golden file; run with -update and look", name)
	}
}

const kind = `
import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
MARKERtype Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	Spec Spec ` + "`json:\"spec\"`" + `
}
`

func version(name, clause, marker, spec string) string {
	return "-- apis/shop/" + name + "/types.go --\n" + clause + "package " + name + "\n" +
		strings.Replace(kind, "MARKER", marker, 1) + spec + "\n"
}

// TestFaults: a type without a possible definition is an error at its line.
func TestFaults(t *testing.T) {
	const asked = "-- apis/doc.go --\n// +apigen:crds=../crd\npackage apis\n"
	const group = "// +groupName=shop.example.com\n"
	for name, c := range map[string]struct{ archive, want string }{
		"a type that contains itself": {
			asked + version("v1", group, "",
				"// Spec is one.\ntype Spec struct {\n\tNext *Spec `json:\"next,omitempty\"`\n}"),
			"apis/shop/v1/types.go:14:2: Spec contains itself here, which a CustomResourceDefinition can't express: " +
				"mark the field +kubebuilder:validation:Schemaless",
		},
		"one that contains itself through another": {
			asked + version("v1", group, "",
				"// Spec is one.\ntype Spec struct {\n\tNext map[string]Other `json:\"next,omitempty\"`\n}\ntype "+
					"Other []Spec"),
			"Spec contains itself here",
		},
		"the core group": {
			asked + version("v1", "// +groupName=\n", "", "type Spec struct{}"),
			"there is no kind below example.com/test/apis",
		},
		"a version that is stored and left out": {
			asked + version("v1", group, "// +kubebuilder:storageversion\n// +kubebuilder:skipversion\n",
				"type Spec struct{}") +
				version("v1beta1", group, "", "type Spec struct{}") +
				version("v1beta2", group, "", "type Spec struct{}"),
			"kind Widget is stored in v1, which its CustomResourceDefinition doesn't have",
		},
		"nothing to write": {
			asked + strings.ReplaceAll(version("v1", group, "", "type Spec struct{}"), "-- apis/", "-- others/"),
			"apis/doc.go:1:4: there is no kind below example.com/test/apis to write a CustomResourceDefinition of",
		},
		"one folder for two": {
			asked + version("v1", group, "", "type Spec struct{}") +
				"-- apis/shop/doc.go --\n// +apigen:crds=../../crd\npackage shop\n",
			"would go to the same folder: name another",
		},
	} {
		t.Run(name, func(t *testing.T) {
			faults := crd.Emitter().Faults(plan.New(loadtest.Program(t, c.archive)))
			if !strings.Contains(filepath.ToSlash(faults.Error()), c.want) {
				t.Errorf("got %v, want %s", faults, c.want)
			}
		})
	}
}

// TestSkipped: versions that a marker skips are left out, and a remaining version is stored.
func TestSkipped(t *testing.T) {
	const group = "// +groupName=shop.example.com\n"
	const asked = "-- apis/doc.go --\n// +apigen:crds=../crd\npackage apis\n"
	files, err := crd.Emitter().Emit(plan.New(loadtest.Program(t, asked+
		version("v1", group, "// +kubebuilder:skipversion\n", "type Spec struct{}")+
		version("v1beta1", group, "// +kubebuilder:unservedversion\n", "type Spec struct{}")+
		version("v1alpha1", group+"// +kubebuilder:skip\n", "", "type Spec struct{}"))))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Spec struct {
			Versions []struct {
				Name            string
				Served, Storage bool
			}
		}
	}
	if err := yaml.Unmarshal(files[0].Content, &document); err != nil {
		t.Fatal(err)
	}
	if v := document.Spec.Versions; len(v) != 1 || v[0].Name != "v1beta1" || v[0].Served || !v[0].Storage {
		t.Errorf("versions %+v", v)
	}
}

// TestRefusals: what kube-apiserver refuses of a definition, though a server of one's own is fine, is a warning at its
// line. That it does refuse it is tested in the module generator/conformance/crd.
func TestRefusals(t *testing.T) {
	const asked = "-- apis/doc.go --\n// +apigen:crds=../crd\npackage apis\n"
	const group = "// +groupName=shop.example.com\n"
	const scale = "// +kubebuilder:subresource:scale:specpath=%s,statuspath=%s\n"
	const spec = "type Spec struct {\n\tA string `json:\"a\"`\n\tN int32 `json:\"n\"`\n\tF float64 `json:\"f\"`\n\tL " +
		"[]string `json:\"l\"`\n}"
	field := func(text string) string {
		return "type Spec struct {\n" + text + "\n}\ntype Part struct {\n\tA string `json:\"a\"`\n}"
	}
	for name, c := range map[string]struct{ archive, want string }{
		"a group of Kubernetes": {version("v1", "// +groupName=shop.k8s.io\n", "", spec),
			"7:6: group shop.k8s.io is Kubernetes' own: mark Widget"},
		"a group without a domain": {version("v1", "// +groupName=shop\n", "", spec),
			"7:6: group shop of Widget isn't a domain with a dot"},
		"that is approved": {
			version("v1", "// +groupName=shop.k8s.io\n",
				"// +kubebuilder:metadata:annotations=\"api-approved.kubernetes.io=none\"\n", spec), "",
		},
		"a number": {version("v1", group, "// +kubebuilder:selectablefield:JSONPath=.spec.f\n",
			spec), "7:4: .spec.f can't be selected by: it is a number with fractions"},
		"metadata": {version("v1", group,
			"// +kubebuilder:selectablefield:JSONPath=.metadata.namespace\n", spec),
			"7:4: .metadata.namespace can't be selected by: it is in the metadata"},
		"a whole number": {version("v1", group, "// +kubebuilder:selectablefield:JSONPath=.spec.n\n",
			spec), ""},
		"a scale": {version("v1", group, fmt.Sprintf(scale, ".spec.n", ".spec.n"), spec),
			"7:4: the statuspath of its scale is .spec.n, and is not below .status"},
		"without a schema": {version("v1", group, "",
			field("\t// +kubebuilder:validation:Schemaless\n\tA string `json:\"a\"`")), "14:2: nothing is said of A, " +
			"which is schemaless"},
		"what changes": {version("v1", group, "",
			field("\t// +listType=atomic\n\tA []Fixed `json:\"a\"`\n\t// +listType=map\n\t// +listMapKey=a\n\tM "+
				"[]Fixed `json:\"m\"`")+"\ntype Fixed struct {\n\t// +k8s:immutable\n\tA string `json:\"a\"`\n}"),
			"23:5: A is immutable, and in a list whose elements can't be followed"},
		"what changes in a list with keys": {version("v1", group, "",
			field("\t// +listType=map\n\t// +listMapKey=a\n\tM []Fixed `json:\"m\"`\n"+
				"\tN map[string]Fixed `json:\"n\"`")+"\n"+
				"type Fixed struct {\n\t// +k8s:immutable\n\tA string `json:\"a\"`\n}"), ""},
		"one of what has no type": {version("v1", group, "",
			"// +kubebuilder:validation:ExactlyOneOf=a;b\n"+field("\tA string `json:\"a,omitempty\"`\n"+
				"\t// +kubebuilder:validation:Schemaless\n\t// +kubebuilder:pruning:PreserveUnknownFields\n"+
				"\tB Part `json:\"b,omitempty\"`")),
			"12:4: +kubebuilder:validation:ExactlyOneOf names b, and the schema has no type for it: give B another " +
				"Go type"},
		"one of what has a type": {version("v1", group, "",
			"// +kubebuilder:validation:ExactlyOneOf=a;b\n"+field("\tA string `json:\"a,omitempty\"`\n"+
				"\tB []Part `json:\"b,omitempty\"`")), ""},
		"a set of objects": {version("v1", group, "",
			field("\t// +listType=set\n\tA []Part `json:\"a\"`")), "13:5: the elements of the set A are objects, and " +
			"not atomic: mark Part with +structType=atomic"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, w := range crd.Emitter().Warnings(plan.New(loadtest.Program(t, asked+c.archive))) {
				got = append(got, fmt.Sprintf("%d:%d: %s", w.Pos.Line, w.Pos.Column,
					strings.TrimPrefix(w.Message, "kube-apiserver refuses the CustomResourceDefinition: ")))
			}
			text := strings.Join(got, "\n")
			if c.want == "" && text != "" || len(got) > 1 || !strings.HasPrefix(text, c.want) {
				t.Errorf("warnings are %q, want %s", got, c.want)
			}
		})
	}
}
