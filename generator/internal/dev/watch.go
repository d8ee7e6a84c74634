package dev

import (
	"maps"
	"os"
	"path/filepath"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/input"
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
		for path, err := range input.Files(root) {
			if err != nil {
				continue
			}
			if st, err := os.Stat(path); err == nil {
				out[path] = mark{st.Size(), st.ModTime().UnixNano()}
			}
		}
	}
	return out
}

// update takes the files that a build wrote into the state from before the build, and the folders that the build found
// in addition. Other changes during the build still differ from the state, so that the next cycle finds them.
func (s state) update(written []generator.Change, added []string) {
	maps.Copy(s, look(added))
	for _, c := range written {
		delete(s, c.Path)
		if st, err := os.Stat(c.Path); err == nil && input.Is(filepath.Base(c.Path)) {
			s[c.Path] = mark{st.Size(), st.ModTime().UnixNano()}
		}
	}
}
