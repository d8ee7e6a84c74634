package dev

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"apigen.dev/generator"
)

// mark is what tells one state of a file from another without reading it.
type mark struct {
	size, time int64
}

// state are the inputs below some folders. Files are looked at, not subscribed to: that works on every file system,
// needs nothing of the kernel, and costs a project of a thousand files a few milliseconds.
type state map[string]mark

// look reads the state of folders. It ignores files that it can't read: the next build reports why.
func look(dirs []string) state {
	out := state{}
	for _, root := range dirs {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // see above
			case d.IsDir():
				if path != root && strings.HasPrefix(d.Name(), ".") {
					return fs.SkipDir
				}
				return nil
			case !generator.IsInput(d.Name()):
				return nil
			}
			if st, err := os.Stat(path); err == nil {
				out[path] = mark{st.Size(), st.ModTime().UnixNano()}
			}
			return nil
		})
	}
	return out
}

func (s state) equal(other state) bool { return maps.Equal(s, other) }

// update takes the files that a build wrote into the state from before the build, and the folders that the build found
// in addition. Other changes during the build still differ from the state, so that the next cycle finds them.
func (s state) update(written []generator.Change, added []string) {
	maps.Copy(s, look(added))
	for _, c := range written {
		delete(s, c.Path)
		if st, err := os.Stat(c.Path); err == nil && generator.IsInput(filepath.Base(c.Path)) {
			s[c.Path] = mark{st.Size(), st.ModTime().UnixNano()}
		}
	}
}
