package generator_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
)

// TestLenientProducts checks that a lenient run reports a default that doesn't fit, or a rule for other types, and puts
// it into no product. A server that did not set the defaults of its documents would be worse than one that sets none.
func TestLenientProducts(t *testing.T) {
	dir := loadtest.Dir(t, `
-- apis/doc.go --
// +apigen:crds=../crds
// +apigen:reference=../docs
package apis
-- apis/shop/v1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type Lamp struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata,omitempty\"`"+`
	// +default="misfitText"
	Number int32 `+"`json:\"number,omitempty\"`"+`
	// +default=misfitBare
	Bare string `+"`json:\"bare,omitempty\"`"+`
	// +default=ref(Misfit)
	Constant int32 `+"`json:\"constant,omitempty\"`"+`
	// +default=ref(MisfitUnknown)
	Unknown string `+"`json:\"unknown,omitempty\"`"+`
	// +kubebuilder:validation:Enum=on;off
	// +kubebuilder:default=misfitValue
	Switch string `+"`json:\"switch,omitempty\"`"+`
	// +kubebuilder:default={"part":{"misfitMember":1}}
	Parts map[string]Part `+"`json:\"parts,omitempty\"`"+`
	// +kubebuilder:validation:MinItems=7654321
	// +kubebuilder:validation:MaxLength=7654321
	Counted map[string]string `+"`json:\"counted,omitempty\"`"+`
	// +kubebuilder:validation:Pattern=misfitPattern
	// +kubebuilder:validation:MaxProperties=7654321
	// +listType=set
	// +kubebuilder:validation:items:Minimum=7654321
	Flag bool `+"`json:\"flag,omitempty\"`"+`
	// +patchStrategy=misfitStrategy
	Patched []string `+"`json:\"patched,omitempty\" patchStrategy:\"misfitStrategy\" patchMergeKey:\"misfitKey\"`"+`
	// +kubebuilder:validation:Pattern="misfit(Group"
	Matched string `+"`json:\"matched,omitempty\"`"+`
	// +k8s:format=misfit-format
	Formatted string `+"`json:\"formatted,omitempty\"`"+`
	// +kubebuilder:validation:Type=misfitType
	Typed string `+"`json:\"typed,omitempty\"`"+`
	One *Part `+"`json:\"one,omitempty\"`"+`
	// +kubebuilder:validation:Minimum=123456789123456789
	Least int8 `+"`json:\"least,omitempty\"`"+`
	// +kubebuilder:default=fitting
	Good string `+"`json:\"good,omitempty\"`"+`
	Shade Shade `+"`json:\"shade,omitempty\"`"+`
	Box struct {
		// +default="misfitInner"
		Inner bool `+"`json:\"inner,omitempty\"`"+`
	} `+"`json:\"box,omitempty\"`"+`
}

// +kubebuilder:validation:ExactlyOneOf=misfitA;misfitB
type Part struct{}

// +default=7
type Shade string

const Misfit = "misfitConstant"
`)
	o := generator.Options{Listings: loadtest.Listings, Dir: dir, Lenient: true, Env: loadtest.Env()}
	res, err := generator.Build(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	told := res.Warnings.Error()
	for _, want := range []string{
		`types.go:11:5: the default "misfitText" is no int32`,
		`types.go:13:5: marker "+default": "misfitBare" is not a JSON literal`,
		`types.go:15:5: the default ref(Misfit), which is "misfitConstant", is no int32`,
		`types.go:17:5: the default ref(MisfitUnknown) names no constant of package example.com/test/apis/shop/v1`,
		`types.go:20:5: default "misfitValue" of Switch is not one of "on", "off"`,
		`types.go:22:5: the default {"part":{"misfitMember":1}} sets "misfitMember", which Part does not have`,
		`types.go:47:6: the default "misfitInner" is no bool`,
		`types.go:55:4: the default 7 is no string`,
		`types.go:24:5: marker "+kubebuilder:validation:MinItems" is for lists, and Counted is a map`,
		`types.go:27:5: marker "+kubebuilder:validation:Pattern" is for strings, and Flag is true or false`,
		`types.go:34:5: marker "+kubebuilder:validation:Pattern": error parsing regexp`,
		`types.go:36:5: marker "+k8s:format": unknown format "misfit-format"`,
		`marker "+kubebuilder:validation:Type": "misfitType" of Typed is not one of`,
		`types.go:52:4: marker "+kubebuilder:validation:ExactlyOneOf": Part has no field "misfitA"`,
		`types.go:41:5: marker "+kubebuilder:validation:Minimum": no int8 is 123456789123456789 or more`,
		`types.go:33:2: patchStrategy of Patched: there is no strategy "misfitStrategy"`,
	} {
		if !strings.Contains(told, want) {
			t.Errorf("no warning %q in\n%s", want, told)
		}
	}
	good := 0
	for path, text := range made(t, dir) {
		for _, word := range []string{"misfit", "Misfit", "7654321", "123456789"} {
			if at := strings.Index(text, word); at >= 0 {
				t.Errorf("%s has what doesn't fit: ...%s", path, text[max(at-80, 0):min(at+80, len(text))])
			}
		}
		good += strings.Count(text, "fitting")
	}
	if good == 0 {
		t.Error("the default that fits is nowhere")
	}
}

// made are the texts of what a build wrote, by their paths.
func made(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Base(path) == "types.go" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".gz") {
			r, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				return err
			}
			if data, err = io.ReadAll(r); err != nil {
				return err
			}
		}
		out[path] = string(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
