package rules

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/runtime/cel"
)

// The packages that emitted code imports, by path.
const (
	celPath    = "apigen.dev/runtime/cel"
	schemaPath = "k8s.io/apimachinery/pkg/runtime/schema"
)

// printer prints the rules of a group. Structs become functions that return their fields, since many places share them.
type printer struct {
	builder *builder
	names   map[request]string
	used    map[string]bool
	queue   []*cel.Schema
}

// file returns the file of a group, or nil where it has no rules.
func file(p *model.Program, g *model.Group, faulty map[model.Position]bool) (*emit.File, error) {
	w := g.Wiring
	f := jen.NewFilePathName(w.Path, w.Name)
	f.HeaderComment(emit.Header(p))
	f.ImportName(celPath, "cel")
	f.ImportName(schemaPath, "schema")
	pr := &printer{builder: newBuilder(faulty), names: map[request]string{}, used: map[string]bool{}}
	found := false
	for _, r := range g.Resources {
		for _, v := range r.Served() {
			s := pr.builder.kind(v.Type)
			if !s.HasRules() {
				continue
			}
			found = true
			pr.rules(f, g, r, v, s)
		}
	}
	if !found {
		return nil, nil
	}
	for len(pr.queue) > 0 {
		s := pr.queue[0]
		pr.queue = pr.queue[1:]
		pr.function(f, s)
	}
	out, err := gocode.Render(f, emit.File{Package: w.Path, Dir: w.Dir, PackageName: w.Name, Name: FileName})
	return &out, err
}

// rules prints the function that returns the compiled rules of a kind.
func (p *printer) rules(f *jen.File, g *model.Group, r *model.Resource, v model.ResourceVersion, s *cel.Schema) {
	name := function(v.Type)
	p.used[name] = true
	f.Commentf("%s are the rules in CEL of %s in %s, compiled when the first object is written.", name, r.Kind,
		v.Version.Name)
	kind := jen.Qual(schemaPath, "GroupVersionKind").Values(
		jen.Id("Group").Op(":").Lit(g.Name), jen.Id("Version").Op(":").Lit(v.Version.Name),
		jen.Id("Kind").Op(":").Lit(r.Kind))
	f.Var().Id(name).Op("=").Qual("sync", "OnceValue").Call(jen.Func().Params().Op("*").Qual(celPath, "Rules").Block(
		jen.Return(jen.Qual(celPath, "New").Call(kind, jen.Op("&").Add(jen.Qual(celPath, "Schema")).Add(p.body(s)))),
	))
}

// function prints the function that returns the fields of a struct.
func (p *printer) function(f *jen.File, s *cel.Schema) {
	r := p.builder.types[s]
	what := "the fields of %s."
	if !r.all {
		what = "the fields of %s that have rules in them."
	}
	f.Commentf("%s are "+what, p.names[r], r.typ.Go.Package.Name+"."+r.typ.Go.Name)
	f.Func().Id(p.names[r]).Params().Map(jen.String()).Op("*").Qual(celPath, "Schema").Block(
		jen.Return(p.properties(s)))
}

var braces = jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}

// properties prints a map of fields.
func (p *printer) properties(s *cel.Schema) jen.Code {
	var members []jen.Code
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		members = append(members, jen.Lit(name).Op(":").Add(p.body(s.Properties[name])))
	}
	typ := jen.Map(jen.String()).Op("*").Qual(celPath, "Schema")
	if len(members) == 0 {
		return typ.Values()
	}
	return typ.Custom(braces, members...)
}

// body prints a schema without its type.
func (p *printer) body(s *cel.Schema) jen.Code {
	members := p.members(s)
	if len(members) < 2 && len(s.Rules) == 0 && s.Properties == nil {
		return jen.Values(members...)
	}
	return jen.Custom(braces, members...)
}

// members prints the fields of a schema or a rule that are set.
func (p *printer) members(of any) []jen.Code {
	var out []jen.Code
	for f, v := range reflect.Indirect(reflect.ValueOf(of)).Fields() {
		if !v.IsZero() {
			out = append(out, jen.Id(f.Name).Op(":").Add(p.value(of, v.Interface())))
		}
	}
	return out
}

// value prints a field of a schema or a rule.
func (p *printer) value(of, value any) jen.Code {
	switch v := value.(type) {
	case string:
		return literal(v)
	case []string:
		lits := make([]jen.Code, len(v))
		for i := range v {
			lits[i] = jen.Lit(v[i])
		}
		return jen.Index().String().Values(lits...)
	case *int64:
		return jen.Qual(celPath, "Limit").Call(jen.Lit(int(*v)))
	case []cel.Rule:
		var rules []jen.Code
		for _, r := range v {
			rules = append(rules, jen.Values(p.members(r)...))
		}
		return jen.Index().Qual(celPath, "Rule").Custom(braces, rules...)
	case *cel.Schema:
		return jen.Op("&").Qual(celPath, "Schema").Add(p.body(v))
	case map[string]*cel.Schema:
		return p.shared(of.(*cel.Schema))
	}
	return jen.Lit(value)
}

// shared prints the fields of a struct: the call of the function that returns them, or the fields in place where they
// are cut off.
func (p *printer) shared(s *cel.Schema) jen.Code {
	r, ok := p.builder.types[s]
	if !ok {
		return p.properties(s)
	}
	if p.names[r] == "" {
		name := "fields" + upperFirst(r.typ.Go.Package.Name) + upperFirst(r.typ.Go.Name)
		if !r.all {
			name = "ruled" + upperFirst(r.typ.Go.Package.Name) + upperFirst(r.typ.Go.Name)
		}
		for i := 2; p.used[name]; i++ {
			name = fmt.Sprintf("%s_%d", strings.SplitN(name, "_", 2)[0], i)
		}
		p.used[name], p.names[r] = true, name
		p.queue = append(p.queue, s)
	}
	return jen.Id(p.names[r]).Call()
}

// literal prints a string, in back quotes where it contains quotes.
func literal(s string) jen.Code {
	if strings.ContainsAny(s, `"\`) && !strings.ContainsFunc(s, func(r rune) bool { return r == '`' || r < ' ' }) {
		return jen.Op("`" + s + "`")
	}
	return jen.Lit(s)
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
