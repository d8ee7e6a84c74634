package defaults

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

// input is a module in which types and defaults stand in different packages, as in Kubernetes itself.
const input = `
-- api/v1/doc.go --
// +k8s:deepcopy-gen=package
// +groupName=shop.example.com
package v1
-- api/v1/types.go --
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec WidgetSpec
}

type WidgetSpec struct {
	// +default="red"
	Color string
	Size  Size
}

type Size struct{ Width int }
-- defaults/v1/doc.go --
// +k8s:defaulter-gen=TypeMeta
// +k8s:defaulter-gen-input=example.com/test/api/v1
package v1
-- defaults/v1/defaults.go --
package v1

import v1 "example.com/test/api/v1"

func SetDefaults_Size(in *v1.Size) {
	if in.Width == 0 {
		in.Width = 10
	}
}
-- defaults/user/v1/doc.go --
// +k8s:defaulter-gen=TypeMeta
// +k8s:defaulter-gen-input=example.com/test/user/v1
package v1
-- light/v1/doc.go --
// +k8s:deepcopy-gen=package
// +groupName=light.example.com
package v1
-- light/v1/types.go --
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "example.com/test/api/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Light struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Widget v1.WidgetSpec
}
-- user/v1/doc.go --
// +k8s:deepcopy-gen=package
// +groupName=user.example.com
package v1
-- user/v1/types.go --
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "example.com/test/api/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Gadget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Widgets map[string]v1.WidgetSpec
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Plain struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}
-- internal/user/doc.go --
// +k8s:deepcopy-gen=package
// +groupName=user.example.com
package user
-- internal/user/types.go --
package user

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Gadget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	// +default="not here"
	Name string
}
`

func TestDefaultsOfOtherPackages(t *testing.T) {
	dir := loadtest.Dir(t, input)
	program := loadtest.Load(t, dir).Program
	planned := plan.New(program)
	files, err := Emitter().Emit(planned)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, file := range files {
		got[strings.TrimPrefix(file.Package, loadtest.Module+"/")] = string(file.Content)
	}
	for _, pkg := range program.Packages {
		name := strings.TrimPrefix(pkg.Path, loadtest.Module+"/")
		if _, emitted := got[name]; emitted != planned.OfPackage(pkg).Defaults.Generated {
			t.Errorf("%s: emitted is %v, planned is %v", name, emitted, planned.OfPackage(pkg).Defaults.Generated)
		}
	}
	if len(got) != 3 {
		t.Errorf("emitted for %d packages: internal ones, and those whose defaults another package writes, get none",
			len(got))
	}
	for name, wanted := range map[string][]string{
		"defaults/v1": {
			`scheme.AddTypeDefaultingFunc(&apiv1.Widget{}, `, "func SetObjectDefaults_Widget(in *apiv1.Widget) {",
			`in.Spec.Color = "red"`, "SetDefaults_Size(&in.Spec.Size)",
		},
		"defaults/user/v1": {"SetObjectDefaults_Gadget(in *userv1.Gadget)", `val.Color = "red"`,
			"defaultsv1.SetDefaults_Size(&val.Size)"},
		// That no marker asks for these is not an obstacle: the kind reaches a default.
		"light/v1": {"SetObjectDefaults_Light(in *Light)", `in.Widget.Color = "red"`},
	} {
		for _, want := range wanted {
			if !strings.Contains(got[name], want) {
				t.Errorf("%s lacks %s:\n%s", name, want, got[name])
			}
		}
	}
	if strings.Contains(got["defaults/user/v1"], "Plain") {
		t.Error("a kind without defaults got a function")
	}
	if strings.Contains(got["light/v1"], "SetDefaults_Size") {
		t.Error("a package of types was made to import one of logic that it never asked for")
	}
}

func TestTwoFunctionsForOneType(t *testing.T) {
	program := loadtest.Program(t, input+`-- defaults/more/doc.go --
// +k8s:defaulter-gen=TypeMeta
package more
-- defaults/more/defaults.go --
package more

import v1 "example.com/test/api/v1"

func SetDefaults_Size(in *v1.Size) {}
`)
	faults := Emitter().Faults(plan.New(program))
	if !strings.Contains(faults.Error(), "defaults.go:5:6: SetDefaults_Size is in package example.com/test/defaults/") {
		t.Errorf("got %v", faults)
	}
}

// TestDefaultsNobodyAskedFor: in a module that serves nothing, only packages that say so get defaults.
func TestDefaultsNobodyAskedFor(t *testing.T) {
	program := loadtest.Program(t, input)
	program.RuntimeAvailable = false
	files, err := Emitter().Emit(plan.New(program))
	if err != nil || len(files) != 2 {
		t.Fatalf("got %d files, %v", len(files), err)
	}
	for _, file := range files {
		if !strings.Contains(file.Package, "/defaults/") {
			t.Errorf("%s got defaults", file.Package)
		}
	}
}
