package validation_test

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/emit/validation"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

const head = `
-- v1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
// +k8s:validation-gen=TypeMeta
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +genclient
// +kubebuilder:object:root=true
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	Spec Spec ` + "`json:\"spec\"`" + `
}

type Spec struct {
	// +k8s:minimum=1
	Size int32 ` + "`json:\"size\"`" + `
}
`

// A function by hand is called in place of one that would be written.
func TestHandWritten(t *testing.T) {
	files, err := validation.Emitter().Emit(plan.New(loadtest.Program(t, head+`
-- v1/spec.go --
package v1

import (
	"context"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func Validate_Spec(
	ctx context.Context, op operation.Operation, fldPath *field.Path, obj, oldObj *Spec,
) field.ErrorList {
	return nil
}
`)))
	if err != nil || len(files) != 1 {
		t.Fatal(len(files), err)
	}
	s := string(files[0].Content)
	if strings.Contains(s, "func Validate_Spec(") || !strings.Contains(s, "Validate_Spec(ctx, op,") {
		t.Errorf("%s", s)
	}
}

// Something else of that name is an error at its place.
func TestNameIsTaken(t *testing.T) {
	faults := validation.Emitter().Faults(plan.New(loadtest.Program(t, head+`
-- v1/spec.go --
package v1

func Validate_Spec(s *Spec) error { return nil }
`)))
	const want = "v1/spec.go:3:6: Validate_Spec is the name of the function that checks the rules of Spec"
	if !strings.Contains(faults.Error(), want) {
		t.Error(faults)
	}
}

// A package that neither asks for functions nor has a server gets none.
func TestNotAsked(t *testing.T) {
	program := loadtest.Program(t, strings.Replace(head, "// +k8s:validation-gen=TypeMeta\n", "", 1))
	program.RuntimeAvailable = false
	if files, err := validation.Emitter().Emit(plan.New(program)); err != nil || len(files) != 0 {
		t.Error(len(files), err)
	}
	program.RuntimeAvailable = true
	if files, err := validation.Emitter().Emit(plan.New(program)); err != nil || len(files) != 1 {
		t.Error(len(files), err)
	}
}

// There is a warning of a rule about text that no server checks. The server of a kind of controller-gen checks it.
func TestWarnings(t *testing.T) {
	text := strings.NewReplacer(
		"	// +k8s:minimum=1\n", "",
		"	Size int32", "	// +kubebuilder:validation:Pattern=`^1`\n	Wait metav1.Duration "+
			"`json:\"wait\"`\n	Size int32",
	).Replace(head)
	if got := warnings(t, text); got != "" {
		t.Errorf("warnings of a kind of controller-gen: %s", got)
	}
	const want = "marker \"+kubebuilder:validation:Pattern\" of Spec.Wait is in the schema"
	native := strings.Replace(text, "// +kubebuilder:object:root=true\n", "", 1)
	if got := warnings(t, native); !strings.Contains(got, want) {
		t.Errorf("no warning %q in %q", want, got)
	}
}

func warnings(t *testing.T, text string) string {
	program := loadtest.Program(t, text)
	program.RuntimeAvailable = true
	var got []string
	for _, w := range validation.Emitter().Warnings(plan.New(program)) {
		got = append(got, w.Message)
	}
	return strings.Join(got, "\n")
}
