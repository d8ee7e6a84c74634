package load

import (
	"context"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
)

const (
	listMode   = packages.NeedName | packages.NeedFiles | packages.NeedModule
	exportMode = listMode | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile
)

// listRoots finds the packages to read from source: those that the patterns match and that hold markers, and, in the
// user's own modules, those that belong to them: other versions of the group, and the packages that their markers name.
func (l *loader) listRoots(ctx context.Context) error {
	pkgs, err := l.list(ctx, listMode, l.Patterns)
	if err != nil {
		return err
	}
	allNamed := !slices.ContainsFunc(l.Patterns, wildcard)
	for _, p := range pkgs {
		if !l.usable(p) {
			l.missing[p.PkgPath] = len(p.Errors) > 0
			if allNamed && len(p.Errors) == 0 && p.Dir != "" {
				l.warnings.Add(token.Position{}, "package %s has no Go files but tests", p.PkgPath)
			}
			continue
		}
		l.matched = append(l.matched, Matched{Path: p.PkgPath, Dir: p.Dir, Own: own(p), Named: allNamed})
		if s := l.read(p); s.relevant || allNamed {
			s.output = true
			l.addRoot(s)
		}
	}
	return l.listRelatives(ctx)
}

// usable reports the errors that the go command had with a package, and tells whether there is anything to read.
func (l *loader) usable(p *packages.Package) bool {
	ok := len(p.GoFiles) > 0
	for _, e := range p.Errors {
		pos := parsePosition(e.Pos)
		if pos.Filename != "" && !filepath.IsAbs(pos.Filename) {
			pos.Filename = filepath.Join(l.query.dir, pos.Filename) // the go command speaks as seen from where it runs
		}
		if pos.Filename != "" && l.isGenerated(pos.Filename) {
			continue
		}
		if !ok && strings.Contains(e.Msg, "build constraints exclude all Go files") {
			l.warnings.Add(pos, "%s", e.Msg)
			continue
		}
		if !ok && strings.Contains(e.Msg, "no Go files in") {
			l.errs.Add(pos, "%s", e.Msg)
			continue
		}
		if pos.Filename == "" {
			pos, e.Msg = place(p, e.Msg)
		}
		if e.Kind != packages.ParseError { // files are parsed again here, with better positions
			l.errs.Add(pos, "%s", explain(e.Msg))
		}
	}
	return ok && p.Dir != ""
}

func (l *loader) addRoot(s *source) {
	if l.sources[s.meta.PkgPath] == nil {
		l.sources[s.meta.PkgPath] = s
		l.metas[s.meta.PkgPath] = s.meta
		s.root = true
	}
}

// listRelatives adds the roots that the patterns didn't name, until no new one turns up.
func (l *loader) listRelatives(ctx context.Context) error {
	asked := map[string]bool{}
	for {
		var patterns []string
		for _, path := range l.rootPaths() {
			for _, p := range l.relatives(l.sources[path]) {
				if !asked[p] {
					asked[p] = true
					patterns = append(patterns, p)
				}
			}
		}
		if len(patterns) == 0 {
			return nil
		}
		pkgs, err := l.list(ctx, listMode, patterns)
		if err != nil {
			return err
		}
		for _, p := range pkgs {
			if len(p.GoFiles) == 0 || p.Dir == "" {
				if l.metas[p.PkgPath] == nil {
					l.metas[p.PkgPath] = p // for what the go command says of it
				}
				continue
			}
			if !own(p) {
				l.peers = append(l.peers, p.PkgPath)
				continue
			}
			if s := l.read(p); s.relevant || l.named(p.PkgPath) {
				l.addRoot(s)
			}
		}
	}
}

// named tells whether a marker of a root names the package: its types count even where it has no markers itself.
func (l *loader) named(path string) bool {
	for _, s := range l.sources {
		if s.root && slices.Contains(s.named, path) {
			return true
		}
	}
	return false
}

// relatives are the folders of the other versions and the parent of a version package, and the packages that a
// package's markers name, as far as they are no roots yet.
func (l *loader) relatives(s *source) []string {
	var out []string
	for _, path := range s.named {
		if l.sources[path] == nil {
			out = append(out, path)
		}
	}
	if s.groups && own(s.meta) {
		out = append(out, s.meta.Dir+"/...") // the list of groups is complete, whatever was asked for
	}
	if !own(s.meta) || s.shallow {
		return out
	}
	have := map[string]bool{}
	for _, other := range l.sources {
		have[other.meta.Dir] = true
	}
	parent := s.meta.Dir
	if (isVersion(filepath.Base(s.meta.Dir)) || isVersion(s.meta.Name)) && s.meta.Dir != moduleDir(s.meta) {
		parent = filepath.Dir(s.meta.Dir)
		if !have[parent] && hasGo(parent) && strings.HasPrefix(parent, moduleDir(s.meta)) {
			out = append(out, parent)
		}
	}
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		dir := filepath.Join(parent, e.Name())
		hidden := strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "_") || e.Name() == "testdata"
		if e.IsDir() && !have[dir] && !hidden && (isVersion(e.Name()) && hasGo(dir) || isVersion(packageName(dir))) {
			out = append(out, dir)
		}
	}
	return append(out, l.elsewhere(s)...)
}

// packageName is the name that the first file in a folder gives its package; empty where there is none.
func packageName(dir string) string {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.PackageClauseOnly); err == nil {
			return f.Name.Name
		}
	}
	return ""
}

// listDependencies lists what the roots import, compiled.
func (l *loader) listDependencies(ctx context.Context) error {
	want := map[string]bool{}
	for _, path := range l.rootPaths() {
		s := l.sources[path]
		if s.shallow {
			continue
		}
		for _, imp := range slices.Concat(s.imports(), s.refs) {
			want[imp] = true
		}
		l.runtime = l.runtime || requiresRuntime(s.meta)
	}
	extras := slices.Concat(l.Imports, l.peers)
	if l.runtime {
		extras = append(extras, l.RuntimeImports...)
	}
	extras = slices.Concat(extras, l.clientImports(), l.ruleImports())
	for _, imp := range extras {
		want[imp] = true
	}
	var patterns []string
	for imp := range want {
		if imp != "C" && imp != "unsafe" && l.sources[imp] == nil {
			patterns = append(patterns, imp)
		}
	}
	if len(patterns) == 0 {
		return nil
	}
	sort.Strings(patterns)
	if err := l.listExports(ctx, patterns); err != nil {
		return err
	}
	l.adoptDependencies()
	return nil
}

// addMetas adds packages and their dependencies to the metadata.
func (u *Universe) addMetas(pkgs []*packages.Package) {
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		if u.metas[p.PkgPath] == nil || u.metas[p.PkgPath].ExportFile == "" && u.sources[p.PkgPath] == nil {
			u.metas[p.PkgPath] = p
		}
	})
}

func (l *loader) listExports(ctx context.Context, patterns []string) error {
	pkgs, err := l.list(ctx, exportMode, patterns)
	if err != nil {
		return err
	}
	l.addMetas(pkgs)
	return nil
}

// adoptDependencies turns dependencies in the user's own modules that hold markers into roots to look at: what is yet
// to be generated for them isn't in their export data.
func (l *loader) adoptDependencies() {
	for path, p := range l.metas {
		if l.sources[path] != nil || !own(p) || len(p.GoFiles) == 0 {
			continue
		}
		if s := l.read(p); s.relevant && !s.shallow {
			l.addRoot(s)
		}
	}
}

func (l *loader) rootPaths() []string {
	var out []string
	for path, s := range l.sources {
		if s.root {
			out = append(out, path)
		}
	}
	sort.Strings(out)
	return out
}

func own(p *packages.Package) bool { return p.Module != nil && p.Module.Main }

func moduleDir(p *packages.Package) string {
	if p.Module == nil {
		return p.Dir
	}
	return p.Module.Dir
}

func hasGo(dir string) bool {
	entries, _ := os.ReadDir(dir)
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return !e.IsDir() && strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go")
	})
}

// runtimeModule is the module that wiring imports.
const runtimeModule = "apigen.dev"

// requiresRuntime tells whether a package's module is, or requires, the runtime's.
func requiresRuntime(p *packages.Package) bool {
	if p.Module == nil {
		return false
	}
	if p.Module.Path == runtimeModule {
		return true
	}
	data, err := os.ReadFile(p.Module.GoMod)
	if err != nil {
		return false
	}
	f, err := modfile.ParseLax(p.Module.GoMod, data, nil)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(f.Require, func(r *modfile.Require) bool { return r.Mod.Path == runtimeModule })
}
