package generator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/report"
	"apigen.dev/generator/internal/verify"
)

const library = `
-- books/doc.go --
// +k8s:deepcopy-gen=package
package books

type Book struct{ Authors []string }

func (b *Book) Read() string { return b.Tiny() }
-- shelves/doc.go --
// +k8s:deepcopy-gen=package
package shelves

import "example.com/test/books"

type Shelf struct{ Books []books.Book }

func (s *Shelf) First() string { return s.Books[0].Tiny() }
`

// tiny emits a method Tiny for every type to copy; body is its body.
func tiny(body string) emit.Emitter {
	const name = "zz_generated.tiny.go"
	return emit.Emitter{
		Name:  "tiny",
		Files: []string{name},
		Emit: func(p *plan.Plan) ([]emit.File, error) {
			var out []emit.File
			for _, pkg := range p.Packages {
				text := emit.Header(p.Program) + "\n\npackage " + pkg.Name + "\n"
				for _, t := range pkg.Types {
					text += fmt.Sprintf("\nfunc (*%s) Tiny() string { %s }\n", t.Name, body)
				}
				if pkg.Output && pkg.DeepCopy {
					out = append(out, emit.File{
						Package: pkg.Path, PackageName: pkg.Name, Dir: pkg.Dir, Name: name, Content: []byte(text),
					})
				}
			}
			return out, nil
		},
	}
}

func options(dir string) generator.Options {
	return generator.Options{
		Dir: dir, Listings: loadtest.Listings, Emitters: []emit.Emitter{tiny(`return "tiny"`)},
		Env: loadtest.Env(),
	}
}

func build(t *testing.T, o generator.Options) *generator.Result {
	t.Helper()
	if o.Listings == nil {
		o.Listings = loadtest.Listings
	}
	res, err := generator.Build(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// summaries are a result's changes in words.
func summaries(res *generator.Result, dir string) string {
	var out []string
	for _, c := range res.Changes {
		out = append(out, c.Summary(dir))
	}
	return strings.Join(out, "\n")
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestBuildWritesWhatChanged(t *testing.T) {
	dir := loadtest.Dir(t, library)
	o := options(dir)
	if got, want := summaries(build(t, o), dir),
		"created books/zz_generated.tiny.go\ncreated shelves/zz_generated.tiny.go"; got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	if res := build(t, o); len(res.Changes) != 0 || res.Files != 2 {
		t.Errorf("a second build changes %s", summaries(res, dir))
	}
	broken := filepath.Join(dir, "books/zz_generated.tiny.go")
	write(t, broken, emit.Marker+"\n\npackage books\n\n<<<<<<< HEAD\n")
	if got := summaries(build(t, o), dir); got != "updated books/zz_generated.tiny.go" {
		t.Errorf("got %s", got)
	}
	write(t, broken, "\n")
	if got := summaries(build(t, o), dir); got != "updated books/zz_generated.tiny.go" {
		t.Errorf("an empty file: got %s", got)
	}
	o.Header = "// A license."
	build(t, o)
	if text := read(t, broken); !strings.HasPrefix(text, "// A license.\n\n"+emit.Marker+"\n\npackage books\n") {
		t.Errorf("the file begins with\n%s", text)
	}
}

func TestCheckWritesNothing(t *testing.T) {
	dir := loadtest.Dir(t, library)
	o := options(dir)
	build(t, o)
	stale := filepath.Join(dir, "books/zz_generated.tiny.go")
	write(t, stale, strings.ReplaceAll(read(t, stale), `"tiny"`, `"huge"`))
	left := filepath.Join(dir, "gone/zz_generated.tiny.go")
	write(t, left, emit.Marker+"\n\npackage gone\n")
	missing := filepath.Join(dir, "shelves/zz_generated.tiny.go")
	if err := os.Remove(missing); err != nil {
		t.Fatal(err)
	}
	o.Check = true
	res := build(t, o)
	diff := ""
	for _, c := range res.Changes {
		diff += c.Diff(dir)
	}
	for _, want := range []string{
		"--- a/books/zz_generated.tiny.go\n+++ b/books/zz_generated.tiny.go\n",
		"-func (*Book) Tiny() string { return \"huge\" }\n+func (*Book) Tiny() string { return \"tiny\" }\n",
		"--- a/gone/zz_generated.tiny.go\n+++ /dev/null\n",
		"--- /dev/null\n+++ b/shelves/zz_generated.tiny.go\n",
	} {
		if !strings.Contains(diff, want) {
			t.Errorf("no %q in\n%s", want, diff)
		}
	}
	if _, err := os.Stat(missing); err == nil || !strings.Contains(read(t, stale), "huge") {
		t.Error("a check wrote something")
	}
	o.Check = false
	build(t, o)
	if _, err := os.Stat(filepath.Dir(left)); err == nil {
		t.Error("what is left over, and its empty folder, stay")
	}
	o.Check = true
	if res := build(t, o); len(res.Changes) != 0 {
		t.Errorf("after a build, a check finds %s", summaries(res, dir))
	}
}

func TestOthersFilesStay(t *testing.T) {
	dir := loadtest.Dir(t, library+`
-- plain/plain.go --
// +k8s:openapi-gen=true
package plain
-- plain/zz_generated.tiny.go --
// Code generated by another tool. DO NOT EDIT.

package plain
-- hand/hand.go --
// +k8s:deepcopy-gen=package
package hand
-- hand/zz_generated.tiny.go --
package hand

// I wrote this.
`)
	o := options(dir)
	o.Patterns = []string{"./books", "./shelves", "./plain/..."}
	res := build(t, o)
	if strings.Contains(summaries(res, dir), "plain") {
		t.Errorf("got %s", summaries(res, dir))
	}
	o.Patterns = nil
	_, err := generator.Build(context.Background(), o)
	if err == nil || !strings.Contains(report.Describe(err, dir),
		"hand/zz_generated.tiny.go:1:1: this file is not generated") {
		t.Errorf("got %v", err)
	}
}

func TestGeneratedCodeThatDoesNotCompileIsABug(t *testing.T) {
	dir := loadtest.Dir(t, library)
	o := options(dir)
	o.Emitters = []emit.Emitter{tiny("return 1")}
	_, err := generator.Build(context.Background(), o)
	var bug verify.Bug
	if !errors.As(err, &bug) ||
		!strings.Contains(report.Describe(err, dir), "books/zz_generated.tiny.go:5:37: cannot use 1") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "books/zz_generated.tiny.go")); err == nil {
		t.Error("it was written")
	}
}

func TestErrorsInBodiesAreTheUsers(t *testing.T) {
	dir := loadtest.Dir(t, strings.ReplaceAll(library, "return b.Tiny()", "return b.Tinny()"))
	_, err := generator.Build(context.Background(), options(dir))
	if err == nil || !strings.HasPrefix(report.Describe(err, dir), "books/doc.go:6:41: b.Tinny undefined") {
		t.Errorf("got %v", err)
	}
}

func TestPanicsAreReported(t *testing.T) {
	dir := loadtest.Dir(t, library)
	o := options(dir)
	o.Emitters = []emit.Emitter{
		{Name: "bad", Emit: func(*plan.Plan) ([]emit.File, error) {
			panic("oops")
		}},
	}
	_, err := generator.Build(context.Background(), o)
	var p generator.Panic
	if !errors.As(err, &p) || p.Value != "oops" {
		t.Errorf("got %v", err)
	}
}

func TestOnlyKeepsWhatOthersWrote(t *testing.T) {
	dir := loadtest.Dir(t, library)
	o := options(dir)
	second := tiny(`return "second"`)
	second.Name, second.Files = "second", []string{"zz_generated.second.go"}
	second.Emit = func(*plan.Plan) ([]emit.File, error) { return nil, nil }
	o.Emitters = append(o.Emitters, second)
	build(t, o)
	write(t, filepath.Join(dir, "books/zz_generated.second.go"), emit.Marker+"\n\npackage books\n")
	o.Only = []string{"tiny"}
	if res := build(t, o); len(res.Changes) != 0 {
		t.Errorf("got %s", summaries(res, dir))
	}
	o.Only = []string{"second"}
	if got := summaries(build(t, o), dir); got != "removed books/zz_generated.second.go" {
		t.Errorf("got %s", got)
	}
	o.Only = []string{"third"}
	if _, err := generator.Build(context.Background(), o); err == nil ||
		err.Error() != `unknown emitter "third": known are tiny, second` {
		t.Errorf("got %v", err)
	}
}

// TestAllOrNothing: where one file can't be put into place, none is, and what was there is back.
func TestAllOrNothing(t *testing.T) {
	dir := loadtest.Dir(t, library)
	o := options(dir)
	build(t, o)
	stale := filepath.Join(dir, "books/zz_generated.tiny.go")
	old := strings.ReplaceAll(read(t, stale), `"tiny"`, `"huge"`)
	write(t, stale, old)
	blocked := filepath.Join(dir, "shelves/zz_generated.tiny.go")
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	// The folder comes into being while the emitters run, after everything was compared with the disk but for this.
	o.Progress = func(stage string) {
		if stage == "writing" {
			write(t, filepath.Join(blocked, "file"), "")
		}
	}
	_, err := generator.Build(context.Background(), o)
	if err == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Fatalf("got %v", err)
	}
	if got := read(t, stale); got != old {
		t.Errorf("the other file is now\n%s", got)
	}
	if entries, _ := filepath.Glob(filepath.Join(dir, "*", ".apigen-*")); len(entries) > 0 {
		t.Errorf("temporary files stay: %v", entries)
	}
}

// TestKilledRunsAreSweptUp checks that the next write removes the temporary files of a run that was killed, and keeps
// those of a run that may still go on.
func TestKilledRunsAreSweptUp(t *testing.T) {
	dir := loadtest.Dir(t, library)
	dead, alive := filepath.Join(dir, "books/.apigen-1.tmp"), filepath.Join(dir, "books/.apigen-2.tmp")
	write(t, dead, "half")
	age(t, filepath.Dir(dead))
	write(t, alive, "half")
	build(t, options(dir))
	if _, err := os.Stat(dead); err == nil {
		t.Error("what a killed run left stays")
	}
	if read(t, alive) != "half" {
		t.Error("a run beside this one lost its file")
	}
}

func TestNothingToGenerateIsSaid(t *testing.T) {
	dir := loadtest.Dir(t, "-- plain/plain.go --\npackage plain\n")
	res := build(t, options(dir))
	if len(res.Notes) != 1 || !strings.HasPrefix(res.Notes[0], "nothing to generate: no package holds markers") {
		t.Errorf("got %q", res.Notes)
	}
}

// TestUnchangedRuns: a build after nothing changed loads nothing; whatever can change its outcome makes it load.
func TestUnchangedRuns(t *testing.T) {
	dir := loadtest.Dir(t, bare)
	replaced := t.TempDir()
	write(t, filepath.Join(replaced, "go.mod"), "module example.com/replaced\n\ngo 1.26.0\n")
	write(t, filepath.Join(replaced, "lib.go"), "package replaced\n\ntype T struct{}\n")
	mod := filepath.Join(dir, "go.mod")
	write(t, mod, read(t, mod)+"\nrequire example.com/replaced v0.0.0\n\nreplace example.com/replaced => "+replaced+
		"\n")
	source := filepath.Join(dir, "books/doc.go")
	write(t, source, strings.ReplaceAll(read(t, source), "type Book",
		"import \"example.com/replaced\"\n\ntype Use struct{ replaced.T }\n\ntype Book"))
	age(t, replaced)
	o := options(dir)
	o.Cache = t.TempDir()
	build(t, o)
	steady := func(t *testing.T) {
		t.Helper()
		for range 2 { // what was written just now is trusted by the second build
			if build(t, o).Unchanged {
				return
			}
		}
		t.Fatal("nothing changed, and it loaded")
	}
	steady(t)
	for _, step := range []struct {
		name   string
		change func(t *testing.T)
	}{
		{"a source file, its size and time kept", func(t *testing.T) { keepTime(t, source, "Authors", "Readers") }},
		{"a replaced module's file", func(t *testing.T) {
			keepTime(t, filepath.Join(replaced, "lib.go"), "{}", "{ }")
		}},
		{"a new package", func(t *testing.T) { write(t, filepath.Join(dir, "new/new.go"), "package fresh\n") }},
		{"a file that goes", func(t *testing.T) { remove(t, filepath.Join(dir, "new/new.go")) }},
		{"an output that goes", func(t *testing.T) { remove(t, filepath.Join(dir, "books/zz_generated.tiny.go")) }},
		{"an output, its size and time kept", func(t *testing.T) {
			keepTime(t, filepath.Join(dir, "books/zz_generated.tiny.go"), `"tiny"`, `"huge"`)
		}},
		{"go.mod", func(t *testing.T) { write(t, mod, read(t, mod)+"\n// changed\n") }},
		{"go.sum", func(t *testing.T) {
			write(t, filepath.Join(dir, "go.sum"), read(t, filepath.Join(dir, "go.sum"))+"\n")
		}},
		{"the header", func(*testing.T) { o.Header = "// Another." }},
		{"build tags", func(*testing.T) { o.Env = append(o.Env, loadtest.Flags("-tags=other")) }},
		{"the toolchain", func(*testing.T) { o.Env = append(o.Env, "GOTOOLCHAIN=local") }},
	} {
		t.Run(step.name, func(t *testing.T) {
			step.change(t)
			age(t, replaced)
			if build(t, o).Unchanged {
				t.Fatal("it changed, and nothing was loaded")
			}
			steady(t)
		})
	}
}

// TestOverlaysAreNotRemembered: what can't be told is not remembered.
func TestOverlaysAreNotRemembered(t *testing.T) {
	dir := loadtest.Dir(t, bare)
	o := options(dir)
	o.Cache = t.TempDir()
	write(t, filepath.Join(dir, "overlay.json"), `{"Replace":{}}`)
	o.Env = append(o.Env, loadtest.Flags("-overlay="+filepath.Join(dir, "overlay.json")))
	build(t, o)
	if build(t, o).Unchanged {
		t.Error("a build with an overlay was remembered")
	}
}

// TestLinksAreFollowed: what lies behind symbolic links is an input like any other.
func TestLinksAreFollowed(t *testing.T) {
	dir := loadtest.Dir(t, bare)
	first, second, link := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "link")
	for _, folder := range []string{first, second} {
		write(t, filepath.Join(folder, "go.mod"), "module example.com/replaced\n\ngo 1.26.0\n")
		write(t, filepath.Join(folder, "lib.go"), "package replaced\n\ntype T struct{}\n")
		age(t, folder)
	}
	point := func(to string) {
		_ = os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Skipf("symbolic links can't be made here: %v", err)
		}
	}
	point(first)
	mod, source := filepath.Join(dir, "go.mod"), filepath.Join(dir, "books/doc.go")
	write(t, mod, read(t, mod)+"\nrequire example.com/replaced v0.0.0\n\nreplace example.com/replaced => "+link+"\n")
	write(t, source, strings.ReplaceAll(read(t, source), "type Book",
		"import \"example.com/replaced\"\n\ntype Use struct{ replaced.T }\n\ntype Book"))
	o := options(dir)
	o.Cache = t.TempDir()
	build(t, o)
	if !build(t, o).Unchanged {
		t.Error("nothing changed, and it loaded")
	}
	keepTime(t, filepath.Join(first, "lib.go"), "{}", "{ }")
	if build(t, o).Unchanged {
		t.Error("a file behind a link changed, and nothing was loaded")
	}
	build(t, o)
	point(second)
	if build(t, o).Unchanged {
		t.Error("a link leads elsewhere, and nothing was loaded")
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "elsewhere/doc.go"),
		"// +k8s:deepcopy-gen=package\npackage elsewhere\n\ntype T struct{}\n")
	o.Patterns = []string{"./elsewhere"}
	build(t, o)
	if build(t, o).Unchanged {
		t.Error("a package behind a link was remembered, whose files are not watched")
	}
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
}

// keepTime changes a file so that neither its size nor its time tells.
func keepTime(t *testing.T, name, before, after string) {
	t.Helper()
	st, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, name)
	if !strings.Contains(text, before) {
		t.Fatalf("no %s in %s", before, text)
	}
	write(t, name, strings.ReplaceAll(text, before, after))
	if err := os.Chtimes(name, st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// age makes the files of a folder old enough to be trusted on a first build.
func age(t *testing.T, dir string) {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Chtimes(filepath.Join(dir, e.Name()), past, past); err != nil {
			t.Fatal(err)
		}
	}
}

// TestInterrupted: who ends a build is told what became of it.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := generator.Build(ctx,
		generator.Options{Dir: loadtest.Dir(t, "-- api/v1/types.go --\n// +groupName=shop.example.com\npackage v1\n")})
	if err == nil || report.Describe(err, "") != "interrupted: nothing was written" {
		t.Errorf("got %v", err)
	}
}
