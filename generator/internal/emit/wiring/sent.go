package wiring

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/check"
	"apigen.dev/generator/internal/schema"
	"apigen.dev/generator/internal/spelling"
)

// sentRules prints the functions that return the rules about the JSON of each struct, which a Go value can't be checked
// by.
type sentRules struct {
	types *schema.Resolver
	// defaults are those of the package whose kind is being printed; nil if it has none.
	defaults *plan.Defaults
	// names are those of the functions; a struct without rules has "". A struct that is being printed has "", too: a
	// type that holds itself has no rules where it begins again.
	names map[*model.Type]string
	taken map[string]bool
	code  []jen.Code
}

func newSentRules() *sentRules {
	return &sentRules{types: schema.New(schema.CRD), names: map[*model.Type]string{}, taken: map[string]bool{}}
}

// ofKind returns the name of the function for a kind whose defaults these are, or "".
func (s *sentRules) ofKind(t *model.Type, defaults *plan.Defaults) string {
	s.defaults = defaults
	return s.of(s.types.Type(t))
}

// of returns the name of the function for a struct, or "".
func (s *sentRules) of(t *schema.Type) string {
	if name, known := s.names[t.Go]; known {
		return name
	}
	s.names[t.Go] = ""
	r := &objectRules{rules: s, own: t.Go.Package.HasCustom()}
	r.fields(t)
	if len(r.required)+len(r.refused)+len(r.members) == 0 {
		return ""
	}
	var members []jen.Code
	if len(r.required) > 0 {
		members = append(members, member("Required", jen.Index().String().Values(r.required...)))
	}
	if len(r.refused) > 0 {
		members = append(members, member("Refused", literal(gocode.Code("map[string]codec.Refusal"), r.refused...)))
	}
	if len(r.defaults) > 0 {
		members = append(members, member("Defaults", literal(gocode.Code("map[string]string"), r.defaults...)))
	}
	if len(r.members) > 0 {
		members = append(members, member("Members", literal(gocode.Code("map[string]*codec.Sent"), r.members...)))
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
	own                                  bool
	required, refused, defaults, members []jen.Code
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
	if f.Required && f.Default == nil && !f.Go.Schema.Nullable {
		r.required = append(r.required, jen.Lit(f.Go.JSON))
		r.setInside(f)
	}
	if refusal := r.refusalOf(f); refusal != nil && (f.Default == nil || replacesOnlyAbsent(f)) {
		r.refused = append(r.refused, jen.Lit(f.Go.JSON).Op(":").Add(refusal))
		if f.Default != nil {
			r.addDefault(f, f.Default.Value())
		}
	}
	if f.Go.Schema.Schemaless {
		return
	}
	if value := r.below(f.Type, &f.Go.Schema); value != nil {
		r.members = append(r.members, jen.Lit(f.Go.JSON).Op(":").Add(value))
	}
}

// setInside adds what defaults set inside a struct that a client must send: by them alone it isn't there.
func (r *objectRules) setInside(f *schema.Field) {
	if f.Go.Type.Form != model.Struct || r.rules.defaults == nil {
		return
	}
	if set := madeOfZero(r.rules.defaults, f.Go.Type); len(set) > 0 {
		r.addDefault(f, set)
	}
}

// replacesOnlyAbsent reports whether a field's default is for clients that leave out the field, as a custom resource's
// default is, and not for a zero value that they send. Clients in Go send that of a field without omitempty whenever
// they don't set it, so that it gets the default. The value of a constant may not be known here.
func replacesOnlyAbsent(f *schema.Field) bool {
	omitted := f.Go.OmitEmpty && f.Go.Type.Form == model.Basic || f.Go.OmitsEmptyList()
	return omitted && f.Default.JSON != ""
}

func (r *objectRules) addDefault(f *schema.Field, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%s: the default of %s %v", f.Go.Pos, f.Go.Name, err)) // it was read from JSON
	}
	r.defaults = append(r.defaults, jen.Lit(f.Go.JSON).Op(":").Op(gocode.RawLiteral(string(text))))
}

// below returns the rules about the values of a type, at which a field or a list has markers; nil if there are none.
func (r *objectRules) below(t *schema.Type, at *model.Schema) jen.Code {
	switch {
	case check.IsText(t):
		return textRules(t.Go, at)
	case !t.Structural:
	case t.Go.Form == model.Struct && t.Go.Package != nil:
		if name := r.rules.of(t); name != "" {
			return jen.Id(name).Call()
		}
	case t.Elem != nil && t.JSON != schema.Pointer:
		return r.elements(t, at)
	}
	return nil
}

// elements returns the rules about a list or map. Lists of types of others may have null where these have no rules.
func (r *objectRules) elements(t *schema.Type, at *model.Schema) jen.Code {
	items := at.Items
	if items == nil {
		items = &model.Schema{}
	}
	elem := r.below(t.Elem, items)
	var members []jen.Code
	if elem != nil {
		members = append(members, member("Elem", elem))
	}
	if name := typeName(t.Elem); t.JSON == schema.List && name != "" && !items.Nullable && (elem != nil || r.own) {
		members = append(members, member("Items", jen.Lit(name)))
	}
	if len(members) == 0 {
		return nil
	}
	return gocode.Code("&codec.Sent$", jen.Values(members...))
}

// typeName returns the name of a type in a schema, or "" if it may be any.
func typeName(t *schema.Type) string {
	switch t.JSON {
	case schema.Any, schema.IntOrString, schema.Decimal, schema.Pointer:
		return ""
	case schema.Map:
		return string(schema.Object)
	}
	return string(t.JSON)
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
	case rule == nil && r.own && f.Type.Format == "byte": // custom resources don't take an empty text for base64
		return gocode.Code("{Type: $}", jen.Lit(f.Type.Format))
	case rule == nil:
		return nil
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
