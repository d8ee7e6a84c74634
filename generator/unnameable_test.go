package generator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/loadtest"
)

// hiddenParts are types that no other package can write, with markers of checks and defaults inside.
var hiddenParts = map[string]string{
	"struct": "hidden", "number": "number", "list": "list",
	"unnamed":  "struct{ small int; " + hiddenFields + " }",
	"func":     "struct{ _ [0]func(); " + hiddenFields + " }",
	"embedded": "struct{ hidden }",
}

const hiddenFields = "// +default=4\n// +kubebuilder:validation:Minimum=3\nD int `json:\"d\"`; P *int `json:\"p\"`"

const hiddenTypes = `
type hidden struct { ` + hiddenFields + ` }
// +kubebuilder:validation:Minimum=3
type number int
// +kubebuilder:validation:MinItems=3
type list []number
`

// TestUnnameableTypes builds fields whose types hold a part that generated code can't write: of another package, with a
// hand-written copy or without, and in two versions that are converted. A build ends with code that compiles, or with
// faults in the user's files.
func TestUnnameableTypes(t *testing.T) {
	for name, part := range hiddenParts {
		for _, shape := range []string{"%s", "*%s", "[]%s", "map[string]*%s"} {
			for _, way := range []string{"copied", "copied by hand", "converted"} {
				t.Run(name+"/"+strings.ReplaceAll(shape, "%s", "T")+"/"+way, func(t *testing.T) {
					t.Parallel()
					field := "A " + fmt.Sprintf(shape, part) + " `json:\"a,omitempty\"`"
					_, err := generator.Build(context.Background(), generator.Options{
						Dir: loadtest.Dir(t, archiveOf(field, way)), Check: true, Listings: loadtest.Listings,
						Env: loadtest.Env("-mod=readonly")})
					var faults diag.Errors
					if err != nil && !errors.As(err, &faults) {
						t.Error(err)
					}
					for _, f := range faults {
						if strings.Contains(f.Pos.Filename, "zz_generated") || !f.Pos.IsValid() {
							t.Error(f)
						}
					}
				})
			}
		}
	}
}

func archiveOf(field, way string) string {
	byHand := "\nfunc (in *Spec) DeepCopyInto(out *Spec) { *out = *in }\n"
	switch way {
	case "converted":
		own := "type Spec struct { " + field + " }\n" + hiddenTypes + byHand
		return versionOf("v1", "", "// +kubebuilder:storageversion\n", own) +
			versionOf("v2", "", "", strings.Replace(own, "P *int", "P *int32", 1))
	case "copied":
		byHand = ""
	}
	return versionOf("v1", `import "example.com/test/plain"`, "", "type Spec struct {\n\tX plain.X `json:\"x\"`\n}\n"+
		byHand) + "-- plain/plain.go --\npackage plain\n\ntype X struct { " + field + " }\n" + hiddenTypes
}

func versionOf(name, imports, marker, types string) string {
	return "-- api/" + name + "/types.go --\n// +k8s:deepcopy-gen=package\n// +groupName=shop.example.com\n" +
		"package " + name + "\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n" + imports + `

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
` + marker + `type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec Spec ` + "`json:\"spec\"`" + `
}

` + types
}
