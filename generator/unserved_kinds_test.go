package generator_test

import (
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
)

// kindsAside is a version with a resource, and types beside it that embed TypeMeta and ObjectMeta.
const kindsAside = `
-- api/v1/groupversion_info.go --
// +kubebuilder:object:generate=true
// +groupName=shop.example.com
package v1

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var GroupVersion = schema.GroupVersion{Group: "shop.example.com", Version: "v1"}

func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Widget{}, &WidgetList{})
	return nil
}
-- api/v1/types.go --
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
}

// +kubebuilder:object:root=true
type WidgetList struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ListMeta ` + "`json:\"metadata\"`" + `

	Items []Widget ` + "`json:\"items\"`" + `
}

// +kubebuilder:object:root=true
type WithParts struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
}
`

// TestKindsThatNothingAsksFor: a kind that controller-gen writes no definition for, or that the project doesn't add to
// its scheme, is served only when a marker asks for it.
func TestKindsThatNothingAsksFor(t *testing.T) {
	const root = "// +kubebuilder:object:root=true\ntype WithParts"
	for name, c := range map[string]struct {
		old, new string
		served   bool
		warning  string
	}{
		"not in the scheme": {"", "", false, "types.go:20:6: kind WithParts is not served in version v1: the package " +
			"adds kinds to its scheme, and not this one; write +apigen:served=true above it"},
		"in the scheme":           {"&WidgetList{}", "&WidgetList{}, &WithParts{}", true, ""},
		"no scheme of its own":    {"scheme.AddKnownTypes(GroupVersion, &Widget{}, &WidgetList{})", "", true, ""},
		"asked for":               {root, "// +apigen:served=true\n" + root, true, ""},
		"left out":                {root, "// +apigen:served=false\n" + root, false, ""},
		"a resource by its names": {root, "// +kubebuilder:resource:path=withparts\n" + root, true, ""},
		"skipped": {root, "// +kubebuilder:skipversion\n// +kubebuilder:resource:path=withparts\n" + root, false,
			"it is marked +kubebuilder:skipversion"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := loadtest.Dir(t, strings.Replace(kindsAside, c.old, c.new, 1))
			res := build(t, generator.Options{Dir: dir, Env: environment()})
			said := ""
			for _, w := range res.Warnings {
				said += w.Error() + "\n"
			}
			if !strings.Contains(said, c.warning) || c.warning == "" && said != "" {
				t.Errorf("warnings: %s", said)
			}
			wiring := read(t, dir+"/api/wiring/zz_generated.wiring.go")
			if got := strings.Contains(wiring, "defineWithParts("); got != c.served {
				t.Errorf("served: %v", got)
			}
			if !strings.Contains(wiring, "defineWidget(") {
				t.Error("Widget is not served")
			}
		})
	}
}
