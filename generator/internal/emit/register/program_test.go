package register

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/deepcopy"
	"apigen.dev/generator/internal/emit/defaults"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

// input holds packages that declare a part of their registration by hand.
const input = `
-- known/v1/doc.go --
// +k8s:deepcopy-gen=package
// +groupName=known.example.com
package v1
-- known/v1/types.go --
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const GroupName = "known.example.com"

var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

var SchemeBuilder runtime.SchemeBuilder

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &Kind{})
	return nil
}

func addDefaultingFuncs(scheme *runtime.Scheme) error { return RegisterDefaults(scheme) }

// Kind takes the name of a function that is emitted elsewhere.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Kind struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	// +default="red"
	Color string
}
-- whole/v1beta1/doc.go --
// +k8s:deepcopy-gen=package
// +groupName=whole.example.com
package v1beta1
-- whole/v1beta1/types.go --
package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	// +default=3
	Size int
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type WidgetList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []Widget
}

// Options are no kind, but the scheme knows them.
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Options struct {
	metav1.TypeMeta
	Follow bool
}

// Spec is nothing that a scheme knows.
type Spec struct{ Name string }
-- other/v1/doc.go --
// +k8s:deepcopy-gen=package
// +groupName=other.example.com
package v1
-- other/v1/types.go --
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// AddTypesToScheme is how this package is registered.
func AddTypesToScheme(scheme *runtime.Scheme) error { return nil }

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}
`

func TestWithWhatIsDeclaredByHand(t *testing.T) {
	dir := loadtest.Dir(t, input)
	program := loadtest.Load(t, dir).Program
	got := map[string]string{}
	for _, e := range []emit.Emitter{deepcopy.Emitter(), defaults.Emitter(), Emitter()} {
		files, err := e.Emit(plan.New(program))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if file.Name == "zz_generated.register.go" {
				got[strings.TrimPrefix(file.Package, loadtest.Module+"/")] = string(file.Content)
			}
			if err := os.WriteFile(filepath.Join(file.Dir, file.Name), file.Content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(got) != 2 || got["other/v1"] != "" {
		t.Errorf("registration was emitted for %d packages", len(got))
	}
	for _, name := range []string{
		"const GroupName", "var SchemeGroupVersion", "SchemeBuilder  ", "func addKnownTypes", "func Kind",
		"RegisterDefaults",
	} {
		if strings.Contains(got["known/v1"], name) {
			t.Errorf("known/v1 has %s by hand, and it was emitted too:\n%s", name, got["known/v1"])
		}
	}
	for pkg, wanted := range map[string][]string{
		"known/v1": {"Register(addKnownTypes, addDefaultingFuncs)", "localSchemeBuilder = &SchemeBuilder",
			"func Resource("},
		"whole/v1beta1": {"Register(addKnownTypes, RegisterDefaults)",
			"&Options{},\n\t\t&Widget{},\n\t\t&WidgetList{},\n\t)", `Version: "v1beta1"`},
	} {
		for _, want := range wanted {
			if !strings.Contains(got[pkg], want) {
				t.Errorf("%s lacks %s:\n%s", pkg, want, got[pkg])
			}
		}
	}
	compile := exec.Command("go", "list", "-export", "-test", "-mod=mod", "./...")
	compile.Dir = dir
	compile.Env = loadtest.Env()
	if out, err := compile.CombinedOutput(); err != nil {
		t.Errorf("what was emitted does not compile: %v\n%s", err, out)
	}
}
