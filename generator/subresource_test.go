package generator_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/report"
)

// hubSource has an internal hub: what is posted, answered and asked for has a type there and one in each version.
const hubSource = `
-- apis/apis.go --
// Package apis collects.
//
// +apigen:groups
package apis
-- apis/fleet/types.go --
// +groupName=fleet.example.com
// +k8s:deepcopy-gen=package
package fleet

import (
	"context"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Ship struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec ShipSpec
}

type ShipSpec struct {
	Crew    *Crew
	Harbour string
}

type Number int32

type Crew struct{ Wanted *Number }

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Docking struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Harbour string
}

type LogOptions struct {
	metav1.TypeMeta
	Follow bool         ` + "`json:\"follow\"`" + `
	Since  *metav1.Time ` + "`json:\"sinceTime\"`" + `
	Words  []Word       ` + "`json:\"word\"`" + `
}

type Word string

func (s *Ship) Docking(ctx context.Context, in *Docking) (*Docking, error)                { return in, nil }
func (s *Ship) Log(ctx context.Context, options *LogOptions) (io.ReadCloser, error)       { return nil, nil }
func (s *Ship) PortForward(ctx context.Context, options *LogOptions) (http.Handler, error) { return nil, nil }

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Tide struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Height int32
}
-- apis/fleet/VERSION/types.go --
// +groupName=fleet.example.com
// +k8s:deepcopy-gen=package
// +k8s:conversion-gen=example.com/test/apis/fleet
// +k8s:defaulter-gen=TypeMeta
package VERSION

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:subresource:scale:specpath=.spec.crew.wanted
// +apigen:subresource:name=docking
// +apigen:subresource:name=log,contentType=text/x-log
// +apigen:subresource:name=port-forward
type Ship struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	Spec ShipSpec     ` + "`json:\"spec\"`" + `
}

type ShipSpec struct {
	Crew    *Crew  ` + "`json:\"crew,omitempty\"`" + `
	Harbour string ` + "`json:\"harbour,omitempty\"`" + `
}

type Number int32

type Crew struct {
	Wanted *Number ` + "`json:\"wanted,omitempty\"`" + `
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Docking struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	// +default="home"
	Harbour string    ` + "`json:\"harbour\"`" + `
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +apigen:storage=none
type Tide struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	Height int32      ` + "`json:\"height\"`" + `
}
`

// subresources writes the source with versions v1 and v1beta1, each changed by edit, as a module.
func subresources(t *testing.T, edit func(name, data string) string) generator.Options {
	t.Helper()
	dir := loadtest.StableDir(t, "subresources")
	for _, f := range txtar.Parse([]byte(hubSource)).Files {
		versions := []string{""}
		if strings.Contains(f.Name, "VERSION") {
			versions = []string{"v1", "v1beta1"}
		}
		for _, v := range versions {
			name := filepath.Join(dir, strings.ReplaceAll(f.Name, "VERSION", v))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			data := edit(v, strings.ReplaceAll(string(f.Data), "VERSION", v))
			if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	loadtest.WriteModule(t, dir, "example.com/test")
	return generator.Options{
		Listings: loadtest.Listings, Dir: dir, Env: loadtest.Env(),
	}
}

// compiledWiring generates the fleet's files, none of which may cause a warning, and returns its wiring.
func compiledWiring(t *testing.T, o generator.Options) string {
	t.Helper()
	res, err := generator.Build(t.Context(), o)
	if err != nil {
		t.Fatal(report.Describe(err, o.Dir))
	}
	if len(res.Warnings) != 0 {
		t.Error(report.Warnings(res.Warnings, o.Dir))
	}
	compile := exec.Command("go", "list", "-export", "-test", "./...")
	compile.Dir, compile.Env = o.Dir, o.Env
	if out, err := compile.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return wiringOf(t, o)
}

func wiringOf(t *testing.T, o generator.Options) string {
	t.Helper()
	wiring, err := os.ReadFile(filepath.Join(o.Dir, "apis/fleet/wiring/zz_generated.wiring.go"))
	if err != nil {
		t.Fatal(err)
	}
	return string(wiring)
}

// TestSubresourcesCompile: what is posted and answered is converted, and all of it compiles.
func TestSubresourcesCompile(t *testing.T) {
	o := subresources(t, func(_, data string) string { return data })
	wiring := compiledWiring(t, o)
	for _, want := range []string{
		"if obj.Spec.Crew == nil {\n\t\t\t\t\t\tobj.Spec.Crew = new(fleet.Crew)", "value := fleet.Number(replicas)",
		"obj.Spec.Crew.Wanted = &value",
		`Paths: map[string][]string{"v1": {"spec", "crew", "wanted"}, "v1beta1": {"spec", "crew", "wanted"}}`,
		"return v1beta1.Convert_v1beta1_Docking_To_fleet_Docking(in, out, nil)",
		"Default: v1.SetObjectDefaults_Docking",
		`subresource.QueryPointer(query, "sinceTime", subresource.QueryParsed[metav1.Time], &options.Since)`,
		`subresource.QueryValues(query, "word", subresource.QueryText, &options.Words)`, `ContentType: "text/x-log"`,
		"return obj.PortForward(ctx, options)", "func Group(tideProvider TideProvider) registry.Group",
	} {
		if !strings.Contains(wiring, want) {
			t.Errorf("the wiring has no %q", want)
		}
	}
	if strings.Contains(wiring, "defineDocking") {
		t.Error("what is posted to a subresource is a resource of its own")
	}
}

// TestScaleThroughMaps checks that the number of replicas may be in a map, as in a custom resource, and that a write
// creates the parents that are absent.
func TestScaleThroughMaps(t *testing.T) {
	o := subresources(t, func(version, data string) string {
		if version != "" {
			data = strings.Replace(data, ":specpath=.spec.crew.wanted",
				":specpath=.spec.decks.Upper.crews.night.wanted,statuspath=.spec.crews.day", 1)
			data = strings.Replace(data, "\tCrew    *Crew",
				"\tDecks map[Deck]Quarters `json:\"decks\"`\n\tCrews map[string]Number `json:\"crews\"`\n"+
					"\tCrew    *Crew", 1)
			return data + "\ntype Deck string\n\ntype Quarters struct{ Crews *map[string]*Crew `json:\"crews\"` }\n"
		}
		data = strings.Replace(data, "\tCrew    *Crew",
			"\tDecks map[Deck]Quarters\n\tCrews map[string]Number\n\tCrew    *Crew", 1)
		return data + "\ntype Deck string\n\ntype Quarters struct{ Crews *map[string]*Crew }\n"
	})
	if _, err := generator.Build(t.Context(), o); err != nil {
		t.Fatal(report.Describe(err, o.Dir))
	}
	wiring := wiringOf(t, o)
	for _, want := range []string{
		"if obj.Spec.Decks == nil {\n\t\t\t\t\t\tobj.Spec.Decks = make(map[fleet.Deck]fleet.Quarters)",
		`entry := obj.Spec.Decks["Upper"]`, "entry.Crews = new(map[string]*fleet.Crew)",
		"(*entry.Crews) = make(map[string]*fleet.Crew)",
		`entry2 := (*entry.Crews)["night"]`, "entry2 = new(fleet.Crew)", "entry2.Wanted = &value",
		`(*entry.Crews)["night"] = entry2`,
		`obj.Spec.Decks["Upper"] = entry`, `"v1": {"spec", "decks", "Upper", "crews", "night", "wanted"}`,
		`value, ok := obj.Spec.Crews["day"]`,
	} {
		if !strings.Contains(wiring, want) {
			t.Errorf("the wiring has no %q in\n%s", want, wiring)
		}
	}
}

func TestSubresourceErrors(t *testing.T) {
	o := subresources(t, func(version, data string) string {
		switch version {
		case "v1beta1":
			data = strings.Replace(data, "// +kubebuilder:subresource:scale:specpath=.spec.crew.wanted\n", "", 1)
		case "":
			data = strings.Replace(data, "Words  []Word ", "Words  float64", 1)
		}
		return data
	})
	_, err := generator.Build(t.Context(), o)
	if err == nil {
		t.Fatal("it was built")
	}
	got := report.Describe(err, o.Dir)
	for _, want := range []string{
		"apis/fleet/v1beta1/types.go:13:6: kind Ship has the subresource scale in another version, and none in " +
			"v1beta1: mark all served versions with +kubebuilder:subresource:scale",
		"apis/fleet/types.go:40:2: field Words of fleet.LogOptions can't be read from a query, as the options of the " +
			"subresource log are: it is float64",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
