package generator_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/report"
)

// inspected has a kind in two versions, the first of which is stored, with a subresource that takes one kind and
// answers another.
const inspected = `
-- apis/apis.go --
// Package apis collects.
//
// +apigen:groups
package apis
-- apis/estate/v1alpha1/types.go --
// +groupName=estate.example.com
// +k8s:deepcopy-gen=package
package v1alpha1

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +apigen:subresource:name=inspect
type House struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Floors int32 ` + "`json:\"floors\"`" + `
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Inspection struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Inspector string ` + "`json:\"inspector,omitempty\"`" + `
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Findings struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Flaws []Flaw ` + "`json:\"flaws,omitempty\"`" + `
}

type Flaw string

func (h *House) Inspect(ctx context.Context, in *Inspection) (*Findings, error) { return &Findings{}, nil }
-- apis/estate/v1/types.go --
// +groupName=estate.example.com
// +k8s:deepcopy-gen=package
// +k8s:conversion-gen=example.com/test/apis/estate/v1alpha1
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
// +apigen:subresource:name=inspect
type House struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Floors int64 ` + "`json:\"floors\"`" + `
}
`

// payloadsOfV1 are the kinds of the subresource in the second version.
const payloadsOfV1 = `
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Inspection struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Inspector string ` + "`json:\"inspector,omitempty\"`" + `
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Findings struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Flaws []string ` + "`json:\"flaws,omitempty\"`" + `
}
`

// TestPayloadVersions: what a subresource takes and answers is of the version of the URL, where the versions declare
// it. Where only the stored one does, its kind stands for all.
func TestPayloadVersions(t *testing.T) {
	for name, c := range map[string]struct {
		more   string
		wiring map[string]int
	}{
		"the hub's": {"", map[string]int{
			"codec.Conversion[*v1alpha1.Inspection, *v1alpha1.Inspection]": 1, "v1.Inspection": 0,
		}},
		"each version's": {payloadsOfV1, map[string]int{
			"v1.Convert_v1_Inspection_To_v1alpha1_Inspection(in, out, nil)": 1,
			"v1.Convert_v1alpha1_Findings_To_v1_Findings(in, out, nil)":     1,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := loadtest.Unpack(t, loadtest.StableDir(t, "payloads"), inspected+c.more)
			o := generator.Options{Dir: dir, Env: loadtest.Env(), Listings: loadtest.Listings}
			if _, err := generator.Build(t.Context(), o); err != nil {
				t.Fatal(report.Describe(err, dir))
			}
			build := exec.Command("go", "build", "./...")
			build.Dir, build.Env = o.Dir, o.Env
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			wiring := read(t, filepath.Join(dir, "apis/estate/wiring/zz_generated.wiring.go"))
			for want, times := range c.wiring {
				if strings.Count(wiring, want) != times {
					t.Errorf("%q is there %d times, and should be %d times:\n%s", want, strings.Count(wiring, want),
						times, wiring)
				}
			}
		})
	}
}

// TestPayloadOfSomeVersions: a version that lacks one kind of a subresource, and has the other, is a fault.
func TestPayloadOfSomeVersions(t *testing.T) {
	third := strings.Split(inspected, "-- apis/estate/v1/types.go --")[1]
	dir := loadtest.Dir(t, inspected+payloadsOfV1+"-- apis/estate/v1beta1/types.go --"+
		strings.Replace(third, "package v1\n", "package v1beta1\n", 1))
	_, err := generator.Build(t.Context(),
		generator.Options{Dir: dir, Check: true, Env: loadtest.Env(), Listings: loadtest.Listings})
	if err == nil {
		t.Fatal("it was built")
	}
	got := report.Describe(err, dir)
	for _, want := range []string{
		"apis/estate/v1alpha1/types.go:39:17: Inspection, which the subresource inspect takes or answers, is not " +
			"declared in version v1beta1, which has House",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
