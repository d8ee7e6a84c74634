// Package folder knows the paths of folders: what lies above them, and how users read paths below them.
package folder

import (
	"os"
	"path/filepath"
)

// Absolute returns a folder's path without symbolic links. Empty is the working directory.
func Absolute(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	return Resolved(dir), err
}

// Resolved returns a path without symbolic links, or the path as it is if it can't be resolved.
func Resolved(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return dir
}

// Relative returns a path relative to a folder, with slashes, if it lies below the folder, and else the path as it is.
func Relative(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// Above returns the nearest file of a name in a folder or those above it. It is empty if there is none.
func Above(dir, name string) string {
	for d := dir; ; d = filepath.Dir(d) {
		path := filepath.Join(d, name)
		if st, err := os.Stat(path); err == nil && !st.IsDir() {
			return path
		}
		if d == filepath.Dir(d) {
			return ""
		}
	}
}
