package wiring

import (
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/check"
	"apigen.dev/generator/internal/schema"
	"apigen.dev/generator/internal/spelling"
)

// sentRules prints the functions that return the rules about the JSON of each struct, which a Go value can't be checked
// by.
type sentRules struct {
	types *schema.Resolver
	// names are those of the functions; a struct without rules has "". A struct that is being printed has "", too: a
	// type that holds itself has no rules where it begins again.
	names map[*model.Type]string
	taken map[string]bool
	code  []jen.Code
}

func newSentRules() *sentRules {
	return &sentRules{types: schema.New(schema.CRD), names: map[*model.Type]string{}, taken: map[string]bool{}}
}

// ofKind returns the name of the function for a kind, or "".
func (s *sentRules) ofKind(t *model.Type) string { return s.of(s.types.Type(t)) }

// of returns the name of the function for a struct, or "".
func (s *sentRules) of(t *schema.Type) string {
	if name, known := s.names[t.Go]; known {
		return name
	}
	s.names[t.Go] = ""
	r := &objectRules{rules: s, own: t.Go.Package.HasCustom()}
	r.fields(t)
	counts := countsOf("", t.Go, schema.Enforced(t.Go))
	for _, p := range t.Inlines() {
		inner := p.Inlined().Go
		counts = append(counts, countsOf("", inner, schema.Enforced(inner))...)
	}
	if len(r.required)+len(r.refused)+len(r.members)+len(counts) == 0 {
		return ""
	}
	var members []jen.Code
	if len(r.required) > 0 {
		members = append(members, member("Required", jen.Index().String().Values(r.required...)))
	}
	if len(r.refused) > 0 {
		members = append(members, member("Refused", literal(gocode.Code("map[string]codec.Refusal"), r.refused...)))
	}
	if len(r.members) > 0 {
		members = append(members, member("Members", literal(gocode.Code("map[string]*codec.Sent"), r.members...)))
	}
	if len(counts) > 0 {
		members = append(members, member("Counts", literal(gocode.Code("[]codec.Count"), counts...)))
	}
	name := s.name(t.Go)
	s.names[t.Go] = name
	s.code = append(s.code, jen.Commentf("%s returns the rules about the JSON of %s that clients send.", name,
		model.TypeText(t.Go)), gocode.Code("func "+name+"() *codec.Sent {\nreturn $\n}",
		literal(gocode.Code("&codec.Sent"), members...)))
	return name
}

func (s *sentRules) name(t *model.Type) string {
	base := "sent" + spelling.UpperFirst(t.Package.Name) + spelling.UpperFirst(t.Name)
	name := base
	for n := 2; s.taken[name]; n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	s.taken[name] = true
	return name
}

// objectRules are those about the members of one object.
type objectRules struct {
	rules *sentRules
	// own reports whether the object's type is in a package of kinds that are treated as custom resources.
	own                        bool
	required, refused, members []jen.Code
}

func (r *objectRules) fields(t *schema.Type) {
	nearest := map[string]int{}
	inlined(t, func(f *schema.Field, depth int) {
		if known, ok := nearest[f.Go.JSON]; !ok || depth < known {
			nearest[f.Go.JSON] = depth
		}
	})
	inlined(t, func(f *schema.Field, depth int) {
		if nearest[f.Go.JSON] == depth {
			nearest[f.Go.JSON] = -1 // and no other of the name
			r.field(f)
		}
	})
}

// inlined calls do with each field of a struct, and of the structs that it inlines. encoding/json takes the nearest of
// several fields with one name.
func inlined(t *schema.Type, do func(f *schema.Field, depth int)) { inlinedBelow(t, nil, do) }

// inlinedBelow is inlined for a struct in others, none of which it is: a struct that embeds itself has no end.
func inlinedBelow(t *schema.Type, around []*model.Type, do func(f *schema.Field, depth int)) {
	if slices.Contains(around, t.Go) {
		return
	}
	depth := len(around)
	around = append(slices.Clip(around), t.Go)
	for _, f := range t.Fields {
		switch {
		case f.Go.Inline && f.Type.Go.Form == model.Struct:
			inlinedBelow(f.Type, around, do)
		case f.Go.IsMetadata() || f.Go.Inline || declarative(f.Go):
		default:
			do(f, depth)
		}
	}
}

// declarative reports whether Kubernetes' own markers define the field's presence.
func declarative(f *model.Field) bool {
	return slices.ContainsFunc(f.Schema.Rules, func(r model.Rule) bool { return r.Declarative })
}

func (r *objectRules) field(f *schema.Field) {
	if f.Required && f.Default == nil {
		r.required = append(r.required, jen.Lit(f.Go.JSON))
	}
	if f.Go.Schema.Schemaless {
		return
	}
	if refusal := r.refusalOf(f); refusal != nil && (f.Default == nil || replacesOnlyAbsent(f)) {
		r.refused = append(r.refused, jen.Lit(f.Go.JSON).Op(":").Add(refusal))
	}
	if value := r.below(f.Type, &f.Go.Schema); value != nil {
		r.members = append(r.members, jen.Lit(f.Go.JSON).Op(":").Add(value))
	}
}

// replacesOnlyAbsent reports whether a field's default is for clients that leave out the field, as a custom resource's
// default is, and not for a zero value that they send. The value of a constant may not be known here.
func replacesOnlyAbsent(f *schema.Field) bool {
	return (f.Go.Type.Form == model.Basic || f.Go.OmitsEmptyList()) && f.Default.JSON != ""
}

// below returns the rules about the values of a type, at which a field or a list has markers; nil if there are none.
func (r *objectRules) below(t *schema.Type, at *model.Schema) jen.Code {
	switch {
	case check.IsText(t):
		return textRules(t.Go, at)
	case !t.Structural:
	case t.Go.Form == model.Struct && t.Go.Package != nil:
		name, counts := r.rules.of(t), countsOf("codec.Count", t.Go, at)
		switch {
		case name == "" && len(counts) > 0:
			all := literal(gocode.Code("[]codec.Count"), countsOf("", t.Go, at)...)
			return gocode.Code("&codec.Sent$", jen.Values(member("Counts", all)))
		case len(counts) > 0:
			eachOnALine := jen.Options{Open: "(", Close: ")", Separator: ",", Multi: len(counts) > 1}
			return jen.Id(name).Call().Dot("Counting").Custom(eachOnALine, counts...)
		case name != "":
			return jen.Id(name).Call()
		}
	case t.Elem != nil && t.JSON != schema.Pointer:
		return r.elements(t, at)
	}
	return nil
}

// elements returns the rules about a list or map.
func (r *objectRules) elements(t *schema.Type, at *model.Schema) jen.Code {
	items := at.Items
	if items == nil {
		items = &model.Schema{}
	}
	elem := r.below(t.Elem, items)
	if refusal := r.refusedBytes(t.Elem); refusal != nil {
		elem = gocode.Code("&codec.Sent$", jen.Values(member("Zero", gocode.Code("&codec.Refusal$", refusal))))
	}
	if elem == nil {
		return nil
	}
	return gocode.Code("&codec.Sent$", jen.Values(member("Elem", elem)))
}

// refusedBytes returns why empty bytes are refused where a client sends them, or nil: custom resources don't take an
// empty text for base64.
func (r *objectRules) refusedBytes(t *schema.Type) jen.Code {
	if !r.own || t.Format != "byte" {
		return nil
	}
	return gocode.Code("{Type: $}", jen.Lit(t.Format))
}

// countsOf returns the rules of a schema about the number of members of a struct, as literals of the type that is
// named, which is "" in a list.
func countsOf(of string, t *model.Type, s *model.Schema) (counts []jen.Code) {
	for _, rule := range s.Rules {
		if rule.Declarative || !check.Applies(&rule, t) {
			continue
		}
		number := check.Number(rule.Text)
		switch rule.Check {
		case model.MinProperties:
			counts = append(counts, gocode.Code(of+"{Least: $, Most: -1}", jen.Id(number)))
		case model.MaxProperties:
			counts = append(counts, gocode.Code(of+"{Most: $}", jen.Id(number)))
		case model.OneOf:
			members := jen.Index().String().Values(literals(rule.Values)...)
			counts = append(counts, gocode.Code(of+"{Of: $, Least: $, Most: $, Fault: $}", members,
				jen.Lit(rule.Least), jen.Lit(rule.Most), jen.Lit(schema.OneOfMessage(&rule))))
		}
	}
	return counts
}

// textRules returns the rules about text that the Go value of a type can't be checked by, or nil.
func textRules(t *model.Type, at *model.Schema) jen.Code {
	var members []jen.Code
	seen := map[model.Check]bool{}
	for _, rule := range slices.Concat(at.Rules, schema.Enforced(t).Rules) {
		if rule.Declarative || check.Applies(&rule, t) || seen[rule.Check] {
			continue
		}
		seen[rule.Check] = true
		switch rule.Check {
		case model.Pattern:
			members = append(members, member("Pattern", jen.Qual("regexp", "MustCompile").Call(jen.Lit(rule.Text))))
		case model.MinLength, model.MaxLength:
			if n, err := strconv.Atoi(check.Number(rule.Text)); err == nil {
				members = append(members, member(spelling.UpperFirst(string(rule.Check)), jen.Lit(n)))
			}
		case model.Enum:
			members = append(members, member("Supported", jen.Index().String().Values(literals(rule.Values)...)))
		}
	}
	if len(members) == 0 {
		return nil
	}
	return gocode.Code("&codec.Sent$", jen.Values(member("Text", gocode.Code("&codec.Text$", jen.Values(members...)))))
}

// refusalOf returns why the zero value of a field is refused where a client sends it, or nil.
func (r *objectRules) refusalOf(f *schema.Field) jen.Code {
	rule, fault := check.RefusesZero(f.Go)
	switch {
	case rule == nil:
		return r.refusedBytes(f.Type)
	case rule.Check == model.MinProperties && f.Go.Type.Form == model.Struct:
		return nil // which has defaults inside, perhaps: its members are counted
	case rule.Check == model.Format:
		return gocode.Code("{Type: $}", jen.Lit(rule.Text))
	case fault == "":
		return gocode.Code("{Supported: $}", jen.Index().String().Values(literals(rule.Values)...))
	}
	return gocode.Code("{Fault: $}", jen.Lit(fault))
}

func literals(values []string) (out []jen.Code) {
	for _, v := range values {
		if text, err := strconv.Unquote(v); err == nil {
			v = text
		}
		out = append(out, jen.Lit(v))
	}
	return out
}
