package load

import (
	"errors"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"apigen.dev/generator/internal/model"
)

// Universe is the type-checked world of one load. It is not safe for concurrent use.
type Universe struct {
	options Options
	listing
	diagnostics

	fset *token.FileSet
	// metas is every package that the go command listed, by path.
	metas map[string]*packages.Package
	// sources are the packages that are read from source, by path.
	sources map[string]*Source
	// comments are those of dependencies, by path; commented are the files whose comments were read.
	comments  map[string]*Comments
	commented map[string]bool

	// bodies: roots are checked with the bodies of their functions.
	bodies bool

	// refusals are the packages that the compiler refused, by the packages that need them; nil if there is none.
	refusals map[string]*failure

	exports  types.Importer
	fromData map[string]*types.Package
	modules  map[string]*model.Module
	sizes    types.Sizes
}

func newUniverse(o Options) *Universe {
	u := &Universe{
		options:     o,
		listing:     listing{missing: map[string]bool{}, folders: map[string]*versionFolders{}},
		diagnostics: diagnostics{silenced: map[lineOf]bool{}},
		fset:        token.NewFileSet(),
		metas:       map[string]*packages.Package{},
		sources:     map[string]*Source{},
		comments:    map[string]*Comments{},
		commented:   map[string]bool{},
		refusals:    map[string]*failure{},
		fromData:    map[string]*types.Package{},
		modules:     map[string]*model.Module{},
	}
	arch := runtime.GOARCH
	for _, e := range o.Env {
		if v, ok := strings.CutPrefix(e, "GOARCH="); ok && v != "" {
			arch = v
		}
	}
	u.sizes = types.SizesFor("gc", arch)
	u.exports = importer.ForCompiler(u.fset, "gc", u.open)
	return u
}

func (u *Universe) open(path string) (io.ReadCloser, error) {
	p := u.metas[path]
	if p == nil || p.ExportFile == "" {
		return nil, listError(p)
	}
	return os.Open(p.ExportFile)
}

// check type-checks all roots. Errors in declarations that the model is made of are diagnostics; others wait
// for the check of the finished code, which knows whether they remain.
func (u *Universe) check() {
	u.probe()
	u.markSources()
	for _, s := range u.Roots() {
		if !s.Shallow {
			u.checkSource(s)
		}
	}
	u.cycles()
	broken := u.around(func(s *Source) bool { return s.broken })
	for _, s := range u.Roots() {
		for _, e := range joined(s.errs) {
			if !broken[s.Path()] {
				u.typeError(s, e)
			}
		}
	}
}

// probe reads the export data of one package. Where that fails, the compiler is newer than this program knows: nothing
// is read from export data then.
func (u *Universe) probe() {
	least := ""
	for path, p := range u.metas {
		if p.ExportFile != "" && (least == "" || path < least) {
			least = path
		}
	}
	if least == "" {
		return
	}
	if u.readable(least) {
		return
	}
	for _, p := range u.metas {
		p.ExportFile = ""
	}
}

// readable reports whether the export data of a package can be read. The importer panics at what it doesn't know.
func (u *Universe) readable(path string) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	_, err := u.exports.Import(path)
	return err == nil
}

// markSources decides which dependencies must be read from source: those without export data, and all that import a
// package that is read from source, so that no type exists twice.
func (u *Universe) markSources() {
	uncompiled := u.importing(func(path string) bool {
		p := u.metas[path]
		return u.Root(path) != nil || p != nil && p.ExportFile == "" && len(p.GoFiles) > 0 && path != "unsafe"
	})
	for path, p := range u.metas {
		if u.sources[path] == nil && uncompiled.From(path) {
			u.sources[path] = &Source{meta: p}
		}
	}
}

// importing finds packages that are like that, or that import such packages, directly or not.
func (u *Universe) importing(like func(path string) bool) *model.Reach[string] {
	return model.NewReach(like, func(path string) []string {
		var out []string
		if p := u.metas[path]; p != nil {
			for _, i := range p.Imports {
				out = append(out, i.PkgPath)
			}
		}
		return out
	})
}

// checkSource type-checks a package that is read from source, once.
func (u *Universe) checkSource(s *Source) *types.Package {
	if s.Types != nil || s.busy {
		return s.Types
	}
	s.busy = true
	if !s.root && s.files == nil {
		for _, name := range s.meta.GoFiles {
			if f, _ := u.parseFile(name, nil, 0); f != nil {
				s.files = append(s.files, f)
			}
		}
	}
	bodies := u.bodies && s.root
	if bodies {
		defer u.withBodies(s)()
	}
	s.Types = u.checkFiles(s.meta, s.files, !bodies, func(e types.Error) { s.errs = append(s.errs, e) })
	return s.Types
}

// checkFiles type-checks files as a package. It always returns a package, complete or not.
func (u *Universe) checkFiles(meta *packages.Package, files []*ast.File, ignoreBodies bool,
	report func(types.Error)) *types.Package {
	conf := types.Config{
		Importer:         packageImporter{u, meta},
		FakeImportC:      true,
		IgnoreFuncBodies: ignoreBodies,
		Sizes:            u.sizes,
		Error: func(err error) {
			var te types.Error
			if errors.As(err, &te) {
				report(te)
			}
		},
	}
	if meta.Module != nil && meta.Module.GoVersion != "" {
		conf.GoVersion = "go" + meta.Module.GoVersion
	}
	pkg, _ := conf.Check(meta.PkgPath, u.fset, files, nil)
	return pkg
}

type packageImporter struct {
	u    *Universe
	meta *packages.Package
}

// Import returns the package that an import path means in the importing package.
func (i packageImporter) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	target := i.meta.Imports[path]
	if target == nil {
		target = i.u.metas[path]
	}
	if target == nil {
		return nil, listError(nil)
	}
	return i.u.Import(target.PkgPath)
}

// Import returns the types of a listed package.
func (u *Universe) Import(path string) (*types.Package, error) {
	if s := u.sources[path]; s != nil {
		if p := u.checkSource(s); p != nil {
			return p, nil
		}
		return nil, errors.New("import cycle")
	}
	if p := u.fromData[path]; p != nil {
		return p, nil
	}
	p, err := u.exports.Import(path)
	if err != nil {
		if m := u.metas[path]; m == nil || len(m.GoFiles) == 0 || len(m.Errors) > 0 {
			return nil, listError(m)
		}
		return nil, err
	}
	u.fromData[path] = p
	return p, nil
}

// MutableDirs returns the folders of all modules in reach whose files can change: the main module, those of the
// workspace, and local replacements, sorted.
func (u *Universe) MutableDirs() []string {
	seen := map[string]bool{}
	add := func(m *packages.Module) {
		if m == nil {
			return
		}
		local := m.Main || m.Version == "" || m.Replace != nil && m.Replace.Version == ""
		if local && m.Dir != "" {
			seen[m.Dir] = true
		}
	}
	for _, p := range u.metas {
		add(p.Module)
		if p.Module == nil && p.Dir != "" && p.ExportFile == "" && u.sources[p.PkgPath] != nil {
			seen[p.Dir] = true // outside of all modules
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Linked reports whether a symbolic link in one of the folders leads to a package outside: a walk of the folder
// doesn't see the files of that package.
func (u *Universe) Linked(dirs []string) bool {
	for _, dir := range dirs {
		target, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return true
		}
		for _, p := range u.metas {
			below, err := filepath.Rel(dir, p.Dir)
			if p.Dir == "" || err != nil || !filepath.IsLocal(below) {
				continue
			}
			if at, err := filepath.EvalSymlinks(p.Dir); err != nil || at != filepath.Join(target, below) {
				return true
			}
		}
	}
	return false
}
