package load

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
)

// Listings remembers what the go command said of compiled dependencies, so that loads in one process ask for them once.
// It remembers only packages whose files don't change: those of the standard library, those in the module cache, and
// those of the modules that its maker names. Loads of different modules share an answer if the environment, go.mod,
// go.sum, and the go.mod of the folders that stand for other modules are equal. Listings is safe for concurrent use.
type Listings struct {
	unchanging []string

	mu sync.Mutex
	// known are the packages by import path, by what the go command's answer depends on. They are never handed out.
	known map[string]map[string]*packages.Package
}

// NewListings returns an empty memory. The caller vouches that the files of the modules in these folders don't change.
func NewListings(unchanging ...string) *Listings {
	return &Listings{unchanging: unchanging, known: map[string]map[string]*packages.Package{}}
}

// find returns copies of the packages that are known, with all that they import, and the paths of the others.
func (l *Listings) find(key string, paths []string) (found []*packages.Package, unknown []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	copied := map[*packages.Package]*packages.Package{}
	for _, path := range paths {
		if p := l.known[key][path]; p != nil {
			found = append(found, copyOf(p, copied))
		} else {
			unknown = append(unknown, path)
		}
	}
	return found, unknown
}

// remember adds packages, and what they import, that have no errors and don't change.
func (l *Listings) remember(key string, pkgs []*packages.Package) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.known[key]
	if known == nil {
		known = map[string]*packages.Package{}
		l.known[key] = known
	}
	steady, copied := map[*packages.Package]bool{}, map[*packages.Package]*packages.Package{}
	packages.Visit(pkgs, nil, func(p *packages.Package) { // what a package imports comes before it
		steady[p] = l.steady(p)
		for _, imported := range p.Imports {
			steady[p] = steady[p] && steady[imported]
		}
		if steady[p] && known[p.PkgPath] == nil {
			known[p.PkgPath] = copyOf(p, copied)
		}
	})
}

// steady reports whether the go command says the same of a package every time, apart from what the package imports.
func (l *Listings) steady(p *packages.Package) bool {
	m := p.Module
	switch {
	case len(p.Errors) > 0 || p.Dir == "" || p.ID != p.PkgPath:
		return false
	case m == nil:
		return p.PkgPath == "unsafe" || p.ExportFile != "" && !strings.Contains(firstElement(p.PkgPath), ".")
	case m.Main || m.Error != nil:
		return false
	case m.Replace == nil && m.Version != "" || m.Replace != nil && m.Replace.Version != "":
		return p.ExportFile != ""
	}
	return p.ExportFile != "" && slices.Contains(l.unchanging, m.Dir)
}

func firstElement(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}

// copyOf copies a package and what it imports. The slices and the module are shared: nobody writes to them.
func copyOf(p *packages.Package, copied map[*packages.Package]*packages.Package) *packages.Package {
	if c := copied[p]; c != nil {
		return c
	}
	c := *p
	copied[p] = &c
	if p.Imports != nil {
		c.Imports = make(map[string]*packages.Package, len(p.Imports))
		for path, imported := range p.Imports {
			c.Imports[path] = copyOf(imported, copied)
		}
	}
	return &c
}

// listingKey returns all that the go command's answer about unchanging packages depends on. It reports false where
// files other than go.mod and go.sum decide, too.
func (u *Universe) listingKey() (string, bool) {
	if env := u.environment(); env["GOWORK"] != "off" || redirected(env) {
		return "", false
	}
	dir := moduleRoot(u.options.Dir)
	if dir == "" {
		return "", false
	}
	if _, err := os.Stat(filepath.Join(dir, "vendor")); err == nil {
		return "", false
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", false
	}
	sum, _ := os.ReadFile(filepath.Join(dir, "go.sum")) // a module that requires nothing has none
	replaced, err := replacedModules(dir, mod)
	if err != nil {
		return "", false
	}
	return strings.Join(slices.Concat([]string{string(mod), string(sum)}, replaced, u.options.Env), "\x00"), true
}

// replacedModules returns the text of the go.mod in each folder that a module has in place of another module: it takes
// part in the choice of versions. The text is empty if there is no such file.
func replacedModules(dir string, mod []byte) ([]string, error) {
	f, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range f.Replace {
		if r.New.Version != "" {
			continue
		}
		folder := filepath.FromSlash(r.New.Path)
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		out = append(out, string(text))
	}
	return out, nil
}

// moduleRoot returns the folder of the go.mod in a folder or the nearest above it; empty if there is none.
func moduleRoot(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// listCompiled lists packages with all that they import, compiled, and asks the go command only for those that earlier
// loads didn't ask for.
func (u *Universe) listCompiled(ctx context.Context, patterns []string) ([]*packages.Package, error) {
	l := u.options.Listings
	if l == nil {
		return u.list(ctx, exportMode, patterns)
	}
	key, ok := u.listingKey()
	if !ok {
		return u.list(ctx, exportMode, patterns)
	}
	found, unknown := l.find(key, patterns)
	if len(unknown) == 0 {
		return found, nil
	}
	pkgs, err := u.list(ctx, exportMode, unknown)
	if err != nil && len(found) > 0 { // what is wrong is to be said of all of them
		return u.list(ctx, exportMode, patterns)
	}
	if err != nil {
		return nil, err
	}
	l.remember(key, pkgs)
	return slices.Concat(found, pkgs), nil
}
