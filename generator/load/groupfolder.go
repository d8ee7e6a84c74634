package load

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A group may have its versions in folders that have nothing in common. What is generated for it depends on all of them, so
// that they are looked for in the whole module, whatever was asked for: by the heads of files, which is cheap.

var groupPattern = regexp.MustCompile(`(?m)^[ \t]*(?://|/?\*)[ \t]*\+groupName=(\S*)`)

// headSize bounds what is read of a file to find its package clause.
const headSize = 1 << 14

// groupsOf are the groups that the text above a package clause names.
func groupsOf(data []byte) []string {
	head := data[:min(len(data), headSize)]
	if loc := clausePattern.FindIndex(head); loc != nil {
		head = head[:loc[0]]
	}
	var out []string
	for _, m := range groupPattern.FindAllSubmatch(head, -1) {
		out = append(out, string(m[1]))
	}
	return out
}

// folders are the folders of a module whose packages name a group, by group.
func folders(module string) map[string][]string {
	out := map[string][]string{}
	_ = filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return fs.SkipDir // what can't be read holds no version that could be built
		case d.IsDir():
			if path != module && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor" || name == "node_modules" || isModule(path)) {
				return fs.SkipDir
			}
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && d.Type().IsRegular():
			for _, g := range groupsOf(headOf(path)) {
				out[g] = append(out[g], filepath.Dir(path))
			}
		}
		return nil
	})
	return out
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// headOf is the beginning of a file where a marker of a group can stand; nothing where there is none.
func headOf(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, headSize))
	if err != nil || !bytes.Contains(data, []byte("+groupName=")) {
		return nil
	}
	return data
}

// elsewhere are the folders of the user's module that hold versions of the package's group and are no roots yet. The list
// of a module is made once.
func (l *loader) elsewhere(s *source) []string {
	if len(s.inGroups) == 0 || !own(s.meta) {
		return nil
	}
	module := moduleDir(s.meta)
	if l.folders[module] == nil {
		l.folders[module] = folders(module)
	}
	have := map[string]bool{}
	for _, other := range l.sources {
		have[other.meta.Dir] = true
	}
	var out []string
	for _, g := range s.inGroups {
		for _, dir := range l.folders[module][g] {
			if !have[dir] {
				have[dir] = true
				out = append(out, dir)
			}
		}
	}
	return out
}
