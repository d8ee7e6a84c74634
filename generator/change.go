package generator

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
)

// Change is a file that is to be written or removed.
type Change struct {
	Path string
	// Old is the file's content, nil where there is none. New is what it shall be, nil where it shall go.
	Old, New []byte
}

// Diff is the change as a unified diff, with the path relative to a folder.
func (c Change) Diff(dir string) string {
	name := relative(dir, c.Path)
	from, to := "a/"+name, "b/"+name
	if c.Old == nil {
		from = "/dev/null"
	}
	if c.New == nil {
		to = "/dev/null"
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: lines(emit.Readable(c.Old)), B: lines(emit.Readable(c.New)), FromFile: from, ToFile: to, Context: 3,
	})
	if err != nil {
		return err.Error()
	}
	return text
}

func lines(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	var out []string
	for _, l := range bytes.SplitAfter(data, []byte("\n")) {
		if len(l) > 0 {
			out = append(out, string(l))
		}
	}
	if last := &out[len(out)-1]; (*last)[len(*last)-1] != '\n' {
		*last += "\n"
	}
	return out
}

func relative(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

var generatedPattern = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.\r?$`)

// generated reports whether a file may be replaced: Go files and documents say so themselves; JSON, which can't, is
// ours where a Go file of ours stands beside it.
func generated(path string, content []byte) bool {
	switch {
	case strings.HasSuffix(path, ".go"):
		return generatedPattern.Match(content) || len(bytes.TrimSpace(content)) == 0
	case strings.HasSuffix(path, ".json"):
		return oursBeside(path)
	}
	return noticed(content)
}

// leftBehind reports whether a file that nothing is generated into any more is ours.
func leftBehind(path string, content []byte) bool {
	if strings.HasSuffix(path, ".go") {
		return bytes.Contains(content, []byte(emit.Marker))
	}
	return generated(path, content)
}

func noticed(content []byte) bool {
	const beginning = 200
	return bytes.Contains(content[:min(len(content), beginning)], []byte(emit.Notice))
}

func oursBeside(path string) bool {
	ours, _ := generatedBeside(path)
	return ours
}

// generatedBeside reports whether the folder of a file holds Go files that apigen generated, and such as other tools
// did.
func generatedBeside(path string) (ours, others bool) {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, false
	}
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") || !strings.HasPrefix(e.Name(), "zz_generated.") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if mine := bytes.Contains(data, []byte(emit.Marker)); err == nil {
			ours, others = ours || mine, others || !mine
		}
	}
	return ours, others
}

// compare finds the changes between what was generated and the disk. It refuses to touch what a user wrote.
func (b *build) compare(leftOver map[string]bool) error {
	var faults diag.Errors
	own := map[string]bool{}
	for _, p := range b.loaded.Program.Packages {
		if p.Module == nil || p.Module.Own {
			own[p.Dir] = true
		}
	}
	foreign := map[string]bool{}
	for _, m := range b.loaded.Matched {
		foreign[m.Dir] = !m.Own && !own[m.Dir]
	}
	for _, f := range b.files {
		path := filepath.Join(f.Dir, f.Name)
		if foreign[f.Dir] {
			faults.Add(model.Position{Filename: path}, "package %s is not of the main module or a workspace, so that "+
				"nothing can be written there", f.Package)
			continue
		}
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err != nil {
			old = nil
		} else if old == nil {
			old = []byte{}
		}
		if old != nil && !generated(path, old) && !emit.Same(old, f.Content) {
			faults.Add(model.Position{Filename: path, Line: 1, Column: 1}, "this file is not generated (it has no "+
				"line \"// Code generated ... DO NOT EDIT.\"), but apigen writes a file of this name: rename it")
			continue
		}
		if old == nil || !emit.Same(old, f.Content) {
			b.result.Changes = append(b.result.Changes, Change{Path: path, Old: old, New: f.Content})
		}
	}
	for path := range leftOver {
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b.result.Changes = append(b.result.Changes, Change{Path: path, Old: old})
	}
	sort.Slice(b.result.Changes, func(i, j int) bool { return b.result.Changes[i].Path < b.result.Changes[j].Path })
	return faults.Err()
}

// Summary is the change in a few words, with the path relative to a folder.
func (c Change) Summary(dir string) string {
	switch {
	case c.New == nil:
		return "removed " + relative(dir, c.Path)
	case c.Old == nil:
		return "created " + relative(dir, c.Path)
	}
	return "updated " + relative(dir, c.Path)
}
