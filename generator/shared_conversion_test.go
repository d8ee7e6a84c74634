package generator_test

import (
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/report"
)

// scaler is a module with a kind in two versions whose specs have nothing in common, and packages of the user's that
// serve them.
const scaler = `
-- other/go.mod --
module example.com/other

go 1.26

require k8s.io/apimachinery v0.37.2
-- other/part/part.go --
package part

// Old and New are shared by groups.
type Old struct {
	Cpu string ` + "`json:\"cpu\"`" + `
}

type New struct {
	Percent int32 ` + "`json:\"percent\"`" + `
}
-- other/scale/v1/scaler.go --
// +groupName=scale.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/other/part"
)

// +genclient
type Scaler struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Spec ScalerSpec ` + "`json:\"spec\"`" + `
	Part part.Old   ` + "`json:\"part\"`" + `
}

type ScalerSpec struct {
	Percent int32 ` + "`json:\"percent\"`" + `
	Inner   Inner ` + "`json:\"inner\"`" + `
}

type Inner struct {
	Old int32 ` + "`json:\"old\"`" + `
}

func AddToScheme(*runtime.Scheme) error { return nil }

func (in *Scaler) DeepCopyObject() runtime.Object { out := *in; return &out }
-- other/scale/v2/scaler.go --
// +groupName=scale.example.com
package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/other/part"
)

// +genclient
type Scaler struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Spec ScalerSpec ` + "`json:\"spec\"`" + `
	Part part.New   ` + "`json:\"part\"`" + `
}

type ScalerSpec struct {
	Metrics []string ` + "`json:\"metrics\"`" + `
	Inner   Inner    ` + "`json:\"inner\"`" + `
}

type Inner struct {
	New int32 ` + "`json:\"new\"`" + `
}

func AddToScheme(*runtime.Scheme) error { return nil }

func (in *Scaler) DeepCopyObject() runtime.Object { out := *in; return &out }
-- apis/scale/v1/doc.go --
// +apigen:serve=example.com/other/scale/v1
package v1
-- apis/scale/v2/doc.go --
// +apigen:serve=example.com/other/scale/v2
// +apigen:kind(Scaler)=+kubebuilder:storageversion
package v2
`

const (
	scalerByHand = `
-- apis/scale/v1/conversion.go --
package v1

import (
	"k8s.io/apimachinery/pkg/conversion"

	"example.com/other/scale/v1"
	"example.com/other/scale/v2"
)

func Convert_v1_Scaler_To_v2_Scaler(in *v1.Scaler, out *v2.Scaler, s conversion.Scope) error {
	return autoConvert_v1_Scaler_To_v2_Scaler(in, out, s)
}

func Convert_v2_Scaler_To_v1_Scaler(in *v2.Scaler, out *v1.Scaler, s conversion.Scope) error {
	return BACK
}
`
	partByHand = `
import (
	"k8s.io/apimachinery/pkg/conversion"

	"example.com/other/part"
)

func Convert_part_Old_To_part_New(in *part.Old, out *part.New, s conversion.Scope) error { return nil }

func Convert_part_New_To_part_Old(in *part.New, out *part.Old, s conversion.Scope) error { return nil }
`
	lampHome = `
-- other/lamp/v1/lamp.go --
// +groupName=lamp.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +genclient
type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
}

func AddToScheme(*runtime.Scheme) error { return nil }

func (in *Lamp) DeepCopyObject() runtime.Object { out := *in; return &out }
-- apis/lamp/v1/doc.go --
// +apigen:serve=example.com/other/lamp/v1
package v1
`
)

// TestConversionOfKind: the functions of a kind take care of all that is inside of it.
func TestConversionOfKind(t *testing.T) {
	files := serve(t, scaler+strings.Replace(scalerByHand, "BACK", "nil", 1))
	holds(t, files, "apis/scale/v1/zz_generated.conversion.go",
		"// in.Spec is left to the function written by hand", "// in.Part is left to the function written by hand")
	if text := files["apis/scale/v1/zz_generated.conversion.go"]; strings.Contains(text, "ScalerSpec_To") {
		t.Error(text)
	}
}

// TestConversionNamedByHand: a function that hand-written code calls is demanded.
func TestConversionNamedByHand(t *testing.T) {
	got := refused(t, scaler+strings.Replace(scalerByHand, "BACK",
		"Convert_v2_ScalerSpec_To_v1_ScalerSpec(&in.Spec, &out.Spec, s)", 1))
	if !strings.Contains(got, "Metrics") || strings.Contains(got, "Percent") || strings.Contains(got, "undefined") {
		t.Error(got)
	}
}

// TestConversionElsewhere: the functions of shared types are found in packages that serve other groups, whatever the
// command line names.
func TestConversionElsewhere(t *testing.T) {
	simple := strings.NewReplacer("	Percent int32 `json:\"percent\"`\n	Inner", "	Inner",
		"	Metrics []string `json:\"metrics\"`\n", "",
		"	New int32 `json:\"new\"`", "	Old int32 `json:\"old\"`").Replace(scaler)
	files := serve(t, simple+lampHome+partByHand)
	holds(t, files, "apis/scale/v1/zz_generated.conversion.go",
		"lampv1.Convert_part_Old_To_part_New(&in.Part, &out.Part, s)")
	oven := strings.NewReplacer("lamp", "oven", "Lamp", "Oven").Replace(lampHome)
	got := refused(t, simple+lampHome+partByHand+oven+partByHand)
	if want := "apis/oven/v1/doc.go:10:6: Convert_part_Old_To_part_New is in package example.com/test/apis/lamp/v1 " +
		"too: which of the two converts for package example.com/test/apis/scale/v1 can't be told, so keep " +
		"one of them, or write func Convert_part_Old_To_part_New(in *part.Old, out *part.New, s conversion.Scope) " +
		"error in package example.com/test/apis/scale/v1\n"; !strings.HasPrefix(got, want) {
		t.Error(got)
	}
	got = refused(t, simple+lampHome+strings.Replace(partByHand, "import (",
		"import (\n\t_ \"example.com/test/apis/scale/v1\"", 1))
	if want := "apis/lamp/v1/doc.go:11:6: package example.com/test/apis/scale/v1 needs the conversion " +
		"Convert_part_Old_To_part_New, and can't import its package, which leads back: example.com/test/apis/lamp/v1 " +
		"-> example.com/test/apis/scale/v1; write func Convert_part_Old_To_part_New(in *part.Old, out *part.New, s " +
		"conversion.Scope) error in package example.com/test/apis/scale/v1, too\n"; !strings.HasPrefix(got, want) {
		t.Error(got)
	}
}

// refused is what a build says that fails.
func refused(t *testing.T, archive string) string {
	t.Helper()
	dir := loadtest.Dir(t, archive)
	_, err := generator.Build(t.Context(), generator.Options{
		Listings: loadtest.Listings, Dir: dir, Check: true, Env: environment(),
	})
	if err == nil {
		t.Fatal("no error")
	}
	return report.Describe(err, dir)
}
