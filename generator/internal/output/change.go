// Package output is what a build does to the disk. It says which files are apigen's to replace, and writes changes all
// at once or not at all, even if the process is killed.
package output

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/folder"
)

// Change is a file that is to be written or removed.
type Change struct {
	Path string
	// Old is the file's content, nil if there is none. New is what it shall be, nil if it shall go.
	Old, New []byte
}

// Diff is the change as a unified diff, with the path relative to a folder.
func (c Change) Diff(dir string) string {
	name := folder.Relative(dir, c.Path)
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

var generatedPattern = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.\r?$`)

// Generated reports whether a file may be replaced: Go files and documents say so themselves; JSON, which can't, is
// ours where a Go file of ours stands beside it.
func Generated(path string, content []byte) bool {
	switch {
	case strings.HasSuffix(path, ".go"):
		return generatedPattern.Match(content) || len(bytes.TrimSpace(content)) == 0
	case strings.HasSuffix(path, ".json"):
		return oursBeside(path)
	}
	return noticed(content)
}

// LeftBehind reports whether a file that nothing is generated into any more is ours.
func LeftBehind(path string, content []byte) bool {
	if strings.HasSuffix(path, ".go") {
		return bytes.Contains(content, []byte(emit.Marker))
	}
	return Generated(path, content)
}

func noticed(content []byte) bool {
	const beginning = 200
	return bytes.Contains(content[:min(len(content), beginning)], []byte(emit.Notice))
}

func oursBeside(path string) bool {
	ours, _ := GeneratedBeside(path)
	return ours
}

// GeneratedBeside reports whether the folder of a file holds Go files that apigen generated, and such as other tools
// did.
func GeneratedBeside(path string) (ours, others bool) {
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

// Summary is the change in a few words, with the path relative to a folder.
func (c Change) Summary(dir string) string {
	switch {
	case c.New == nil:
		return "removed " + folder.Relative(dir, c.Path)
	case c.Old == nil:
		return "created " + folder.Relative(dir, c.Path)
	}
	return "updated " + folder.Relative(dir, c.Path)
}
