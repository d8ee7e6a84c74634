package scaffold

import (
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var widget = Options{
	Module: "example.com/shop", Group: "shop.example.com", Version: "v1", Kind: "Widget",
	ApigenVersion: "v0.0.0", Replace: "../apigen", GoVersion: "1.26.0",
}

func in(dir string, change ...func(*Options)) Options {
	o := widget
	o.Dir = dir
	for _, c := range change {
		c(&o)
	}
	return o
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestNewProject(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop")
	result, err := Init(in(dir))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		".github/workflows/ci.yaml", ".gitignore", "Makefile", "README.md", "apis/apis.go", "apis/shop/v1/doc.go",
		"apis/shop/v1/types.go", "apis/shop/v1/widget_strategy.go", "cmd/shop/main.go", "config/samples/widget.yaml",
		"go.mod",
	}
	created := slices.Sorted(slices.Values(result.Created))
	if !slices.Equal(created, want) || !result.NewProject || len(result.Kept) > 0 {
		t.Errorf("result %+v, want %v", result, want)
	}
	for name, content := range tree(t, dir) {
		if strings.Contains(content, "<no value>") || strings.Contains(content, "{{") {
			t.Errorf("%s was not rendered whole:\n%s", name, content)
		}
		if strings.HasSuffix(name, ".go") {
			if formatted, err := format.Source([]byte(content)); err != nil || string(formatted) != content {
				t.Errorf("%s is not formatted (%v)", name, err)
			}
		}
	}
}

func TestClusterScoped(t *testing.T) {
	dir := t.TempDir()
	if _, err := Init(in(dir, func(o *Options) { o.ClusterScoped = true })); err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	if !strings.Contains(files["apis/shop/v1/types.go"], "+kubebuilder:resource:scope=Cluster") {
		t.Error("the kind is not marked as cluster-scoped")
	}
	if strings.Contains(files["config/samples/widget.yaml"], "namespace:") {
		t.Error("the sample has a namespace")
	}
}

// Init run again adds what is asked for, and changes nothing that is there.
func TestAddToProject(t *testing.T) {
	for _, test := range []struct {
		name    string
		options func(*Options)
		created []string
	}{
		{"a kind", func(o *Options) { o.Kind = "Policy" },
			[]string{"apis/shop/v1/policy_strategy.go", "apis/shop/v1/policy_types.go", "config/samples/policy.yaml"}},
		{"a version of a kind", func(o *Options) { o.Version = "v2" },
			[]string{"apis/shop/v2/doc.go", "apis/shop/v2/types.go", "config/samples/widget.v2.yaml"}},
		{"a group", func(o *Options) { o.Group, o.Kind = "depot.example.com", "Shelf" },
			[]string{"apis/depot/v1/doc.go", "apis/depot/v1/shelf_strategy.go", "apis/depot/v1/types.go",
				"config/samples/shelf.yaml"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := Init(in(dir)); err != nil {
				t.Fatal(err)
			}
			edited := filepath.Join(dir, "apis/shop/v1/types.go")
			content, err := os.ReadFile(edited)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(edited, append(content, "\n// edited\n"...), 0o600); err != nil {
				t.Fatal(err)
			}
			before := tree(t, dir)
			result, err := Init(in(dir, func(o *Options) { o.Module = "" }, test.options))
			if err != nil {
				t.Fatal(err)
			}
			if created := slices.Sorted(slices.Values(result.Created)); !slices.Equal(created, test.created) {
				t.Errorf("created %v, want %v", created, test.created)
			}
			after := tree(t, dir)
			for name, content := range before {
				if after[name] != content {
					t.Errorf("%s was changed", name)
				}
			}
		})
	}
}

// A module that somebody else began becomes a project; what it has stays.
func TestExistingModule(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module example.com/mine\n", "README.md": "mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	result, err := Init(in(dir, func(o *Options) { o.Module = "" }))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(result.Kept, []string{"go.mod", "README.md"}) || !result.NewProject {
		t.Errorf("result %+v", result)
	}
	files := tree(t, dir)
	if files["README.md"] != "mine" || !strings.Contains(files["cmd/mine/main.go"], `"example.com/mine/apis"`) {
		t.Error("the module's own files were changed, or its main does not serve it")
	}
}

func TestSecondVersionHasTheScopeOfTheFirst(t *testing.T) {
	dir := t.TempDir()
	if _, err := Init(in(dir, func(o *Options) { o.ClusterScoped = true })); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{in(dir, func(o *Options) { o.Version = "v2" }), in(dir,
		func(o *Options) { o.Kind = "Gadget" })} {
		if _, err := Init(o); err != nil {
			t.Fatal(err)
		}
	}
	files := tree(t, dir)
	if !strings.Contains(files["apis/shop/v2/types.go"], "scope=Cluster") {
		t.Error("the second version is namespaced")
	}
	if strings.Contains(files["apis/shop/v1/gadget_types.go"], "scope=Cluster") {
		t.Error("another kind became cluster-scoped")
	}
}

func TestSecondVersionIsNoStorageVersion(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []string{"v1", "v2"} {
		if _, err := Init(in(dir, func(o *Options) { o.Version = version })); err != nil {
			t.Fatal(err)
		}
	}
	files := tree(t, dir)
	if !strings.Contains(files["apis/shop/v1/types.go"], "+kubebuilder:storageversion") ||
		strings.Contains(files["apis/shop/v2/types.go"], "storageversion") {
		t.Error("the first version of a kind is to be the storage version, and no other")
	}
}

// Options that are no good are all told at once, and nothing is written.
func TestBadOptions(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Options)
		want   []string
	}{
		{"nothing", func(o *Options) { *o = Options{Dir: o.Dir} }, []string{"--module is " +
			"missing", "--group is missing", "--version is missing", "--kind is missing"}},
		{"module", func(o *Options) { o.Module = "a b" }, []string{`--module "a b"`}},
		{"group", func(o *Options) { o.Group = "Shop_1" },
			[]string{`--group "Shop_1" is no API group like shop.example.com`}},
		{"group of generated code", func(o *Options) { o.Group = "wiring.example.com" },
			[]string{"taken by generated code"}},
		{"version", func(o *Options) { o.Version = "1.0" }, []string{`--version "1.0" is no API version like v1`}},
		{"version zero", func(o *Options) { o.Version = "v0" }, []string{`--version "v0"`}},
		{"lower-case kind", func(o *Options) { o.Kind = "widget" }, []string{`--kind "widget" is no kind`}},
		{"kind with a dash", func(o *Options) { o.Kind = "My-Kind" }, []string{`--kind "My-Kind" is no kind`}},
		{"list", func(o *Options) { o.Kind = "WidgetList" }, []string{"those of a kind's parts"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := Init(in(dir, test.change))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			if files := tree(t, dir); len(files) > 0 {
				t.Errorf("files were written: %v", files)
			}
		})
	}
}

func TestConflictsWithTheProject(t *testing.T) {
	dir := t.TempDir()
	if _, err := Init(in(dir)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"another module", func(o *Options) { o.Module, o.Kind = "example.com/other", "X" }, "leave --module out"},
		{"the same kind", func(*Options) {}, "kind Widget is in version v1 already"},
		{"another group of the same first label", func(o *Options) { o.Group, o.Kind = "shop.other.com", "X" },
			"belongs to group shop.example.com"},
	} {
		if _, err := Init(in(dir, test.change)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
	}
}
