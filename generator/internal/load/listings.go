package load

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// Listings remembers what the go command said of compiled dependencies, so that loads in one process ask for them once.
// It remembers only packages whose files don't change: those of the standard library, those in the module cache, and
// those of the modules that its maker names. Loads of different modules share an answer if go.mod, go.sum and the
// environment are equal. Listings is safe for concurrent use.
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

// find returns the packages and all that they import, as copies, if all of them are known.
func (l *Listings) find(key string, paths []string) ([]*packages.Package, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*packages.Package
	copied := map[*packages.Package]*packages.Package{}
	for _, path := range paths {
		p := l.known[key][path]
		if p == nil {
			return nil, false
		}
		out = append(out, copyOf(p, copied))
	}
	return out, true
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
	env := map[string]string{}
	for _, e := range u.options.Env {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	flags := env["GOFLAGS"]
	if env["GOWORK"] != "off" || env["GOPACKAGESDRIVER"] != "" || strings.Contains(flags, "-overlay") ||
		strings.Contains(flags, "-modfile") {
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
	if strings.Contains(string(mod), "=> .") {
		mod = append(mod, dir...) // a folder from which others are replaced
	}
	return strings.Join(append([]string{string(mod), string(sum)}, u.options.Env...), "\x00"), true
}

// moduleRoot returns the folder of the go.mod in a folder or the nearest above it; empty where there is none.
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

// listCompiled lists packages with all that they import, compiled, and asks the go command only where earlier loads
// didn't.
func (u *Universe) listCompiled(patterns []string, list func() ([]*packages.Package, error)) ([]*packages.Package,
	error) {
	if u.options.Listings == nil {
		return list()
	}
	key, ok := u.listingKey()
	if !ok {
		return list()
	}
	if pkgs, ok := u.options.Listings.find(key, patterns); ok {
		return pkgs, nil
	}
	pkgs, err := list()
	if err == nil {
		u.options.Listings.remember(key, pkgs)
	}
	return pkgs, err
}
