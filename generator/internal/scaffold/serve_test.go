package scaffold

import (
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"apigen.dev/generator/internal/model"
)

// writeFiles writes the files of a module.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const serving = "// +apigen:serve=k8s.io/api/apps/v1\npackage v1\n"

// TestServeAlone: a module whose API packages all serve others gets all that it lacks, and keeps what it has.
func TestServeAlone(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   map[string]string
		base    string
		created []string
	}{
		{"the marker alone", map[string]string{"apis/apps/v1/doc.go": serving}, "apis", []string{
			".github/workflows/ci.yaml", ".gitignore", "Makefile", "README.md", "apis/apis.go", "cmd/deploy/main.go"}},
		{"another folder", map[string]string{"pkg/apis/apps/v1/doc.go": serving}, "pkg/apis/apps", []string{
			".github/workflows/ci.yaml", ".gitignore", "Makefile", "README.md", "cmd/deploy/main.go",
			"pkg/apis/apps/apis.go"}},
		{"a collector by hand", map[string]string{"apis/apps/v1/doc.go": serving,
			"apis/all.go": "// +apigen:groups\npackage apis\n", "Makefile": "all:\n"}, "apis", []string{
			".github/workflows/ci.yaml", ".gitignore", "README.md", "cmd/deploy/main.go"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, c.files)
			writeFiles(t, dir, map[string]string{"go.mod": "module example.com/deploy\n"})
			result, err := Init(Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if created := slices.Sorted(slices.Values(result.Created)); !slices.Equal(created, c.created) {
				t.Errorf("created %q, want %q", created, c.created)
			}
			if !result.NewProject || !slices.Equal(result.Serving, []string{"k8s.io/api/apps/v1"}) {
				t.Errorf("%+v", result)
			}
			files := tree(t, dir)
			for name, text := range c.files {
				if files[name] != text {
					t.Errorf("%s was changed", name)
				}
			}
			if main := files["cmd/deploy/main.go"]; !strings.Contains(main, `"example.com/deploy/`+c.base+`"`) {
				t.Error(main)
			}
			again, err := Init(Options{Dir: dir})
			if err != nil || len(again.Created) > 0 || again.NewProject {
				t.Errorf("the second time: %+v, %v", again, err)
			}
		})
	}
}

// TestStandalone: a main names the ready-made features, unless the project serves one of their groups itself.
func TestStandalone(t *testing.T) {
	for _, c := range []struct {
		name, main string
		options    Options
		want       bool
	}{
		{"a kind of its own", "cmd/shop/main.go", in(""), true},
		{"a group of its own", "cmd/deploy/main.go",
			Options{Module: "example.com/deploy", Serve: []string{"k8s.io/api/apps/v1"}}, true},
		{"a ready-made group", "cmd/deploy/main.go",
			Options{Module: "example.com/deploy", Serve: []string{"k8s.io/api/apps/v1", "k8s.io/api/core/v1"}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.Dir = t.TempDir()
			if _, err := Init(c.options); err != nil {
				t.Fatal(err)
			}
			main := tree(t, c.options.Dir)[c.main]
			for _, text := range []string{`"apigen.dev/runtime/builtin"`, "Features: builtin.Standalone(),"} {
				if strings.Contains(main, text) != c.want {
					t.Errorf("main has %s: %t\n%s", text, !c.want, main)
				}
			}
			if formatted, err := format.Source([]byte(main)); err != nil || string(formatted) != main {
				t.Errorf("main is not formatted (%v):\n%s", err, main)
			}
		})
	}
}

// TestServe: the package that serves another one names its kinds, and what follows from their markers.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	options := Options{Dir: dir, Module: "example.com/deploy", Serve: []string{"example.org/pets/v1"}}
	if _, err := Init(options); err != nil {
		t.Fatal(err)
	}
	kind := func(name string, k model.Kind) *model.Type {
		k.Served = name != "Body"
		return &model.Type{Name: name, Kind: &k}
	}
	cat := model.Kind{Client: &model.Client{Methods: []model.ClientMethod{
		{Name: "GetScale", Subresource: "scale"}, {Name: "UpdateScale", Subresource: "scale"},
		{Name: "Feed", Subresource: "food"}, {Name: "Find"}, {Name: "Report", Subresource: "status"},
	}}}
	dog := model.Kind{KindViews: model.KindViews{Columns: []model.Column{{Name: "Breed"}}}}
	pets := &model.Package{Path: "example.org/pets/v1", Version: "v1", Group: "pets.example.org",
		Types: []*model.Type{kind("Cat", cat), kind("Dog", dog), kind("Body", dog), {Name: "Spec"}}}
	result, err := Serve(dir, pets)
	if err != nil || !slices.Equal(result.Created, []string{"apis/pets/v1/doc.go"}) {
		t.Fatalf("%+v, %v", result, err)
	}
	const want = `//
// +apigen:serve=example.org/pets/v1
// +apigen:serve:kinds=Cat;Dog
//
// Clients of Cat use the subresource scale, which ` + "`+kubebuilder:subresource:scale`" + ` serves.
// Clients of Cat use the subresource food, which ` + "`+apigen:subresource:name=food`" + ` serves.
// +apigen:kind(Cat)=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1

import _ "example.org/pets/v1" // go mod tidy keeps its module
`
	if doc := tree(t, dir)["apis/pets/v1/doc.go"]; !strings.HasSuffix(doc, want) {
		t.Errorf("got\n%s\nwant\n%s", doc, want)
	}
	if folder, err := Serves(dir, "example.org/pets/v1"); err != nil || folder != "apis/pets/v1" {
		t.Errorf("served in %q, %v", folder, err)
	}
	other := &model.Package{Path: "example.com/other/v1", Version: "v1", Group: "pets.example.com",
		PackageServing: model.PackageServing{OtherGroupMarked: true}}
	result, err = Serve(dir, other)
	if err != nil || !slices.Equal(result.Created, []string{"apis/pets/other/v1/doc.go"}) {
		t.Errorf("a second package of the version: %+v, %v", result, err)
	}
	const group = "// +groupName=pets.example.com\n// +apigen:serve=example.com/other/v1\n"
	if doc := tree(t, dir)["apis/pets/other/v1/doc.go"]; !strings.Contains(doc, group) {
		t.Errorf("the group of a package whose marker names another one is not in\n%s", doc)
	}
	const taken = "apis/pets/v1 and apis/pets/other/v1 are packages already"
	if _, err := Serve(dir, other); err == nil || !strings.Contains(err.Error(), taken) {
		t.Errorf("a third package of the version: %v", err)
	}
}

func TestServeCore(t *testing.T) {
	dir := t.TempDir()
	var types []*model.Type
	for range 40 {
		kind := &model.Kind{KindNames: model.KindNames{Served: true}}
		types = append(types, &model.Type{Name: "Endpoints", Kind: kind})
	}
	result, err := Serve(dir, &model.Package{Path: "k8s.io/api/core/v1", Version: "v1", Types: types})
	if err != nil || !slices.Equal(result.Created, []string{"apis/core/v1/doc.go"}) {
		t.Fatalf("%+v, %v", result, err)
	}
	doc := tree(t, dir)["apis/core/v1/doc.go"]
	for line := range strings.Lines(doc) {
		if len(line) > 121 {
			t.Errorf("a long line: %s", line)
		}
	}
	if n := strings.Count(doc, "+apigen:serve:kinds="); n < 2 {
		t.Errorf("%d lists of kinds", n)
	}
}

func TestServeRefuses(t *testing.T) {
	foreign := []string{"k8s.io/api/apps/v1"}
	for want, options := range map[string]Options{
		"leave --group":       {Serve: foreign, Module: "example.com/deploy", Kind: "Widget"},
		"--module is missing": {Serve: foreign},
	} {
		options.Dir = t.TempDir()
		if _, err := Init(options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	dir := project(t, "api/v1")
	_, err := Init(Options{Dir: dir, Serve: foreign})
	if err == nil || !strings.Contains(err.Error(), "without --serve") {
		t.Errorf("beside own types: %v", err)
	}
}

func TestQueries(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"go.mod": "module example.com/deploy\n\n" +
		"require (\n\tk8s.io/metrics v0.36.1\n\texample.org/pets v1.2.3\n)\n"})
	got, err := Queries(dir, "v0.37.2", []string{"k8s.io/api/apps/v1", "k8s.io/metrics/pkg/apis/metrics/v1",
		"example.org/pets/v1", "example.org/petshop/v1", "example.org/pets/v2"},
		map[string]string{"example.org/pets/v2": "v2.0.0"})
	want := []string{"k8s.io/api/apps/v1@v0.37.2", "k8s.io/metrics/pkg/apis/metrics/v1@v0.36.1",
		"example.org/pets/v1@v1.2.3", "example.org/petshop/v1@latest",
		"example.org/pets/v2@v2.0.0"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
}

// TestSkew: the modules that a project requires are of the release that apigen needs, or of a newer one.
func TestSkew(t *testing.T) {
	const others = "\tk8s.io/utils v0.0.0-20260707023825-cf1189d6abe3\n\texample.org/client-go v0.36.0\n"
	for _, c := range []struct{ name, requires, want string }{
		{"nothing of Kubernetes", others, ""},
		{"aligned", others + "\tk8s.io/api v0.37.0\n\tk8s.io/apimachinery v0.37.2\n", ""},
		{"older", others + "\tk8s.io/api v0.36.0\n\tk8s.io/apimachinery v0.36.0\n", "go get k8s.io/api@v0.37.2"},
		{"apart", others + "\tk8s.io/api v0.36.0\n\tk8s.io/apimachinery v0.38.1\n\tk8s.io/client-go v0.38.0\n",
			"go get k8s.io/api@v0.38.1"},
	} {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{"go.mod": "module example.com/deploy\n\nrequire (\n" + c.requires + ")\n"})
		if got, err := Skew(dir, "v0.37.2"); err != nil || got.Command() != c.want {
			t.Errorf("%s: got %q, %v\nwant %q", c.name, got.Command(), err, c.want)
		}
	}
}
