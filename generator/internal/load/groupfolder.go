package load

import (
	"bytes"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A group may have its versions in folders that have nothing in common, and a package that serves kinds of another
// module calls functions of any other version in the module. The code that apigen generates depends on all of them. The
// loader therefore searches the whole module for them, whatever the patterns are. It reads only the heads of files,
// which is cheap.

// headSize bounds what is read of a file to find its package clause.
const headSize = 1 << 14

// versionFolders are the folders of a module whose packages hold versions of APIs.
type versionFolders struct {
	// byGroup are those whose packages name a group. serving are those whose packages serve kinds of another module.
	byGroup map[string][]string
	serving []string
}

// all returns the folders that are searched for functions of types of another module.
func (v *versionFolders) all() []string {
	return slices.Concat(slices.Concat(slices.Collect(maps.Values(v.byGroup))...), v.serving)
}

// foldersOf finds the folders of a module.
func foldersOf(module string) *versionFolders {
	out := &versionFolders{byGroup: map[string][]string{}}
	_ = filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return fs.SkipDir // what can't be read holds no version that could be built
		case d.IsDir():
			if path != module && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
				name == "testdata" || name == "vendor" || name == "node_modules" || isModule(path)) {
				return fs.SkipDir
			}
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && d.Type().IsRegular():
			out.add(path)
		}
		return nil
	})
	return out
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// add adds the folder of a file by what the file says above its package clause.
func (v *versionFolders) add(path string) {
	comments := headOf(path)
	if comments == nil {
		return
	}
	dir := filepath.Dir(path)
	if g, ok := comments.group(); ok {
		v.byGroup[g] = append(v.byGroup[g], dir)
	}
	if comments.serves() {
		v.serving = append(v.serving, dir)
	}
}

// headOf reads the comments above the package clause of a file; nil if there are none.
func headOf(path string) *Comments {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, headSize))
	if err != nil || !bytes.Contains(data, []byte("+")) {
		return nil
	}
	fset, comments := token.NewFileSet(), newComments()
	file, _ := parser.ParseFile(fset, path, data, parser.PackageClauseOnly|parser.ParseComments)
	if file == nil || file.Name == nil {
		return nil
	}
	newCollector(fset, file, comments).packageClause()
	return comments
}

// elsewhere returns the folders of the user's module that the package's code depends on wherever they are, and that are
// no roots yet: versions of its group and, in a module that serves kinds of another one, all versions.
func (u *Universe) elsewhere(s *Source) []string {
	if !s.grouped && !s.comments.serves() || !own(s.meta) {
		return nil
	}
	module := moduleDir(s.meta)
	if u.folders[module] == nil {
		u.folders[module] = foldersOf(module)
	}
	found := u.folders[module]
	var dirs []string
	switch {
	case len(found.serving) > 0:
		dirs = found.all()
	case s.grouped:
		dirs = found.byGroup[s.inGroup]
	}
	have := map[string]bool{}
	for _, other := range u.sources {
		have[other.meta.Dir] = true
	}
	return slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(dirs))), func(dir string) bool {
		return have[dir]
	})
}
