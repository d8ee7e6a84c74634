package generator_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"apigen.dev/generator/internal/loadtest"
)

// FuzzPrograms builds programs that are made of parts of the bad inputs: it puts markers on other fields, gives fields
// other types, drops or repeats lines, and spoils values. A module holds many programs, since most of the cost of a
// build is the listing of dependencies; the test removes the faulty ones until the rest builds. They must meet the
// demands of FuzzLoad, too. The fuzzing engine ends a process whose input takes ten seconds ("hung or terminated
// unexpectedly: exit status 2", without a reason), so the test begins no further build after three seconds.
func FuzzPrograms(f *testing.F) {
	parts := newParts(append(seeds(f), examples(f)...))
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		const count, enough = 8, 3 * time.Second
		begun := time.Now()
		dir := loadtest.Dir(t, "")
		for i := range count {
			for _, file := range parts.program(rand.New(rand.NewPCG(seed, uint64(i))), i) {
				writeFile(t, filepath.Join(dir, filepath.FromSlash(file.Name)), file.Data)
			}
		}
		x := trial{t, dir}
		for range count {
			faults := x.build()
			if time.Since(begun) > enough {
				return
			}
			if faults == nil {
				x.again()
				return
			}
			for _, e := range faults {
				if rel, err := filepath.Rel(dir, e.Pos.Filename); err == nil && filepath.IsLocal(rel) {
					if err := os.RemoveAll(filepath.Join(
						dir, strings.Split(filepath.ToSlash(rel), "/")[0])); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

// examples are the hand-written API packages of the examples.
func examples(t testing.TB) [][]txtar.File {
	t.Helper()
	var out [][]txtar.File
	for _, name := range []string{"library", "park", "fleet", "quickstart"} {
		var files []txtar.File
		root := filepath.Join("../examples", name)
		mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		module := strings.Fields(string(mod))[1]
		err = filepath.WalkDir(filepath.Join(root, "apis"), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasPrefix(d.Name(), "zz_") ||
				strings.HasSuffix(file, "_test.go") {
				return err
			}
			data, err := os.ReadFile(file)
			rel, _ := filepath.Rel(root, file)
			files = append(files, txtar.File{
				Name: filepath.ToSlash(rel),
				Data: bytes.ReplaceAll(data, []byte(module+"/"), []byte(loadtest.Module+"/")),
			})
			return err
		})
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files: %v", root, len(files), err)
		}
		for range 5 { // a third of what is tried begins as what can be built
			out = append(out, files)
		}
	}
	return out
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// parts are what programs are put together from.
type parts struct {
	programs       [][]txtar.File
	markers        map[place][]string
	fields, shapes []string
	imports        map[string]string // by the name that they have in a file
}

var (
	markerLine = regexp.MustCompile(`^\s*// ?\+\S`)
	fieldLine  = regexp.MustCompile("^\t([A-Za-z_][A-Za-z0-9_]*) +([^`{}()]*[^`{}() ])( +`json:[^`]*`)?$")
	groupLine  = regexp.MustCompile(`\+groupName=(\w)`)
	numberPart = regexp.MustCompile(`-?\b[0-9]+(\.[0-9]+)?\b`)
)

func newParts(programs [][]txtar.File) *parts {
	p := &parts{programs: programs, markers: map[place][]string{}, imports: map[string]string{}}
	for _, files := range programs {
		for _, f := range files {
			p.gather(f)
		}
	}
	for at, all := range p.markers {
		p.markers[at] = distinct(all)
	}
	p.fields, p.shapes = distinct(p.fields), distinct(p.shapes)
	return p
}

func distinct(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}

// place is what a line is, or what the markers above it are on.
type place uint8

const (
	onOther place = iota
	onPackage
	onType
	onField
)

func placeOf(line string) place {
	switch {
	case strings.HasPrefix(line, "package "):
		return onPackage
	case strings.HasPrefix(line, "type "):
		return onType
	case fieldLine.MatchString(line):
		return onField
	}
	return onOther
}

func (p *parts) gather(f txtar.File) {
	file, _ := parser.ParseFile(token.NewFileSet(), f.Name, f.Data, parser.ImportsOnly)
	if file == nil {
		return
	}
	for _, i := range file.Imports {
		target, err := strconv.Unquote(i.Path.Value)
		if name := importName(i); err == nil && name != "_" && name != "." &&
			!strings.HasPrefix(target, "example.com/") {
			p.imports[name] = target
		}
	}
	var above []string
	for line := range strings.Lines(string(f.Data)) {
		line = strings.TrimRight(line, "\r\n")
		if at := placeOf(line); at != onOther {
			p.markers[at] = append(p.markers[at], above...)
			above = nil
		}
		if markerLine.MatchString(line) {
			above = append(above, strings.TrimSpace(line))
		} else if m := fieldLine.FindStringSubmatch(line); m != nil && len(line) < 200 {
			p.fields = append(p.fields, line)
			p.shapes = append(p.shapes, m[2])
		}
	}
}

func importName(i *ast.ImportSpec) string {
	if i.Name != nil {
		return i.Name.Name
	}
	target, _ := strconv.Unquote(i.Path.Value)
	return path.Base(target)
}

// program is a program of the seeds with some of its lines changed, in a folder and groups of its own.
func (p *parts) program(r *rand.Rand, i int) []txtar.File {
	var out []txtar.File
	folder := "p" + strconv.Itoa(i)
	for _, f := range p.programs[r.IntN(len(p.programs))] {
		lines := strings.Split(string(f.Data), "\n")
		for range r.IntN(5) * r.IntN(3) / 2 {
			lines = p.change(r, lines)
		}
		text := groupLine.ReplaceAllString(strings.Join(lines, "\n"), "+groupName="+folder+".$1")
		text = strings.ReplaceAll(text, loadtest.Module+"/", loadtest.Module+"/"+folder+"/")
		out = append(out, txtar.File{Name: folder + "/" + f.Name, Data: p.mend(f.Name, []byte(text))})
	}
	return out
}

// change changes one line.
func (p *parts) change(r *rand.Rand, lines []string) []string {
	at := r.IntN(len(lines))
	for n := 0; n < 5 && placeOf(lines[at]) == onOther; n++ { // blank lines and braces are dull
		at = r.IntN(len(lines))
	}
	line := lines[at]
	indent := line[:len(line)-len(strings.TrimLeft(line, "\t"))]
	marker := indent + p.marker(r, line)
	field := fieldLine.FindStringSubmatchIndex(line)
	switch op := r.IntN(12); {
	case op < 3:
		return slices.Insert(slices.Clone(lines), at, marker)
	case op < 5 && field != nil:
		shape := p.shapes[r.IntN(len(p.shapes))]
		return replaced(lines, at, line[:field[4]]+shapeOf(r, shape)+line[field[5]:])
	case op < 5 && markerLine.MatchString(line):
		return replaced(lines, at, spoilt(r, line))
	case op < 7 && field != nil:
		return slices.Insert(slices.Clone(lines), at, p.fields[r.IntN(len(p.fields))])
	case op == 7:
		return slices.Delete(slices.Clone(lines), at, at+1)
	case op == 8:
		return slices.Insert(slices.Clone(lines), at, line)
	case op == 9:
		return replaced(lines, at, numberPart.ReplaceAllString(line, numbers[r.IntN(len(numbers))]))
	case op == 10:
		return slices.Insert(slices.Clone(lines), at, spoilt(r, marker))
	case markerLine.MatchString(line):
		return replaced(lines, at, marker)
	}
	return lines
}

// marker is a marker, mostly of those that belong above a line.
func (p *parts) marker(r *rand.Rand, line string) string {
	at := placeOf(line)
	if at == onOther || r.IntN(8) == 0 {
		at = onPackage + place(r.IntN(3))
	}
	return p.markers[at][r.IntN(len(p.markers[at]))]
}

func replaced(lines []string, at int, line string) []string {
	out := slices.Clone(lines)
	out[at] = line
	return out
}

var numbers = []string{"0", "-1", "1.5", "99999999999999999999", "1e400", "0x10", "007", "NaN", "3"}

// shapeOf is a type made of another.
func shapeOf(r *rand.Rand, shape string) string {
	forms := []string{"%s", "%s", "%s", "*%s", "[]%s", "[]*%s", "**%s", "[3]%s", "[0]%s", "map[string]%s",
		"map[string][]%s", "[][]%s", "map[string]map[string]%s", "struct{ X %s }"}
	return fmt.Sprintf(forms[r.IntN(len(forms))], shape)
}

// spoilt is a line with a character too many, too few, or another.
func spoilt(r *rand.Rand, line string) string {
	if line == "" {
		return line
	}
	const chars = "=:,;+(){}[]\"'`\\ .-_|0aAé\x00\t"
	at := strings.Index(line, "+") + 1
	at += r.IntN(len(line) - at + 1)
	c := string(chars[r.IntN(len(chars))])
	switch r.IntN(4) {
	case 0:
		return line[:at] + c + line[at:]
	case 1:
		return line[:at]
	case 2:
		return line[:at] + c + line[min(at+1, len(line)):]
	}
	return line[:at] + line[min(at+1, len(line)):]
}

// mend adds the imports that a file misses, and blanks those that it doesn't use. It leaves a file that doesn't parse.
func (p *parts) mend(name string, text []byte) []byte {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return text
	}
	used, have := map[string]bool{}, map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	out := []byte{}
	done := 0
	keep := func(to token.Pos) {
		out, done = append(out, text[done:fset.Position(to).Offset]...), fset.Position(to).Offset
	}
	keep(file.Name.End())
	at := len(out)
	for _, i := range file.Imports {
		name := importName(i)
		have[name] = true
		if !used[name] && name != "_" && name != "." && name != "C" {
			keep(i.Pos())
			out = append(out, "_ "...)
			done = fset.Position(i.Path.Pos()).Offset
		}
	}
	out = append(out, text[done:]...)
	for _, n := range slices.Sorted(maps.Keys(p.imports)) {
		if used[n] && !have[n] {
			out = slices.Insert(out, at, fmt.Appendf(nil, "\nimport %s %q\n", n, p.imports[n])...)
		}
	}
	if pretty, err := format.Source(out); err == nil {
		return pretty
	}
	return out
}
