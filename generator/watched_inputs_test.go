package generator_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
)

// bare is a module like library that requires nothing: the go command soon says that the imports of generated code
// aren't there. It is for tests that load often, and where what is generated doesn't matter.
const bare = library + `
-- go.mod --
module example.com/test

go 1.26.0
-- go.sum --
`

// inTime keeps a change from being told by size and time.
func inTime(t *testing.T, o generator.Options, change func()) {
	t.Helper()
	build(t, o)
	if !build(t, o).Unchanged {
		t.Fatal("nothing changed, and it loaded")
	}
	change()
	if build(t, o).Unchanged {
		t.Fatal("it changed, and nothing was loaded")
	}
	if !build(t, o).Unchanged {
		t.Fatal("nothing changed any more, and it loaded")
	}
}

// TestWorkspacesAreWatched: go.work, one that comes or goes, and the modules that it names.
func TestWorkspacesAreWatched(t *testing.T) {
	dir := loadtest.Dir(t, bare)
	other := filepath.Join(dir, "..", "other")
	write(t, filepath.Join(other, "go.mod"), "module example.com/other\n\ngo 1.26.0\n")
	write(t, filepath.Join(other, "lib.go"), "package other\n\ntype T struct{}\n")
	work := filepath.Join(dir, "go.work")
	source := filepath.Join(dir, "books/doc.go")
	o := options(dir)
	o.Env, o.Cache = append(os.Environ(), "GOPROXY=off", loadtest.Flags()), t.TempDir()
	age(t, other)
	inTime(t, o, func() {
		write(t, work, "go 1.26.0\n\nuse .\n")
		age(t, dir)
	})
	inTime(t, o, func() {
		write(t, work, "go 1.26.0\n\nuse (\n\t.\n\t../other\n)\n")
		age(t, dir)
	})
	write(t, source, strings.ReplaceAll(read(t, source), "type Book",
		"import \"example.com/other\"\n\ntype Use struct{ other.T }\n\ntype Book"))
	inTime(t, o, func() { keepTime(t, filepath.Join(other, "lib.go"), "{}", "{ }") })
	inTime(t, o, func() { keepTime(t, work, "use (", "use  (") })
	write(t, source, strings.ReplaceAll(read(t, source), "other.T", "X int"))
	write(t, source, strings.ReplaceAll(read(t, source), "import \"example.com/other\"\n", ""))
	inTime(t, o, func() { remove(t, work) })
}

// TestVendoredModulesAreWatched: the files in vendor, and what lists them.
func TestVendoredModulesAreWatched(t *testing.T) {
	dir := loadtest.Dir(t, `
-- go.mod --
module example.com/test

go 1.26.0

require example.com/lib v0.0.0

replace example.com/lib => ./lib
-- lib/go.mod --
module example.com/lib

go 1.26.0
-- lib/lib.go --
package lib

type T struct{}
-- books/doc.go --
// +k8s:deepcopy-gen=package
package books

import "example.com/lib"

type Book struct{ lib.T }
`)
	cmd := exec.Command("go", "mod", "vendor")
	cmd.Dir, cmd.Env = dir, loadtest.Env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	o := options(dir)
	o.Env, o.Cache = append(o.Env, loadtest.Flags("-mod=vendor")), t.TempDir()
	inTime(t, o, func() { keepTime(t, filepath.Join(dir, "vendor/example.com/lib/lib.go"), "{}", "{ }") })
	inTime(t, o, func() {
		list := filepath.Join(dir, "vendor/modules.txt")
		write(t, list, read(t, list)+"\n")
	})
}
