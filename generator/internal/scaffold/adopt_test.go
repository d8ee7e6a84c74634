package scaffold

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"apigen.dev/generator/internal/model"
)

// project writes a module whose folders hold packages; a folder named like a version is an API package.
func project(t *testing.T, folders ...string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/guest\n\ngo 1.26.0\n")
	for _, folder := range folders {
		name := filepath.Base(folder)
		if model.IsVersion(name) {
			write(folder+"/doc.go", "// +groupName=guest.example.com\npackage "+name+"\n")
		} else {
			write(folder+"/code.go", "package code\n")
		}
	}
	return dir
}

func TestAdopt(t *testing.T) {
	for _, c := range []struct {
		name, collector, imported string
		folders                   []string
	}{
		{"kubebuilder, one group", "api/groups.go", "\n\t\"example.com/guest/api\"", []string{"api/v1", "api/v1beta1",
			"cmd"}},
		{"kubebuilder, groups", "api/groups.go", "\n\t\"example.com/guest/api\"", []string{"api/guest/v1",
			"api/room/v1"}},
		{"an internal hub", "pkg/apis/groups.go", "\n\t\"example.com/guest/pkg/apis\"", []string{"pkg/apis/wardle",
			"pkg/apis/wardle/v1alpha1"}},
		{"an odd name", "my-api/groups.go", "\n\tmyapi \"example.com/guest/my-api\"", []string{"my-api/v1"}},
		{"what is not its own", "api/groups.go", "\n\t\"example.com/guest/api\"", []string{"api/v1", "vendor/other/v1",
			"x/testdata/v1", ".cache/v1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := project(t, c.folders...)
			before := tree(t, dir)
			result, err := Init(Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if want := []string{c.collector, "cmd/apiserver/main.go"}; !slices.Equal(result.Created, want) ||
				result.NewProject || len(result.Adopted) == 0 {
				t.Errorf("%+v, want %v", result, want)
			}
			after := tree(t, dir)
			for name, content := range before {
				if after[name] != content {
					t.Errorf("%s was changed", name)
				}
			}
			if main := after["cmd/apiserver/main.go"]; !strings.Contains(main, c.imported) {
				t.Errorf("main doesn't import %s:\n%s", c.imported, main)
			}
			if collects := after[c.collector]; !strings.Contains(collects, "\n// +apigen:groups\n") ||
				!strings.Contains(collects, "\n//go:generate go tool apigen build ./...\n") {
				t.Error(collects)
			}
		})
	}
}

func TestAdoptRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		options    Options
		folders    []string
	}{
		{"a second tree", "would be a second tree", widget, []string{"api/v1"}},
		{"no folder in common", "no folder above them", Options{}, []string{"guest/v1", "room/v1"}},
		{"nothing to adopt", "--group is missing", Options{}, []string{"cmd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			options := c.options
			options.Dir, options.Module = project(t, c.folders...), ""
			before := tree(t, options.Dir)
			if _, err := Init(options); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if len(tree(t, options.Dir)) != len(before) {
				t.Error("something was written")
			}
		})
	}
}

// TestNoAdoptionTwice: what was adopted is served already, and no second tree is begun in it.
func TestNoAdoptionTwice(t *testing.T) {
	dir := project(t, "api/v1")
	if _, err := Init(Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	named := widget
	named.Dir, named.Module = dir, ""
	for _, options := range []Options{{Dir: dir}, named} {
		if _, err := Init(options); err == nil || !strings.Contains(err.Error(), "served already, api/v1") {
			t.Errorf("%v", err)
		}
	}
}
