package load

import (
	"bytes"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A group may have its versions in folders that have nothing in common. The code that apigen generates for the group
// depends on all of them. The loader therefore searches the whole module for them, whatever the patterns are. It reads
// only the heads of files, which is cheap.

// headSize bounds what is read of a file to find its package clause.
const headSize = 1 << 14

// folders returns the folders of a module whose packages name a group, by group.
func folders(module string) map[string][]string {
	out := map[string][]string{}
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
			if g, ok := groupOf(path); ok {
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

// groupOf returns the group that a file names above its package clause, and whether it names one.
func groupOf(path string) (string, bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, headSize))
	if err != nil || !bytes.Contains(data, []byte("+")) {
		return "", false
	}
	fset, comments := token.NewFileSet(), newComments()
	file, _ := parser.ParseFile(fset, path, data, parser.PackageClauseOnly|parser.ParseComments)
	if file == nil || file.Name == nil {
		return "", false
	}
	newCollector(fset, file, comments).packageClause()
	return comments.group()
}

// elsewhere returns the folders of the user's module that hold versions of the package's group and are no roots yet.
func (u *Universe) elsewhere(s *Source) []string {
	if !s.grouped || !own(s.meta) {
		return nil
	}
	module := moduleDir(s.meta)
	if u.folders[module] == nil {
		u.folders[module] = folders(module)
	}
	have := map[string]bool{}
	for _, other := range u.sources {
		have[other.meta.Dir] = true
	}
	var out []string
	for _, dir := range u.folders[module][s.inGroup] {
		if !have[dir] {
			have[dir] = true
			out = append(out, dir)
		}
	}
	return out
}
