// Package roundtrip emits the tests of generated code. zz_generated.roundtrip_test.go stands beside the wiring of each
// group, and has one fuzz test for each kind and version. A test encodes objects as JSON, YAML and CBOR, copies and
// defaults them, and converts them to the hub and back. zz_generated.requests_test.go stands beside each list of
// groups, and has one test, which sends requests to a server. The tests call apigen.dev/runtime/roundtrip and
// apigen.dev/runtime/apitest, which this package knows by name alone. It knows the plan, the model, emit and gocode.
package roundtrip

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// FileName is the base name of the emitter's files.
const FileName = "zz_generated.roundtrip_test.go"

var helper = &model.Package{Path: "apigen.dev/runtime/roundtrip", Name: "roundtrip"}

// Emitter returns the emitter of round-trip tests.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name: "roundtrip",
		Doc: "fuzz tests of codecs, copies, defaults and conversions, for each kind and version, beside the wiring, " +
			"and a test that sends requests about each kind, beside the list of groups",
		Files: []string{FileName, RequestsName},
		Emit:  Emit,
	}
}

// Emit returns a file for each group that has wiring, and kinds whose tests are not switched off, and a file for each
// list of groups.
func Emit(p *plan.Plan) ([]emit.File, error) {
	var files []emit.File
	for _, g := range p.WiredGroups() {
		file, err := printGroup(p, g)
		if err != nil {
			return nil, fmt.Errorf("round-trip tests of %s: %w", g.Name, err)
		}
		if file != nil {
			files = append(files, *file)
		}
	}
	more, err := requests(p)
	return append(files, more...), err
}

type printer struct {
	file   *gocode.File
	plan   *plan.Plan
	scoped bool
	path   string
}

var locals = []string{"f", "in", "out", "scope", "newScope", "roundTripFillers", "roundTripValues"}

func printGroup(decided *plan.Plan, g *model.Group) (*emit.File, error) {
	w := g.Wiring
	own := model.Package{Path: w.Path, Name: w.Name, Dir: w.Dir}
	if !decided.Scoped[g] && !holdsTypes(w.Path, g) {
		own.Path, own.Name = own.Path+"_test", own.Name+"_test" // go test needn't compile the wiring once more then
	}
	file := gocode.New(decided.Program, &own, locals...)
	p := &printer{file: file, plan: decided, scoped: decided.Scoped[g], path: own.Path}
	var tested []*model.Type
	for _, r := range g.Resources {
		for _, v := range r.Served() {
			if off(v) {
				continue
			}
			if !p.convertible(v.Type, r.Hub) {
				continue // the emitter of wiring reports it
			}
			tested = append(tested, v.Type, r.Hub)
			p.test(r, v)
		}
	}
	if len(tested) == 0 {
		return nil, nil
	}
	p.variables(tested)
	out, err := file.Render(FileName)
	out.Package = w.Path
	return &out, err
}

// holdsTypes reports whether a package has types of the group's resources: their tests may need what isn't exported.
func holdsTypes(path string, g *model.Group) bool {
	return slices.ContainsFunc(g.Resources, func(r *model.Resource) bool {
		return r.Hub.Package.Path == path || slices.ContainsFunc(r.Served(), func(v model.ResourceVersion) bool {
			return v.Type.Package.Path == path
		})
	})
}

func (p *printer) test(r *model.Resource, v model.ResourceVersion) {
	name := "FuzzRoundTrip" + r.Kind + strings.ToUpper(v.Version.Name[:1]) + v.Version.Name[1:]
	hub := r.Hub
	members := []jen.Code{member("New", gocode.Constructor(v.Type)), member("NewHub", gocode.Constructor(hub))}
	if f := p.plan.OfType(v.Type).Defaulter; f != (plan.Func{}) {
		members = append(members, member("Default", jen.Qual(f.Path, f.Name)))
	}
	scope := ""
	if v.Type != hub {
		if p.scoped {
			scope = "scope := newScope()\n"
		}
		losses := p.plan.OfPair(plan.Pair{In: v.Type, Out: hub}).RoundTrip
		members = append(members, member("ToHub", p.conversion(v.Type, hub)),
			member("FromHub", p.conversion(hub, v.Type)),
			p.fields("Dropped", losses.Dropped), p.fields("NeverNil", losses.NeverNil))
	}
	members = append(members, member("Values", jen.Id("roundTripValues")),
		member("Fillers", jen.Id("roundTripFillers")))
	version := p.file.PackageQual(helper, "Version").Types(p.pointer(v.Type), p.pointer(hub)).Custom(lines, members...)
	p.file.Add(fmt.Sprintf("%s tests that nothing of %s is lost in version %s.", name, r.Kind, v.Version.Name),
		p.file.Code("func $(f *testing.F) {\n$$(f, $)\n}", name, scope, p.file.PackageQual(helper, "Fuzz"), version))
}

func (p *printer) convertible(version, hub *model.Type) bool {
	pair := plan.Pair{In: version, Out: hub}
	to, from := p.plan.OfPair(pair).Converter, p.plan.OfPair(pair.Reverse()).Converter
	return version == hub || to != (plan.Func{}) && from != (plan.Func{})
}

func (p *printer) conversion(in, out *model.Type) jen.Code {
	pair := plan.Pair{In: in, Out: out}
	return gocode.Converter(p.plan.OfPair(pair).Converter, pair, p.scoped)
}

func (p *printer) pointer(t *model.Type) jen.Code { return jen.Op("*").Add(p.file.Type(t)) }

func (p *printer) fields(name string, fields []plan.StructField) jen.Code {
	if len(fields) == 0 {
		return jen.Null()
	}
	var values []jen.Code
	for _, f := range fields {
		if reachable(f.Owner, p.path) {
			values = append(values, p.file.PackageQual(helper, "FieldOf").Types(p.file.Type(f.Owner)).
				Call(jen.Lit(f.Name)))
		}
	}
	return member(name, jen.Index().Add(p.file.PackageQual(helper, "Field")).Custom(lines, values...))
}

func (p *printer) variables(tested []*model.Type) {
	var lists []jen.Code
	for _, t := range named(tested) {
		var values []jen.Code
		for _, c := range constants(t) {
			values = append(values, p.file.PackageQual(t.Package, c.Name))
		}
		if len(values) > 0 && reachable(t, p.path) {
			lists = append(lists, jen.Index().Add(p.file.Type(t)).Values(values...))
		}
	}
	p.file.Add("roundTripValues are what values of types with constants are taken from.",
		jen.Var().Id("roundTripValues").Op("=").Index().Any().Custom(lines, lists...))
	p.file.Add("roundTripFillers may be added to in an init function of a test file of this package, where values of "+
		"a type can't be any:\n"+
		"functions func(*T, randfill.Continue).", jen.Var().Id("roundTripFillers").Index().Any())
}

var lines = jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}

func member(name string, value jen.Code) jen.Code { return jen.Id(name).Op(":").Add(value) }

// named are the types with constants that the types lead to, by package and name.
func named(types []*model.Type) []*model.Type {
	seen := map[*model.Type]bool{}
	var out []*model.Type
	var visit func(t *model.Type)
	visit = func(t *model.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		if t.Form == model.Basic && t.Package != nil {
			out = append(out, t)
		}
		visit(t.Elem)
		visit(t.Key)
		for _, f := range t.Fields {
			if !f.Ignored {
				visit(f.Type)
			}
		}
	}
	for _, t := range types {
		visit(t)
	}
	slices.SortFunc(out, func(a, b *model.Type) int {
		return cmp.Or(strings.Compare(a.Package.Path, b.Package.Path), strings.Compare(a.Name, b.Name))
	})
	return out
}

func constants(t *model.Type) []*model.Const {
	var out []*model.Const
	for _, c := range t.Package.Consts {
		if c.Type == t && !c.Excluded && token.IsExported(c.Name) {
			out = append(out, c)
		}
	}
	return out
}

func reachable(t *model.Type, path string) bool {
	if !token.IsExported(t.Name) {
		return false
	}
	parent, _, internal := strings.Cut(t.Package.Path+"/", "/internal/")
	return !internal || strings.HasPrefix(path+"/", parent+"/")
}
