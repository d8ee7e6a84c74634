package generator_test

import (
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/report"
)

// rooms is a module with two groups of which one reaches a type of the other, and packages of the user's that serve
// them.
const rooms = `
-- other/go.mod --
module example.com/other

go 1.26

require k8s.io/apimachinery v0.37.2
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

	Bulb Bulb ` + "`json:\"bulb\"`" + `
}

type Bulb struct {
	Watts int32 ` + "`json:\"watts\"`" + `
	Plug  Plug  ` + "`json:\"plug\"`" + `
}

type Plug struct {
	Pins int32 ` + "`json:\"pins\"`" + `
}

func AddToScheme(*runtime.Scheme) error { return nil }

func (in *Lamp) DeepCopyObject() runtime.Object { out := *in; return &out }
-- other/room/v1/room.go --
// +groupName=room.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	lamp "example.com/other/lamp/v1"
)

// +genclient
type Room struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Bulb lamp.Bulb ` + "`json:\"bulb\"`" + `
}

func AddToScheme(*runtime.Scheme) error { return nil }

func (in *Room) DeepCopyObject() runtime.Object { out := *in; return &out }
-- apis/lamp/v1/doc.go --
// +apigen:serve=example.com/other/lamp/v1
package v1

import "example.com/other/lamp/v1"

// HOME
func SetDefaults_Bulb(bulb *v1.Bulb) { bulb.Watts = 40 }
-- apis/room/v1/doc.go --
// +apigen:serve=example.com/other/room/v1
package v1
`

const roomDefaults = "apis/room/v1/zz_generated.defaults.go"

// TestDefaultsOfHome: the function of a type stands in the package that serves the type, and is called from every
// package whose kinds reach it, whether or not the command line names the package with the function.
func TestDefaultsOfHome(t *testing.T) {
	holds(t, serve(t, rooms), roomDefaults, "lampv1.SetDefaults_Bulb(&in.Bulb)")
	dir := loadtest.Dir(t, rooms)
	build(t, generator.Options{
		Listings: loadtest.Listings, Dir: dir, Env: environment(), Patterns: []string{"./apis/room/..."},
	})
	holds(t, made(t, dir), filepath.Join(dir, filepath.FromSlash(roomDefaults)), "lampv1.SetDefaults_Bulb(&in.Bulb)")
}

// TestDefaultsOfNearest: a package's own function wins over that of the type's home.
func TestDefaultsOfNearest(t *testing.T) {
	files := serve(t, rooms+`
import lamp "example.com/other/lamp/v1"

func SetDefaults_Bulb(bulb *lamp.Bulb) { bulb.Watts = 60 }
`)
	if text := files[roomDefaults]; !strings.Contains(text, "\tSetDefaults_Bulb(&in.Bulb)") {
		t.Error(text)
	}
}

// TestDefaultsElsewhere: a function that stands in another home than the type's is found, too; also for packages with
// types of the user's own.
func TestDefaultsElsewhere(t *testing.T) {
	elsewhere := strings.Replace(rooms, "// HOME\nfunc SetDefaults_Bulb(bulb *v1.Bulb) { bulb.Watts = 40 }\n",
		"var _ v1.Bulb\n", 1) + `
-- apis/shop/v1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lamp "example.com/other/lamp/v1"
)

// +kubebuilder:object:root=true
type Offer struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `
	Bulb lamp.Bulb ` + "`json:\"bulb\"`" + `
}

func SetDefaults_Bulb(bulb *lamp.Bulb) {}
`
	elsewhere = strings.Replace(elsewhere, "type Bulb struct", "// +k8s:deepcopy-gen=false\ntype Bulb struct", 1)
	elsewhere = strings.Replace(elsewhere, "type Plug struct", `func (in *Bulb) DeepCopyInto(out *Bulb) { *out = *in }

type Plug struct`, 1)
	files := serve(t, elsewhere)
	holds(t, files, roomDefaults, "shopv1.SetDefaults_Bulb(&in.Bulb)")
	holds(t, files, "apis/lamp/v1/zz_generated.defaults.go", "shopv1.SetDefaults_Bulb(&in.Bulb)")
}

// TestDefaultsOfNone: a function for a type that no kind holds is a warning.
func TestDefaultsOfNone(t *testing.T) {
	archive := rooms + `
import lamp "example.com/other/lamp/v1"

func SetDefaults_LampStatus(status *lamp.LampStatus) {}
`
	dir := loadtest.Dir(t,
		strings.Replace(archive, "type Bulb struct", "type LampStatus struct{}\n\ntype Bulb struct", 1))
	res := build(t, generator.Options{
		Listings: loadtest.Listings, Dir: dir, Check: true, Env: environment(),
	})
	if got, want := report.Warnings(res.Warnings, dir), "warning: apis/room/v1/doc.go:6:6: "+
		"SetDefaults_LampStatus is never called: no kind that is served here or in other packages holds a "+
		"v1.LampStatus, unless another function takes care of it"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestDefaultsOfTwo: which of two functions is meant can't be told, and one of them that can't be imported is none.
func TestDefaultsOfTwo(t *testing.T) {
	const third = `
-- other/wire/v1/wire.go --
// +groupName=wire.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	lamp "example.com/other/lamp/v1"
)

// +genclient
type Wire struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Plug lamp.Plug ` + "`json:\"plug\"`" + `
}

func AddToScheme(*runtime.Scheme) error { return nil }

func (in *Wire) DeepCopyObject() runtime.Object { out := *in; return &out }
-- apis/wire/v1/doc.go --
// +apigen:serve=example.com/other/wire/v1
package v1

import lamp "example.com/other/lamp/v1"

func SetDefaults_Plug(plug *lamp.Plug) {}
`
	for name, test := range map[string]struct{ archive, want string }{
		"two": {
			strings.Replace(rooms, "// HOME\n", "", 1) + `
import lamp "example.com/other/lamp/v1"

func SetDefaults_Plug(plug *lamp.Plug) {}
` + third,
			"apis/wire/v1/doc.go:6:6: SetDefaults_Plug is in package example.com/test/apis/room/v1 too: which of the " +
				"two sets the defaults of v1.Plug can't be told, so keep one of them, or declare func " +
				"SetDefaults_Plug(in *v1.Plug) in package example.com/test/apis/lamp/v1",
		},
		"a ring": {
			rooms + strings.Replace(third, `import lamp "example.com/other/lamp/v1"`, `import (
	lamp "example.com/other/lamp/v1"
	"example.com/test/between"
)

var _ = between.Watts`, 1) + `
-- between/between.go --
// Package between is not a package of an API.
package between

import (
	lamp "example.com/other/lamp/v1"
	home "example.com/test/apis/lamp/v1"
)

func Watts() int32 {
	var bulb lamp.Bulb
	home.SetDefaults_Bulb(&bulb)
	return bulb.Watts
}
`,
			"apis/wire/v1/doc.go:11:6: package example.com/test/apis/lamp/v1 needs the defaults of v1.Plug that " +
				"SetDefaults_Plug sets, and can't import its package, which leads back: " +
				"example.com/test/apis/wire/v1 -> example.com/test/apis/lamp/v1; declare func " +
				"SetDefaults_Plug(in *v1.Plug) in package example.com/test/apis/lamp/v1, too",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := loadtest.Dir(t, test.archive)
			_, err := generator.Build(t.Context(), generator.Options{
				Listings: loadtest.Listings, Dir: dir, Check: true, Env: environment(),
			})
			if err == nil {
				t.Fatal("no error")
			}
			if got := report.Describe(err, dir); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
