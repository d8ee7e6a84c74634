// Package input finds the files that a build depends on. The fingerprint of a build and the watch of `apigen dev` share
// it.
package input

import (
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
)

// Files are the files in a folder and below that are inputs or outputs of a build, and the errors of reading folders.
func Files(root string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err == nil && d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case err == nil && (d.IsDir() || !Is(d.Name())):
				return nil
			case !yield(path, err):
				return fs.SkipAll
			}
			return nil
		})
	}
}

// Is reports whether a file of a base name is an input or an output of a build.
func Is(name string) bool {
	if strings.HasPrefix(name, "zz_generated.") {
		return true // tests, too
	}
	if strings.HasSuffix(name, ".go") {
		return !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, ".")
	}
	switch name {
	case "go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt":
		return true
	}
	return false
}
