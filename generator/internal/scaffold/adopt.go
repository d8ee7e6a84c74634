package scaffold

import (
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// adoption is what the files that serve the packages of a project are written from.
type adoption struct {
	collecting
	Module string
}

// adoptable adopts the API packages that a module has, where no kind is named. It fails where one is, and would begin a
// second tree beside them. It does nothing in a module without such packages, or in a project of apigen init.
func adoptable(options Options) (*Result, error) {
	found, err := apiPackages(options.Dir)
	if err != nil {
		return nil, err
	}
	packages, collected := found.own, found.collector != ""
	switch {
	case !options.named() && len(packages) == 0 && len(found.serving) > 0:
		return serve(options, found)
	case exists(filepath.Join(options.Dir, filepath.FromSlash(collector))):
		return nil, nil
	case !options.named() && len(packages) > 0 && !collected:
		return adopt(options.Dir, options.Module, packages)
	}
	outside := slices.IndexFunc(packages, func(p string) bool { return !strings.HasPrefix(p, "apis/") })
	if outside < 0 {
		return nil, nil
	}
	if collected {
		return nil, fmt.Errorf("%s has API packages that are served already, %s, and a kind under apis/ would be a "+
			"second tree: write new kinds beside them, and run `go tool apigen build ./...`",
			options.Dir, packages[outside])
	}
	return nil, fmt.Errorf("%s has API packages already, %s, and a kind under apis/ would be a second tree: leave "+
		"--group, --version and --kind out to serve what is there, and write new kinds beside it",
		options.Dir, packages[outside])
}

// adopt writes what serves the API packages that a project has, where they are: a package that collects them, and a
// main.
func adopt(dir, module string, packages []string) (*Result, error) {
	base, err := collectorDir(dir, packages)
	if err != nil {
		return nil, err
	}
	v := adoption{Module: module, collecting: collectingIn(base)}
	result, err := write(dir, v, []file{{path: "{{.Base}}/groups.go", template: "adopt/groups.go.tmpl"},
		{path: "cmd/apiserver/main.go", template: "adopt/main.go.tmpl"}})
	if result != nil {
		result.Adopted = packages
	}
	return result, err
}

func collectorDir(dir string, packages []string) (string, error) {
	base := path.Dir(packages[0])
	for _, p := range packages[1:] {
		for base != "." && !strings.HasPrefix(p, base+"/") {
			base = path.Dir(base)
		}
	}
	for base != "." {
		sources, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(base), "*.go"))
		if err != nil {
			return "", err
		}
		if len(sources) == 0 {
			return base, nil
		}
		base = path.Dir(base)
	}
	return "", fmt.Errorf("the API packages %s have no folder above them for a package that collects them: write one "+
		"with the marker +apigen:groups above its package clause, and a main that serves its Groups()",
		strings.Join(packages, ", "))
}

func packageName(folder string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(folder))
	if !token.IsIdentifier(name) || name == "server" || name == "embedded" || name == "main" {
		return "apis"
	}
	return name
}

var (
	groupMarker     = regexp.MustCompile(`(?m)^//\s*\+groupName=(\S*)`)
	serveMarker     = regexp.MustCompile(`(?m)^//\s*\+apigen:serve=(\S+)`)
	collectorMarker = regexp.MustCompile(`(?m)^//\s*\+apigen:groups\s*$`)
)

// apiFolders are the folders of a module with packages for a server, with slashes.
type apiFolders struct {
	// own have types of their own: they are named like a version, and the package says which group it is of. Sorted.
	own []string
	// groups are those of the own packages, by folder.
	groups map[string]string
	// serving are those that serve a package of another module, by its import path.
	serving map[string]string
	// collector has the package that collects groups; empty where apigen init made no project yet.
	collector string
}

func apiPackages(dir string) (apiFolders, error) {
	found := apiFolders{groups: map[string]string{}, serving: map[string]string{}}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			if name == dir && errors.Is(err, fs.ErrNotExist) {
				return fs.SkipAll
			}
			return err
		}
		if entry.IsDir() {
			if name != dir && isApart(name, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		content, err := os.ReadFile(name) //nolint:gosec // it is the tree of whoever runs it, symbolic links and all
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(dir, filepath.Dir(name))
		found.add(filepath.ToSlash(folder), content)
		return err
	})
	slices.Sort(found.own)
	return found, err
}

// add sorts in a folder by the markers of one of its files.
func (f *apiFolders) add(folder string, content []byte) {
	if collectorMarker.Match(content) {
		f.collector = folder
	}
	if m := serveMarker.FindSubmatch(content); m != nil {
		f.serving[string(m[1])] = folder
	} else if m := groupMarker.FindSubmatch(content); m != nil && model.IsVersion(path.Base(folder)) &&
		!slices.Contains(f.own, folder) {
		f.own = append(f.own, folder)
		f.groups[folder] = string(m[1])
	}
}

func isApart(name, base string) bool {
	return base == "vendor" || base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_' ||
		exists(filepath.Join(name, "go.mod"))
}
