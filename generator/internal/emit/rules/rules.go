// Package rules emits, for each API group, the CEL rules of its kinds (+kubebuilder:validation:XValidation) as values
// that the wiring runs on every write. It knows emit, gocode, model and the plan, and prints values of runtime/cel.
package rules

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/expression"
	"apigen.dev/generator/internal/spelling"
	"apigen.dev/runtime/cel"
)

// FileName is the base name of the file that the emitter writes into a group's wiring package.
const FileName = "zz_generated.rules.go"

// Emitter returns the emitter of CEL rules.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name:     "rules",
		Doc:      "the rules in CEL of each group's kinds (+kubebuilder:validation:XValidation)",
		Files:    []string{FileName},
		Faults:   faults,
		Emit:     Emit,
		Warnings: warnings,
		Certain:  true,
	}
}

// Imports are the packages that emitted code imports, beyond those that all wiring does.
func Imports() []string {
	return []string{gocode.ImportPath("cel")}
}

// faults are those of rules that the user can mend.
func faults(p *plan.Plan) diag.Errors {
	var out diag.Errors
	for _, f := range p.Rules.Findings {
		if f.Fixable && !f.Advice {
			out = append(out, diag.Error{Pos: f.Rule.Pos, Message: f.Text, Lenient: true})
		}
	}
	return out.Sorted()
}

// Emit returns a file for each group with wiring that has rules.
func Emit(p *plan.Plan) ([]emit.File, error) {
	var files []emit.File
	for _, g := range p.WiredGroups() {
		made, err := file(p, g)
		if err != nil {
			return nil, fmt.Errorf("rules of %s: %w", g.Name, err)
		}
		if made != nil {
			files = append(files, *made)
		}
	}
	return files, nil
}

// warnings report advice about rules that are run, and the faults of rules in packages that the user can't edit, which
// are not run.
func warnings(p *plan.Plan) []diag.Error {
	var out diag.Errors
	for _, f := range p.Rules.Findings {
		switch {
		case f.Advice:
			out.Add(f.Rule.Pos, "%s", f.Text)
		case !f.Fixable:
			out = append(out, diag.Error{Pos: f.Rule.Pos, Message: f.Text + "; the rule is not run",
				Unenforced: diag.Markers})
		}
	}
	return out
}

// printer prints the rules of a group. Structs become functions that return their fields, since many places share them.
type printer struct {
	rules *expression.Rules
	names map[expression.Struct]string
	used  map[string]bool
	queue []*cel.Schema
}

func file(p *plan.Plan, g *model.Group) (*emit.File, error) {
	f := gocode.NewWiring(p.Program, g)
	pr := &printer{rules: p.Rules, names: map[expression.Struct]string{}, used: map[string]bool{}}
	for _, r := range g.Resources {
		for _, v := range r.Served() {
			if rules := p.OfType(v.Type).Rules; rules != nil {
				pr.kind(f.File, g, r, v, rules)
			}
		}
	}
	if len(pr.used) == 0 {
		return nil, nil
	}
	for len(pr.queue) > 0 {
		s := pr.queue[0]
		pr.queue = pr.queue[1:]
		pr.function(f.File, s)
	}
	out, err := f.Render(FileName)
	return &out, err
}

func (p *printer) kind(f *jen.File, g *model.Group, r *model.Resource, v model.ResourceVersion,
	rules *expression.TypeRules) {
	name := rules.Function
	p.used[name] = true
	f.Commentf("%s are the rules in CEL of %s in %s, compiled when the first object is written.", name, r.Kind,
		v.Version.Name)
	f.Add(gocode.Code("var "+name+" = sync.OnceValue(func() *cel.Rules {\n"+
		"return cel.New(schema.GroupVersionKind{Group: $, Version: $, Kind: $}, &cel.Schema$)\n})",
		jen.Lit(g.Name), jen.Lit(v.Version.Name), jen.Lit(r.Kind), p.body(rules.Schema)))
}

func (p *printer) function(f *jen.File, s *cel.Schema) {
	r := p.rules.Structs[s]
	which := "."
	if !r.All {
		which = " that have rules in them."
	}
	f.Commentf("%s are the fields of %s.%s%s", p.names[r], r.Type.Go.Package.Name, r.Type.Go.Name, which)
	f.Add(gocode.Code("func "+p.names[r]+"() map[string]*cel.Schema {\nreturn $\n}", p.properties(s)))
}

var braces = jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}

func (p *printer) properties(s *cel.Schema) jen.Code {
	var members []jen.Code
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		members = append(members, jen.Lit(name).Op(":").Add(p.body(s.Properties[name])))
	}
	if len(members) == 0 {
		return gocode.Code("map[string]*cel.Schema{}")
	}
	return gocode.Code("map[string]*cel.Schema$", jen.Custom(braces, members...))
}

func (p *printer) body(s *cel.Schema) jen.Code {
	members := p.members(s)
	if len(members) < 2 && len(s.Rules) == 0 && s.Properties == nil {
		return jen.Values(members...)
	}
	return jen.Custom(braces, members...)
}

func (p *printer) members(of any) []jen.Code {
	var out []jen.Code
	for f, v := range reflect.Indirect(reflect.ValueOf(of)).Fields() {
		if !v.IsZero() {
			out = append(out, jen.Id(f.Name).Op(":").Add(p.value(of, v.Interface())))
		}
	}
	return out
}

func (p *printer) value(of, value any) jen.Code {
	switch v := value.(type) {
	case string:
		return literal(v)
	case []string:
		return jen.Op(fmt.Sprintf("%#v", v))
	case *int64:
		return gocode.Code("cel.Limit($)", jen.Lit(int(*v)))
	case []cel.Rule:
		var rules []jen.Code
		for _, r := range v {
			rules = append(rules, jen.Values(p.members(r)...))
		}
		return gocode.Code("[]cel.Rule$", jen.Custom(braces, rules...))
	case *cel.Schema:
		return gocode.Code("&cel.Schema$", p.body(v))
	case map[string]*cel.Schema:
		return p.shared(of.(*cel.Schema))
	}
	return jen.Lit(value)
}

// shared prints the fields of a struct: the call of the function that returns them, or the fields in place where they
// are cut off.
func (p *printer) shared(s *cel.Schema) jen.Code {
	r, ok := p.rules.Structs[s]
	if !ok {
		return p.properties(s)
	}
	if p.names[r] == "" {
		prefix := "ruled"
		if r.All {
			prefix = "fields"
		}
		base := prefix + spelling.UpperFirst(r.Type.Go.Package.Name) + spelling.UpperFirst(r.Type.Go.Name)
		name := base
		for i := 2; p.used[name]; i++ {
			base, _, _ = strings.Cut(base, "_")
			name = fmt.Sprintf("%s_%d", base, i)
		}
		p.used[name], p.names[r] = true, name
		p.queue = append(p.queue, s)
	}
	return jen.Id(p.names[r]).Call()
}

// literal prints a string, in back quotes if it contains quotes.
func literal(s string) jen.Code {
	if strings.ContainsAny(s, `"\`) && !strings.ContainsFunc(s, func(r rune) bool { return r == '`' || r < ' ' }) {
		return jen.Op("`" + s + "`")
	}
	return jen.Lit(s)
}
