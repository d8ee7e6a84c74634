// Package groups emits a function Groups for each package marked +apigen:groups. Groups returns every API group whose
// wiring lies below the package, so that a new group needs no change in a server's main. The emitter knows the plan,
// the model, emit and gocode.
package groups

import (
	"fmt"
	"go/token"
	"path"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// FileName is the base name of the emitter's files.
const FileName = "zz_generated.groups.go"

const registryPath = "apigen.dev/runtime/registry"

// Emitter returns the emitter of lists of groups.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name:  "groups",
		Doc:   "the list of all groups below a package marked +apigen:groups",
		Files: []string{FileName},
		Emit:  Emit,
		Faults: emit.FaultsOf(func(p *plan.Plan, pkg *model.Package) (out diag.Errors) {
			if pos, ok := pkg.Declared["Groups"]; ok && pkg.CollectGroups && p.RuntimeAvailable {
				out.Add(pos, "Groups is declared here, and +apigen:groups would declare it again: rename it, or "+
					"remove the marker")
			}
			return out
		}),
	}
}

// Emit returns a file for each marked package.
func Emit(p *plan.Plan) ([]emit.File, error) {
	var files []emit.File
	for _, pkg := range p.Written() {
		if !pkg.CollectGroups || !p.RuntimeAvailable {
			continue
		}
		file, err := render(p.Program, pkg, p.WiredBelow(pkg))
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

func render(p *model.Program, pkg *model.Package, groups []*model.Group) (emit.File, error) {
	f := jen.NewFilePathName(pkg.Path, pkg.Name)
	f.HeaderComment(emit.Header(p))
	f.ImportName(registryPath, "registry")
	var calls, params []jen.Code
	taken := map[string]bool{"registry": true}
	for name := range pkg.Declared {
		taken[name] = true
	}
	for _, g := range groups {
		f.ImportAlias(g.Wiring.Path, alias(g, taken))
		var providers []jen.Code
		for _, r := range plan.WithoutStorage(g) {
			name := plan.ProviderParameter(r)
			for taken[name] {
				name = strings.ToLower(g.GoName) + strings.ToUpper(name[:1]) + name[1:]
			}
			taken[name] = true
			params = append(params, jen.Id(name).Qual(g.Wiring.Path, plan.ProviderName(r)))
			providers = append(providers, jen.Id(name))
		}
		calls = append(calls, jen.Qual(g.Wiring.Path, "Group").Call(providers...))
	}
	f.Comment("Groups are all API groups below this package, sorted by name.")
	f.Func().Id("Groups").Params(params...).Index().Qual(registryPath, "Group").Block(
		jen.Return(jen.Index().Qual(registryPath, "Group").
			Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, calls...)))
	return gocode.Render(f, emit.File{Package: pkg.Path, Dir: pkg.Dir, PackageName: pkg.Name, Name: FileName})
}

// alias is the name under which a group's wiring is imported: shopwiring for .../shop/wiring.
func alias(g *model.Group, taken map[string]bool) string {
	parent := strings.ToLower(strings.Map(letters, path.Base(path.Dir(g.Wiring.Path))))
	name := parent + g.Wiring.Name
	if !token.IsIdentifier(name) {
		name = "group" + name
	}
	base := name
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s%d", base, i)
	}
	taken[name] = true
	return name
}

func letters(r rune) rune {
	if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return -1
}
