package generator_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/loadtest"
)

// otherModule is a module with logic of its own: defaults, conversions, and a hook as a method. A file other than
// doc.go names its group.
const otherModule = `
-- other/go.mod --
module example.com/other

go 1.26

require k8s.io/apimachinery v0.37.2
-- other/lamp/v1/groupversion_info.go --
// Package v1 has lamps.
// +groupName=lamp.example.com
package v1

import "k8s.io/apimachinery/pkg/runtime"

func AddToScheme(*runtime.Scheme) error { return nil }
-- other/lamp/v1/lamp.go --
package v1

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +genclient
// +genclient:nonNamespaced
type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	// +k8s:required
	Color string ` + "`json:\"color\"`" + `
	Bulb  Bulb   ` + "`json:\"bulb\"`" + `
}

// Bulb is inside.
type Bulb struct {
	// +default=40
	Watts int32 ` + "`json:\"watts\"`" + `
}

// +genclient
// +genclient:onlyVerbs=create
type Review struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	// +k8s:required
	Text string ` + "`json:\"text\"`" + `
}

func (in *Lamp) DeepCopyObject() runtime.Object { out := *in; return &out }
func (in *Review) DeepCopyObject() runtime.Object { out := *in; return &out }

func (in *Lamp) PrepareForCreate(ctx context.Context) {}
func (in *Lamp) Canonicalize() {}

func SetDefaults_Lamp(in *Lamp) {}
-- other/lamp/v1beta1/lamp.go --
// +groupName=lamp.example.com
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/other/lamp/v1"
)

// +genclient
// +genclient:nonNamespaced
type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Hue string ` + "`json:\"hue\"`" + `
}

func AddToScheme(*runtime.Scheme) error { return nil }

func (in *Lamp) DeepCopyObject() runtime.Object { out := *in; return &out }

func SetObjectDefaults_Lamp(in *Lamp) {}

func Convert_v1beta1_Lamp_To_v1_Lamp(in *Lamp, out *v1.Lamp, s conversion.Scope) error { return nil }
func Convert_v1_Lamp_To_v1beta1_Lamp(in *v1.Lamp, out *Lamp, s conversion.Scope) error { return nil }
-- apis/apis.go --
// +apigen:reference=../docs
package apis
-- apis/lamp/v1/doc.go --
// +apigen:serve=example.com/other/lamp/v1
// +apigen:kind(Lamp)=+kubebuilder:resource:shortName=lp
// +apigen:kind(Lamp)=+kubebuilder:deprecatedversion
package v1

import (
	"context"

	"example.com/other/lamp/v1"
)

func AuthorizeCreate_Lamp(ctx context.Context, lamp *v1.Lamp) error { return nil }

func AuthorizeUpdate_Lamp(ctx context.Context, lamp, old *v1.Lamp) error { return nil }

func PrepareForCreate_Lamp(ctx context.Context, lamp *v1.Lamp) {}

func SetDefaults_Bulb(bulb *v1.Bulb) {}
-- apis/lamp/v1beta1/doc.go --
// +apigen:serve=example.com/other/lamp/v1beta1
package v1beta1
`

// TestServe: what another module brings is called where it is, what the user adds is called before it, and the rest is
// written into the user's packages. Build type-checks all of it.
func TestServe(t *testing.T) {
	files := serve(t, otherModule)
	for name, texts := range map[string][]string{
		"apis/lamp/wiring/zz_generated.wiring.go": {
			"{lampv1.AddToScheme, v1.RegisterDefaults, lampv1beta1.AddToScheme}",
			`Scope: api.Cluster`, `ShortNames: []string{"lp"}`, `"lamp.example.com/v1 Lamp is deprecated"`,
			"AuthorizeCreate: v1.AuthorizeCreate_Lamp,", "AuthorizeUpdate: v1.AuthorizeUpdate_Lamp,",
			"PrepareForCreate: v1.PrepareForCreate_Lamp,", "Canonicalize: (*lampv1.Lamp).Canonicalize,",
			"Default: v1.SetObjectDefaults_Lamp,", "Default: lampv1beta1.SetObjectDefaults_Lamp,",
			"return lampv1beta1.Convert_v1beta1_Lamp_To_v1_Lamp(in, out, scope)",
			"v1.Validate_Lamp(ctx, op, nil, obj, old)",
		},
		"apis/lamp/v1/zz_generated.defaults.go": {
			"v1.SetDefaults_Lamp(in)", "SetDefaults_Bulb(&in.Bulb)", "in.Bulb.Watts = 40",
		},
		"apis/lamp/v1/zz_generated.validations.go": {"field.Required(path"},
		"apis/lamp/wiring/zz_generated.openapi.v1.json.gz": {
			`"com.example.other.lamp.v1.Lamp"`, `"Bulb is inside."`, `"/apis/lamp.example.com/v1/lamps"`,
		},
		"apis/lamp/wiring/zz_generated.openapi.v1beta1.json.gz": {`"hue"`},
		"docs/lamp.example.com.v1.md":                           {"Lamp", "Bulb is inside."},
	} {
		holds(t, files, name, texts...)
		if strings.Contains(files[name], "Review") {
			t.Errorf("%s knows of a kind that isn't stored", name)
		}
	}
}

// TestServeDefaultsOfMarkers: the functions that defaulter-gen wrote in another module don't know controller-gen's
// markers, so that they are called, and the markers' defaults are set beside them.
func TestServeDefaultsOfMarkers(t *testing.T) {
	files := serve(t, strings.NewReplacer("// +genclient\n// +genclient:nonNamespaced\ntype Lamp",
		"// +kubebuilder:object:root=true\n// +kubebuilder:resource:scope=Cluster\ntype Lamp", "+default=40",
		"+kubebuilder:default=40", "func SetDefaults_Lamp(in *Lamp) {}", "func SetObjectDefaults_Lamp(in *Lamp) {}",
	).Replace(otherModule))
	holds(t, files, "apis/lamp/wiring/zz_generated.wiring.go", "Default: v1.SetObjectDefaults_Lamp,")
	holds(t, files, "apis/lamp/v1/zz_generated.defaults.go", "v1.SetObjectDefaults_Lamp(in)", "in.Bulb.Watts = 40")
}

// TestServeStorageVersion checks that the version that a marker makes the storage version of a kind is its hub, and
// that the generator looks for the kind's logic there.
func TestServeStorageVersion(t *testing.T) {
	files := serve(t, strings.Replace(otherModule, "// +apigen:serve=example.com/other/lamp/v1beta1\n",
		"// +apigen:serve=example.com/other/lamp/v1beta1\n// +apigen:kind(Lamp)=+kubebuilder:storageversion\n", 1))
	holds(t, files, "apis/lamp/wiring/zz_generated.wiring.go",
		`Storage: "v1beta1"`, "registry.Definition[*lampv1beta1.Lamp]",
		"ToHub: func(in *lampv1.Lamp, out *lampv1beta1.Lamp) error",
		"return lampv1beta1.Convert_v1_Lamp_To_v1beta1_Lamp(in, out, scope)")
	if strings.Contains(files["apis/lamp/wiring/zz_generated.wiring.go"], "PrepareForCreate") {
		t.Error("logic of another version than the hub is called")
	}
}

// TestServeMarkersOfAllKinds: a marker on all kinds stands behind one that names a kind, and * in a prefix of keys is
// the plural.
func TestServeMarkersOfAllKinds(t *testing.T) {
	const kinds = "// +apigen:serve=example.com/other/lamp/v1\n// +apigen:serve:kinds=Lamp;Review\n"
	wiring := func(markers string) map[string]string {
		source := strings.Replace(otherModule, "// +apigen:serve=example.com/other/lamp/v1\n", kinds+markers, 1)
		return serve(t, source)
	}
	const name = "apis/lamp/wiring/zz_generated.wiring.go"
	holds(t, wiring("// +apigen:kind(\"*\")=+apigen:storagePrefix=*\n"), name,
		`StoragePrefix: "lamps"`, `StoragePrefix: "reviews"`)
	holds(t, wiring("// +apigen:kind(Review)=+apigen:storagePrefix=lights/*\n"+
		"// +apigen:kind(\"*\")=+apigen:storagePrefix=*\n"),
		name, `StoragePrefix: "lamps"`, `StoragePrefix: "lights/reviews"`)
	holds(t, wiring("// +apigen:kind(\"Review;Lamp\")=+kubebuilder:resource:categories=all\n"), name,
		`Plural: "lamps", Singular: "lamp", ShortNames: []string{"lp"}, Categories: []string{"all"}`,
		`Plural: "reviews", Singular: "review", Categories: []string{"all"}`)
}

// TestServeWithoutRuntime: a module that can't serve is told so.
func TestServeWithoutRuntime(t *testing.T) {
	dir := loadtest.Dir(t, otherModule)
	name := filepath.Join(dir, "go.mod")
	mod, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	without := regexp.MustCompile(`(?m)^.*apigen\.dev .*$`).ReplaceAll(mod, nil)
	if err := os.WriteFile(name, without, 0o644); err != nil {
		t.Fatal(err)
	}
	res := build(t, generator.Options{
		Listings: loadtest.Listings, Dir: dir, Check: true, Env: environment(),
	})
	if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes,
		"example.com/test/apis/lamp/v1: nothing to generate: +apigen:serve needs a module that requires apigen.dev") {
		t.Errorf("notes: %s\nfiles: %d", notes, res.Files)
	}
}

func environment() []string {
	return loadtest.Env("-mod=mod")
}

// serve builds an archive's module, and returns what is generated by its path.
func serve(t *testing.T, archive string) map[string]string {
	t.Helper()
	dir := loadtest.Dir(t, archive)
	res := build(t, generator.Options{Listings: loadtest.Listings, Dir: dir, Env: environment()})
	files := map[string]string{}
	for _, c := range res.Changes {
		name := strings.TrimPrefix(strings.TrimPrefix(c.Path, dir), string(os.PathSeparator))
		files[strings.ReplaceAll(name, string(os.PathSeparator), "/")] = string(emit.Readable(c.New))
		if strings.HasPrefix(name, "other") {
			t.Errorf("%s is written into the other module", name)
		}
	}
	return files
}

// holds reports whether a file holds texts, however they are laid out.
func holds(t *testing.T, files map[string]string, name string, texts ...string) {
	t.Helper()
	text := strings.Join(strings.Fields(files[name]), " ")
	for _, want := range texts {
		if !strings.Contains(text, strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%s does not hold %s:\n%s", name, want, files[name])
		}
	}
}

// TestServeRoots checks that in a package without markers for clients, only the kinds that controller-gen's marker
// names are served.
func TestServeRoots(t *testing.T) {
	archive := strings.NewReplacer("// +genclient\n// +genclient:nonNamespaced\ntype Lamp",
		"// +kubebuilder:object:root=true\ntype Lamp",
		"// +genclient\n// +genclient:onlyVerbs=create\n", "").Replace(otherModule)
	wiring := serve(t, archive)["apis/lamp/wiring/zz_generated.wiring.go"]
	if !strings.Contains(wiring, "defineLamp(") || strings.Contains(wiring, "defineReview(") {
		t.Error(wiring)
	}
}

// TestServeSkippedVersion: a kind that has no version in its definition is served only where it is named.
func TestServeSkippedVersion(t *testing.T) {
	archive := strings.Replace(otherModule, "// +genclient\n// +genclient:onlyVerbs=create\n",
		"// +genclient\n// +kubebuilder:skipversion\n", 1)
	wiring := serve(t, archive)["apis/lamp/wiring/zz_generated.wiring.go"]
	if !strings.Contains(wiring, "defineLamp(") || strings.Contains(wiring, "defineReview(") {
		t.Error(wiring)
	}
	serving := "// +apigen:serve=example.com/other/lamp/v1\n"
	if !strings.Contains(archive, serving) {
		t.Fatal(archive)
	}
	archive = strings.Replace(archive, serving, serving+"// +apigen:serve:kinds=Lamp;Review\n", 1)
	wiring = serve(t, archive)["apis/lamp/wiring/zz_generated.wiring.go"]
	if !strings.Contains(wiring, "defineReview(") {
		t.Error(wiring)
	}
}

// TestServeGroup: the package that serves another one may name its group.
func TestServeGroup(t *testing.T) {
	v1beta1 := otherModule[strings.Index(otherModule, "-- apis/lamp/v1beta1/doc.go --"):]
	archive := strings.NewReplacer("// +apigen:serve=example.com/other/lamp/v1\n",
		"// +apigen:serve=example.com/other/lamp/v1\n// +groupName=lights.example.com\n", v1beta1, "",
	).Replace(otherModule)
	files := serve(t, archive)
	holds(t, files, "apis/lamp/wiring/zz_generated.wiring.go", `Name: "lights.example.com"`)
	for name, text := range files {
		if strings.Contains(text, "lamp.example.com") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestServeUnregistered: kinds of a package that has no function to register them are registered by the wiring.
func TestServeUnregistered(t *testing.T) {
	archive := strings.Replace(otherModule, "func AddToScheme(*runtime.Scheme) error { return nil }\n",
		"var _ runtime.Object\n", 1)
	holds(t, serve(t, archive), "apis/lamp/wiring/zz_generated.wiring.go",
		"{addV1, v1.RegisterDefaults, lampv1beta1.AddToScheme}",
		`version := schema.GroupVersion{Group: "lamp.example.com", Version: "v1"}`,
		"scheme.AddKnownTypes( version, &lampv1.Lamp{}, )", "metav1.AddToGroupVersion(scheme, version)")
}

// TestServeForeignColumn checks that a column of the other module that leads nowhere is a warning, for the user can't
// edit it, and that one of the user's own is an error.
func TestServeForeignColumn(t *testing.T) {
	const column = "+kubebuilder:printcolumn:name=Node,type=string,JSONPath=.status.node\n"
	archive := strings.Replace(otherModule, "// +genclient:nonNamespaced\ntype Lamp",
		"// +genclient:nonNamespaced\n// "+column+"type Lamp", 1)
	res := build(t, generator.Options{
		Listings: loadtest.Listings, Dir: loadtest.Dir(t, archive), Check: true, Env: environment(),
	})
	const fault = `JSONPath .status.node of kind Lamp: Lamp has no field "status"`
	if text := res.Warnings.Error(); !strings.Contains(text, "lamp.go:12:4: "+fault) {
		t.Errorf("warnings: %s", text)
	}
	archive = strings.Replace(otherModule, "// +apigen:kind(Lamp)=+kubebuilder:deprecatedversion\n",
		"// +apigen:kind(Lamp)="+column, 1)
	_, err := generator.Build(t.Context(), generator.Options{
		Listings: loadtest.Listings, Dir: loadtest.Dir(t, archive), Check: true,
		Env: environment(),
	})
	if err == nil || !strings.Contains(err.Error(), fault) {
		t.Errorf("the column of one's own: %v", err)
	}
}

// TestServeContextualValidation checks that the server calls a Validate method in Knative's shape that a kind of
// another module has.
func TestServeContextualValidation(t *testing.T) {
	archive := strings.Replace(otherModule, "func (in *Lamp) Canonicalize() {}", `
func (in *Lamp) Validate(ctx context.Context) *faults.FieldError { return nil }`, 1)
	archive = strings.Replace(archive, "import (\n\t\"context\"\n", "import (\n\t\"context\"\n\n"+
		"\t\"example.com/other/faults\"\n", 1)
	archive += `
-- other/faults/faults.go --
package faults

type FieldError struct {
	Message string
	Paths   []string
	Details string
}

func (e *FieldError) Error() string { return e.Message }
`
	holds(t, serve(t, archive), "apis/lamp/wiring/zz_generated.wiring.go", "obj.Validate(ctx)")
}

// TestServeUnknownInterface checks that markers which ask for copies are no matter of who serves a kind, nor of an
// interface, for which no copy is generated.
func TestServeUnknownInterface(t *testing.T) {
	const marker = "\n// +k8s:deepcopy-gen:interfaces=nil\n"
	archive := strings.Replace(otherModule, "\n// Bulb is inside.\n", marker+"\n// Bulb is inside.\n", 1) +
		"-- apis/store.go --\npackage apis\n" + marker + "type Store interface{ Get() string }\n"
	archive = strings.Replace(archive, "// +apigen:reference", "// +k8s:deepcopy-gen=package\n// +apigen:reference", 1)
	serve(t, archive)
}
