package roundtrip_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/emit/roundtrip"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/report"
)

// listed is a group with a kind of each sort.
const listed = `// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
}

// +kubebuilder:object:root=true
// +apigen:roundtrip=false
type Quiet struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
}

// +kubebuilder:object:root=true
// +apigen:storage=none
// +apigen:verbs=create
type Question struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
}
`

// TestRequestsOfListedGroups checks that the test beside a list of groups leaves out the kinds without storage, which
// have no provider there, and those whose tests are switched off.
func TestRequestsOfListedGroups(t *testing.T) {
	dir := t.TempDir()
	loadtest.WriteModule(t, dir, "example.com/shop")
	for name, text := range map[string]string{
		"apis/shop/v1/types.go": listed, "apis/apis.go": "// +apigen:groups\npackage apis\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := generator.Build(context.Background(), generator.Options{Dir: dir, Env: env()}); err != nil {
		t.Fatal(report.Describe(err, dir))
	}
	text, err := os.ReadFile(filepath.Join(dir, "apis", roundtrip.RequestsName))
	if err != nil {
		t.Fatal(err)
	}
	const want = `apitest.Exercise(t, apis.Groups(struct { wiring.QuestionProvider }{}), ` +
		`"questions.shop.example.com", "quiets.shop.example.com")`
	if got := strings.Join(strings.Fields(string(text)), " "); !strings.Contains(got, want) {
		t.Errorf("no %s in\n%s", want, text)
	}
}
