package roundtrip

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// RequestsName is the base name of the file beside a list of groups.
const RequestsName = "zz_generated.requests_test.go"

var (
	server  = &model.Package{Path: "apigen.dev/runtime/apitest", Name: "apitest"}
	testing = &model.Package{Path: "testing", Name: "testing"}
)

// requests returns a file for each package that lists groups: a test that sends requests about all of their kinds.
func requests(p *plan.Plan) ([]emit.File, error) {
	var files []emit.File
	for _, pkg := range p.Packages {
		_, declared := pkg.Declared["Groups"]
		if declared || !pkg.CollectGroups || !p.Writes(pkg) || !p.RuntimeAvailable {
			continue
		}
		file, err := requestsOf(p.Program, pkg, p.WiredBelow(pkg))
		if err != nil {
			return nil, err
		}
		if file != nil {
			files = append(files, *file)
		}
	}
	return files, nil
}

func requestsOf(p *model.Program, pkg *model.Package, groups []*model.Group) (*emit.File, error) {
	listed := model.Package{Path: pkg.Path, Name: pkg.Name, Dir: pkg.Dir}
	own := listed
	if pkg.Name != "main" { // which nothing can import
		own.Path, own.Name = own.Path+"_test", own.Name+"_test"
	}
	file := gocode.New(p, &own, "t")
	var providers, arguments []jen.Code
	kinds := 0
	for _, g := range groups {
		wiring := &model.Package{Path: g.Wiring.Path, Name: g.Wiring.Name}
		provided := plan.WithoutStorage(g)
		for _, r := range provided {
			providers = append(providers, jen.Struct(file.PackageQual(wiring, plan.ProviderName(r))).Values())
		}
		for _, r := range g.Resources {
			switch {
			case len(r.Served()) == 0:
			case slices.Contains(provided, r) || untested(r):
				arguments = append(arguments, jen.Lit(resourceName(g, r)))
			default:
				kinds++
			}
		}
	}
	if kinds == 0 {
		return nil, nil
	}
	called := file.PackageQual(&listed, "Groups").Call(providers...)
	call := file.PackageQual(server, "Exercise").Call(append([]jen.Code{jen.Id("t"), called}, arguments...)...)
	file.Add("TestRequests sends the requests of usual clients about each kind in each version to a server.",
		jen.Func().Id("TestRequests").Params(jen.Id("t").Op("*").Add(file.PackageQual(testing, "T"))).Block(call))
	out, err := file.Render(RequestsName)
	out.Package = pkg.Path
	return &out, err
}

// untested reports whether the tests of all versions of a kind are switched off.
func untested(r *model.Resource) bool {
	return !slices.ContainsFunc(r.Served(), func(v model.ResourceVersion) bool { return !off(v) })
}

// off reports whether the tests of a version of a kind are switched off.
func off(v model.ResourceVersion) bool {
	return v.Type.Kind != nil && v.Type.Kind.RoundTripOff || v.Type.Package.Home().RoundTripOff
}

func resourceName(g *model.Group, r *model.Resource) string {
	if g.Name == "" {
		return r.Plural
	}
	return r.Plural + "." + g.Name
}
