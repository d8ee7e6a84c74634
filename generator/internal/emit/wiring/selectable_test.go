package wiring

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

// renamedSource is a kind whose older version calls a selectable field otherwise, in JSON and in Go.
const renamedSource = `
-- shop/v1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:selectablefield:JSONPath=.spec.color
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec WidgetSpec ` + "`json:\"spec\"`" + `
}

type WidgetSpec struct {
	// +apigen:conversion:name=Paint
	Color string ` + "`json:\"color\"`" + `
}
-- shop/v2/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:storageversion
// +kubebuilder:selectablefield:JSONPath=.spec.PATH
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec WidgetSpec ` + "`json:\"spec\"`" + `
}

type WidgetSpec struct {
	Paint string ` + "`json:\"paint\"`" + `
	Other string ` + "`json:\"color\"`" + `
}
`

func TestSelectableFieldsFollowTheirNames(t *testing.T) {
	files, err := Emit(plan.New(loadtest.Program(t, strings.Replace(renamedSource, "PATH", "paint", 1))))
	if err != nil {
		t.Fatal(err)
	}
	code := ""
	for _, f := range files {
		if strings.HasSuffix(f.Name, ".go") {
			code += string(f.Content)
		}
	}
	if n := strings.Count(code, "return obj.Spec.Paint"); n != 2 || !strings.Contains(code, `"spec.color"`) ||
		!strings.Contains(code, `"spec.paint"`) {
		t.Errorf("%d selectors read the hub's field:\n%s", n, code)
	}
}

// TestSelectableFieldsOfOneVersion: the wiring names the versions of a field that not all versions have.
func TestSelectableFieldsOfOneVersion(t *testing.T) {
	same := strings.ReplaceAll(strings.Replace(renamedSource, "PATH", "color", 1), "Paint string", "Color string")
	same = strings.ReplaceAll(strings.ReplaceAll(same, "	Other string `json:\"color\"`\n", ""), `"paint"`, `"color"`)
	same = strings.Replace(same, "	// +apigen:conversion:name=Paint\n", "", 1)
	for source, want := range map[string]string{
		strings.Replace(renamedSource, "PATH", "paint", 1):                                     `"v1" "v2"`,
		strings.Replace(same, "// +kubebuilder:selectablefield:JSONPath=.spec.color\n", "", 1): `"v2"`,
		same: "",
	} {
		files, err := Emit(plan.New(loadtest.Program(t, source)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			if strings.HasSuffix(f.Name, "wiring.go") {
				for _, m := range fieldVersions.FindAllSubmatch(f.Content, -1) {
					got = append(got, string(m[1]))
				}
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// fieldVersions finds the versions of selectable fields.
var fieldVersions = regexp.MustCompile(`Path: +"spec[.a-z]*",\n\s*Versions: +\[\]string\{(.*)\}`)

func TestASelectablePathMeansOneField(t *testing.T) {
	faults := Emitter().Faults(plan.New(loadtest.Program(t, strings.Replace(renamedSource, "PATH", "color", 1))))
	want := "selectable field .spec.color: is Spec.Paint of the hub here, and Spec.Other in another version: a name " +
		"means the same in every version"
	if !strings.Contains(faults.Error(), want) {
		t.Errorf("got %v\nwant %s", faults, want)
	}
}

// TestSelectableText: a duration and a time are strings in JSON, and clients select by them.
func TestSelectableText(t *testing.T) {
	source := strings.NewReplacer("Paint string `json:\"paint\"`", "Paint *metav1.Duration `json:\"paint\"`",
		"Color string `json:\"color\"`", "Color *metav1.Duration `json:\"color\"`", "PATH", "paint").
		Replace(renamedSource)
	files, err := Emit(plan.New(loadtest.Program(t, source)))
	if err != nil {
		t.Fatal(err)
	}
	const want = "if obj.Spec.Paint == nil {\n"
	for _, f := range files {
		if code := string(f.Content); strings.Contains(code, "SelectableFields") &&
			(!strings.Contains(code, want) || !strings.Contains(code, "return api.TextOf(obj.Spec.Paint)")) {
			t.Error(code)
		}
	}
}
