package load

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/tools/go/packages"

	"apigen.dev/generator/internal/staging"
)

// A dependency that doesn't compile has no export data, so that it is read from source, as one that was never compiled.
// Its bodies aren't checked then. What the go command says of it is reported here: nothing that is generated would
// compile either.

// checkCompiled reports dependencies that the compiler refused, each where it is imported first, and modules of
// Kubernetes that are of different releases.
func (u *Universe) checkCompiled() {
	skew := staging.Find(u.versions())
	remedy := ""
	if skew.Skewed() {
		skew = staging.Find(append(u.versions(), u.required()...)) // the user's other packages need them, too
		remedy = fmt.Sprintf("; modules of Kubernetes are of different releases, %s: align them with `%s`", skew,
			skew.Command())
	}
	reported := map[string]bool{}
	report := func(pos token.Position, failed *failure) bool {
		if failed == nil || reported[failed.path] {
			return failed != nil
		}
		reported[failed.path] = true
		advice := remedy
		if advice == "" {
			advice = u.otherVersion(failed.path)
		}
		u.errs.Add(pos, "package %s doesn't compile: %s%s", failed.path, failed.message, advice)
		return true
	}
	for _, s := range u.Roots() {
		if s.Shallow || !s.Output && !own(s.meta) {
			continue
		}
		for path, pos := range s.importSites() {
			s.wrong = report(u.fset.Position(pos), u.refused(path)) || s.wrong
		}
		for _, m := range s.comments.Package.Markers { // what is generated imports the packages that are served
			if d := m.Definition; d != nil && d.Read.Named && d.Read.Packages != nil {
				for _, path := range d.Read.Packages(m) {
					s.wrong = report(m.Pos, u.refused(path)) || s.wrong
				}
			}
		}
	}
	goMod := token.Position{Filename: u.goMod(), Line: 1}
	if u.runtime {
		for _, path := range u.options.RuntimeImports {
			report(goMod, u.refused(path))
		}
	}
	if skew.Skewed() && len(reported) == 0 {
		u.warnings.Add(goMod, "modules of Kubernetes are of different releases, %s, and may not compile beside one "+
			"another: align them with `%s`", skew, skew.Command())
	}
}

// otherVersion says what to do about a package that doesn't compile though Kubernetes' modules are of one release: its
// module needs others of them, or is behind them.
func (u *Universe) otherVersion(path string) string {
	p := u.metas[path]
	if p == nil || p.Module == nil || p.Module.Main || p.Module.Replace != nil {
		return ""
	}
	return fmt.Sprintf("; another version of its module, which is at %s, may: try `go get %s@latest`", p.Module.Version,
		p.Module.Path)
}

// importSites returns the paths that hand-written files import, in the order of the source, and where.
func (s *Source) importSites() func(yield func(string, token.Pos) bool) {
	byPos := func(a, b *ast.File) int { return cmp.Compare(a.Pos(), b.Pos()) }
	return func(yield func(string, token.Pos) bool) {
		for _, f := range slices.SortedFunc(slices.Values(s.files), byPos) {
			if s.generated[f] {
				continue
			}
			for path, spec := range importsOf(f) {
				if !yield(path, spec.Path.Pos()) {
					return
				}
			}
		}
	}
}

// failure is a package that the compiler refused, and the first that it said.
type failure struct{ path, message string }

// refused returns the package of another module that the compiler refused: the one of the path, or one that it imports,
// directly or not. It returns nil if there is none.
func (u *Universe) refused(path string) *failure {
	if found, ok := u.refusals[path]; ok {
		return found
	}
	u.refusals[path] = nil // a ring of imports ends here
	p := u.metas[path]
	if p == nil || own(p) {
		return nil // in the user's own packages it is found at its place
	}
	found := refusal(p)
	for _, name := range slices.Sorted(maps.Keys(p.Imports)) {
		if found != nil {
			break
		}
		found = u.refused(p.Imports[name].PkgPath)
	}
	u.refusals[path] = found
	return found
}

// complaint matches a line of the compiler. Other lines than such are about tools that are missing.
var complaint = regexp.MustCompile(`^\S.*\.go:\d+:\d+: .`)

func refusal(p *packages.Package) *failure {
	for _, e := range p.Errors {
		if _, said, ok := strings.Cut(e.Msg, "# "+p.PkgPath+"\n"); ok {
			for line := range strings.Lines(said) {
				if complaint.MatchString(line) {
					return &failure{p.PkgPath, strings.TrimSpace(line)}
				}
			}
		}
	}
	return nil
}

// versions returns the modules that the packages in reach are of.
func (u *Universe) versions() []module.Version {
	var out []module.Version
	for _, p := range u.metas {
		if m := p.Module; m != nil {
			version := m.Version
			if m.Replace != nil && m.Replace.Version != "" {
				version = m.Replace.Version
			}
			out = append(out, module.Version{Path: m.Path, Version: version})
		}
	}
	return out
}

// required returns the modules that the user's go.mod requires.
func (u *Universe) required() []module.Version {
	name := u.goMod()
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	f, err := modfile.ParseLax(name, data, nil)
	if err != nil {
		return nil
	}
	return staging.Required(f)
}

// goMod returns the go.mod of the user's first root; empty if there is none.
func (u *Universe) goMod() string {
	for _, s := range u.Roots() {
		if own(s.meta) {
			return s.meta.Module.GoMod
		}
	}
	return ""
}
