package load

import (
	"context"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"

	"apigen.dev/generator/internal/marker"
	"apigen.dev/generator/internal/model"
)

const (
	listMode   = packages.NeedName | packages.NeedFiles | packages.NeedModule
	exportMode = listMode | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile
)

// listing is what was found out while packages were listed.
type listing struct {
	matched []Matched
	// peers are packages in modules that aren't the user's and that markers name.
	peers []string
	// missing are the packages whose files the go command can't tell.
	missing map[string]bool
	// folders are those of the user's modules that hold versions, by module.
	folders map[string]*versionFolders
	// runtime reports whether a module of the roots requires apigen.dev.
	runtime bool
}

// Matched returns the packages that the patterns matched, whether or not there is something to generate for them.
func (u *Universe) Matched() []Matched { return u.matched }

// listRoots finds the packages to read from source: those that the patterns match and that hold markers, and, in the
// user's own modules, those that belong to them: other versions of the group, and the packages that their markers name.
func (u *Universe) listRoots(ctx context.Context) error {
	pkgs, err := u.listNames(ctx, u.options.Patterns)
	if err != nil {
		return err
	}
	allNamed := !slices.ContainsFunc(u.options.Patterns, wildcard)
	for _, p := range pkgs {
		if !u.usable(p) {
			u.missing[p.PkgPath] = len(p.Errors) > 0
			if allNamed && len(p.Errors) == 0 && p.Dir != "" {
				u.warnings.Add(token.Position{}, "package %s has no Go files but tests", p.PkgPath)
			}
			continue
		}
		u.matched = append(u.matched, Matched{Path: p.PkgPath, Dir: p.Dir, Own: own(p), Named: allNamed})
		if s := u.read(p); s.relevant() || allNamed {
			s.Output = true
			u.addRoot(s)
		}
	}
	return u.listRelatives(ctx)
}

// usable reports the errors that the go command had with a package, and reports whether there is anything to read.
func (u *Universe) usable(p *packages.Package) bool {
	ok := len(p.GoFiles) > 0
	for _, e := range p.Errors {
		pos := parsePosition(e.Pos)
		if pos.Filename != "" && !filepath.IsAbs(pos.Filename) {
			pos.Filename = filepath.Join(u.options.Dir,
				pos.Filename) // the go command prints paths relative to its own folder
		}
		if data, err := os.ReadFile(pos.Filename); err == nil && u.replaceable(pos.Filename, data) {
			continue
		}
		if !ok && strings.Contains(e.Msg, "build constraints exclude all Go files") {
			u.warnings.Add(pos, "%s", e.Msg)
			continue
		}
		if !ok && strings.Contains(e.Msg, "no Go files in") {
			u.errs.Add(pos, "%s", e.Msg)
			continue
		}
		if pos.Filename == "" {
			pos, e.Msg = explainPlace(p, e.Msg)
		}
		if e.Kind != packages.ParseError { // files are parsed again here, with better positions
			u.errs.Add(pos, "%s", explain(e.Msg))
		}
	}
	return ok && p.Dir != ""
}

func (u *Universe) addRoot(s *Source) {
	if u.sources[s.meta.PkgPath] == nil {
		u.sources[s.meta.PkgPath] = s
		u.metas[s.meta.PkgPath] = s.meta
		s.root = true
	}
}

// listRelatives adds the roots that the patterns didn't name, until no new one turns up.
func (u *Universe) listRelatives(ctx context.Context) error {
	asked := map[string]bool{}
	for {
		var patterns []string
		for _, s := range u.Roots() {
			for _, p := range u.relatives(s) {
				if !asked[p] {
					asked[p] = true
					patterns = append(patterns, p)
				}
			}
		}
		if len(patterns) == 0 {
			return nil
		}
		pkgs, err := u.listNames(ctx, patterns)
		if err != nil {
			return err
		}
		for _, p := range pkgs {
			if len(p.GoFiles) == 0 || p.Dir == "" {
				if u.metas[p.PkgPath] == nil {
					u.metas[p.PkgPath] = p // for what the go command says of it
				}
				continue
			}
			if !own(p) {
				u.peers = append(u.peers, p.PkgPath)
				continue
			}
			if s := u.read(p); s.relevant() || u.named(p.PkgPath) {
				u.addRoot(s)
			}
		}
	}
}

// named reports whether a marker of a root names the package: its types count even if it has no markers itself.
func (u *Universe) named(path string) bool {
	for _, s := range u.sources {
		if s.root && slices.Contains(s.reads.named, path) {
			return true
		}
	}
	return false
}

// relatives returns the folders of the group's packages, and the packages that markers name, that are no roots yet.
func (u *Universe) relatives(s *Source) []string {
	var out []string
	for _, path := range s.reads.named {
		if u.sources[path] == nil {
			out = append(out, path)
		}
	}
	if s.reads.collects && own(s.meta) {
		out = append(out, s.meta.Dir+"/...") // the list of groups is complete, whatever was asked for
	}
	if !own(s.meta) || s.Shallow {
		return out
	}
	have := map[string]bool{}
	for _, other := range u.sources {
		have[other.meta.Dir] = true
	}
	parent := s.meta.Dir
	if (model.IsVersion(filepath.Base(s.meta.Dir)) || model.IsVersion(s.meta.Name)) && s.meta.Dir != moduleDir(s.meta) {
		parent = filepath.Dir(s.meta.Dir)
		if !have[parent] && len(goFiles(parent)) > 0 && strings.HasPrefix(parent, moduleDir(s.meta)) {
			out = append(out, parent)
		}
	}
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		dir := filepath.Join(parent, e.Name())
		hidden := strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "_") || e.Name() == "testdata"
		if e.IsDir() && !have[dir] && !hidden && (model.IsVersion(e.Name()) && len(goFiles(dir)) > 0 ||
			model.IsVersion(packageName(dir))) {
			out = append(out, dir)
		}
	}
	return append(out, u.elsewhere(s)...)
}

// packageName returns the name that the first file in a folder gives its package; empty if there is none.
func packageName(dir string) string {
	for _, name := range goFiles(dir) {
		if f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly); err == nil {
			return f.Name.Name
		}
	}
	return ""
}

// goFiles returns the paths of the Go files in a folder, without tests.
func goFiles(dir string) []string {
	var out []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// listDependencies lists what the roots import, compiled.
func (u *Universe) listDependencies(ctx context.Context) error {
	var imports, ofClients []string
	var needs marker.Need
	for _, s := range u.Roots() {
		needs, ofClients = needs|s.reads.needs, append(ofClients, s.reads.ofClients...)
		if !s.Shallow {
			imports = slices.Concat(imports, s.Imports(), s.reads.refs)
			u.runtime = u.runtime || requiresRuntime(s.meta)
		}
	}
	imports = slices.Concat(imports, u.options.Imports, u.peers)
	if u.runtime {
		imports = append(imports, u.options.RuntimeImports...)
	}
	if u.runtime && needs&marker.NeedsCEL != 0 { // a library that servers without rules neither compile nor link
		imports = append(imports, u.options.RuleImports...)
	}
	if needs&marker.NeedsClients != 0 {
		imports = slices.Concat(imports, ofClients, u.options.ClientImports)
	}
	slices.Sort(imports)
	patterns := slices.DeleteFunc(slices.Compact(imports), func(imp string) bool {
		return imp == "C" || imp == "unsafe" || u.sources[imp] != nil
	})
	if len(patterns) == 0 {
		return nil
	}
	if err := u.listExports(ctx, patterns); err != nil {
		return err
	}
	u.adoptDependencies()
	return nil
}

func (u *Universe) listExports(ctx context.Context, patterns []string) error {
	pkgs, err := u.listCompiled(ctx, patterns)
	if err == nil {
		err = u.explainImports(ctx, pkgs)
	}
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		if u.metas[p.PkgPath] == nil || u.metas[p.PkgPath].ExportFile == "" && u.sources[p.PkgPath] == nil {
			u.metas[p.PkgPath] = p
		}
	})
	return err
}

// adoptDependencies turns dependencies in the user's own modules that hold markers into roots to look at: what is yet
// to be generated for them isn't in their export data.
func (u *Universe) adoptDependencies() {
	for path, p := range u.metas {
		if u.sources[path] != nil || !own(p) || len(p.GoFiles) == 0 {
			continue
		}
		if s := u.read(p); s.relevant() && !s.Shallow {
			u.addRoot(s)
		}
	}
}

func moduleDir(p *packages.Package) string {
	if p.Module == nil {
		return p.Dir
	}
	return p.Module.Dir
}

// runtimeModule is the module that wiring imports.
const runtimeModule = "apigen.dev"

// requiresRuntime reports whether a package's module is, or requires, the runtime's.
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
