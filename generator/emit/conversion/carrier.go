package conversion

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
)

// carrier writes what takes preserved fields of a kind through an annotation, in one direction. Nil does nothing.
type carrier struct {
	*build
	spoke, hub *model.Type
	fields     []preserved
	toHub      bool
}

// carry returns the carrier of a pair of kinds, or nil where nothing is preserved.
func (b *build) carry(p pair) *carrier {
	if p.in.Kind == nil || p.out.Kind == nil || !b.concerned(p) {
		return nil
	}
	c := &carrier{build: b, spoke: p.out, hub: p.in}
	if b.spokes(p.in) {
		c.spoke, c.hub, c.toHub = p.in, p.out, true
	}
	w := newPreservedWalk()
	if w.walk(c.spoke, c.hub, nil, ""); len(w.found) == 0 {
		return nil
	}
	c.fields = w.found
	return c
}

// result is how the generated function of the pair ends.
func (c *carrier) result() jen.Code {
	if c == nil {
		return jen.Return(jen.Nil())
	}
	return jen.Return(jen.Id(c.function()).Call(jen.Id("in"), jen.Id("out")))
}

func (c *carrier) function() string {
	if c.toHub {
		return "restore_" + typeName(c.spoke)
	}
	return "preserve_" + typeName(c.spoke)
}

func (c *carrier) typeName() string { return "preserved_" + typeName(c.spoke) }

// decls are the function of the direction, and before the one to the hub, what is carried.
func (c *carrier) decls() []decl {
	if c == nil {
		return nil
	}
	if !c.toHub {
		return []decl{{
			doc:  fmt.Sprintf("%s notes in an annotation what %s can't hold.", c.function(), c.spoke.Name),
			code: c.signature(c.hub, c.spoke).Block(c.preserve()...),
		}}
	}
	doc := fmt.Sprintf("%s is what version %s of %s can't hold of the hub's fields. It travels in the annotation\n%s.", c.typeName(), c.spoke.Package.Name, c.spoke.Name, PreservedAnnotation)
	out := []decl{
		{doc: doc, code: jen.Type().Id(c.typeName()).Struct(c.members()...)},
		{
			doc:  fmt.Sprintf("%s gives the hub back what the annotation has noted, where the client left its place, and removes it.", c.function()),
			code: c.signature(c.spoke, c.hub).Block(c.restore()...),
		},
	}
	if c.digests() && len(c.carriers) == 0 {
		out = append(out, decl{doc: "preservedDigest tells elements of a list apart by what they hold.", code: c.digest()})
	}
	if c.digests() {
		c.carriers[c.spoke] = c
	}
	return out
}

func (c *carrier) signature(in, out *model.Type) *jen.Statement {
	return jen.Func().Id(c.function()).Params(
		jen.Id("in").Op("*").Add(c.file.Type(in)), jen.Id("out").Op("*").Add(c.file.Type(out))).Error()
}

func (c *carrier) members() []jen.Code {
	var out []jen.Code
	for i, f := range c.fields {
		typ := jen.Op("*").Add(c.file.Type(f.field.Type))
		if f.keyed() {
			typ = jen.Map(jen.String()).Add(typ)
		}
		out = append(out, jen.Id(c.member(i)).Add(typ).Tag(map[string]string{"json": f.name + ",omitempty"}))
	}
	return out
}

// member is the name of what is carried of a field: that of its path, SpecNote, or SpecNote_2 where another one has it.
func (c *carrier) member(i int) string {
	name := memberName(c.fields[i].name)
	if slices.ContainsFunc(c.fields[:i], func(f preserved) bool { return memberName(f.name) == name }) {
		return fmt.Sprintf("%s_%d", name, i)
	}
	return name
}

// memberName is an exported Go name, without an underscore, for a path of JSON names.
func memberName(path string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(path, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		first, size := utf8.DecodeRuneInString(word)
		out.WriteRune(unicode.ToUpper(first))
		out.WriteString(word[size:])
	}
	if name := out.String(); token.IsExported(name) {
		return name
	}
	return "F" + out.String()
}

// limit is what apimachinery allows all annotations of an object together.
const limit = 256 << 10

func annotation() *jen.Statement { return jen.Lit(PreservedAnnotation) }

// preserve is the body of the function from the hub.
func (c *carrier) preserve() []jen.Code {
	body := []jen.Code{jen.Var().Id("kept").Id(c.typeName())}
	for i, f := range c.fields {
		body = append(body, c.nest(f.steps, "in", "out", nil, c.note(i, f))...)
	}
	err := jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
	return append(body,
		jen.List(jen.Id("data"), jen.Err()).Op(":=").Add(c.file.Qual("encoding/json", "Marshal")).Call(jen.Op("&").Id("kept")),
		err,
		jen.If(jen.Len(jen.Id("data")).Op(">").Lit(limit)).Block(jen.Return(c.file.Qual("fmt", "Errorf").Call(
			jen.Lit(fmt.Sprintf("what version %s can't hold takes %%d bytes, and annotations %d at most", c.spoke.Package.Name, limit)), jen.Len(jen.Id("data"))))),
		jen.Id("out").Dot("Annotations").Op("=").Add(c.file.Qual("maps", "Clone")).Call(jen.Id("out").Dot("Annotations")),
		jen.Id("delete").Call(jen.Id("out").Dot("Annotations"), annotation()),
		jen.If(jen.Id("string").Call(jen.Id("data")).Op("==").Lit("{}")).Block(jen.Return(jen.Nil())),
		jen.If(jen.Id("out").Dot("Annotations").Op("==").Nil()).Block(
			jen.Id("out").Dot("Annotations").Op("=").Map(jen.String()).String().Values()),
		jen.Id("out").Dot("Annotations").Index(annotation()).Op("=").Id("string").Call(jen.Id("data")),
		jen.Return(jen.Nil()),
	)
}

// restore is the body of the function to the hub.
func (c *carrier) restore() []jen.Code {
	body := []jen.Code{
		jen.List(jen.Id("text"), jen.Id("ok")).Op(":=").Id("in").Dot("Annotations").Index(annotation()),
		jen.If(jen.Op("!").Id("ok")).Block(jen.Return(jen.Nil())),
		jen.Id("out").Dot("Annotations").Op("=").Add(c.file.Qual("maps", "Clone")).Call(jen.Id("out").Dot("Annotations")),
		jen.If(jen.Id("delete").Call(jen.Id("out").Dot("Annotations"), annotation()), jen.Len(jen.Id("out").Dot("Annotations")).Op("==").Lit(0)).Block(
			jen.Id("out").Dot("Annotations").Op("=").Nil()),
		jen.If(jen.Len(jen.Id("text")).Op(">").Lit(limit)).Block(jen.Return(c.file.Qual("fmt", "Errorf").Call(
			jen.Lit(fmt.Sprintf("annotation %s takes %%d bytes, and may take %d", PreservedAnnotation, limit)), jen.Len(jen.Id("text"))))),
		jen.Var().Id("kept").Id(c.typeName()),
		jen.If(jen.Err().Op(":=").Add(c.file.Qual("encoding/json", "Unmarshal")).Call(jen.Index().Byte().Parens(jen.Id("text")), jen.Op("&").Id("kept")), jen.Err().Op("!=").Nil()).Block(
			jen.Return(c.file.Qual("fmt", "Errorf").Call(jen.Lit("annotation "+PreservedAnnotation+": %w"), jen.Err()))),
	}
	for i, f := range c.fields {
		body = append(body, c.nest(f.steps, "out", "in", nil, c.giveBack(i, f))...)
	}
	return append(body, jen.Return(jen.Nil()))
}

// inner prints the statements at the end of a path: hub is the struct with the field.
type inner func(hub string, keys []key) []jen.Code

// note puts the field into what is kept, unless it is empty.
func (c *carrier) note(i int, f preserved) inner {
	return func(hub string, keys []key) []jen.Code {
		kept, value := jen.Id("kept").Dot(c.member(i)), jen.Id("v").Op(":=").Id(hub+"."+f.field.Name)
		set := jen.Add(kept.Clone()).Op("=").Op("&").Id("v")
		var body []jen.Code
		if f.keyed() {
			typ := jen.Map(jen.String()).Op("*").Add(c.file.Type(f.field.Type))
			body = append(body, jen.If(kept.Clone().Op("==").Nil()).Block(kept.Clone().Op("=").Add(typ).Values()))
			set = kept.Clone().Index(c.key(keys)).Op("=").Op("&").Id("v")
		}
		return []jen.Code{jen.If(value, c.notEmpty(f.field.Type)).Block(append(body, set)...)}
	}
}

// giveBack sets the field to what was kept.
func (c *carrier) giveBack(i int, f preserved) inner {
	return func(hub string, keys []key) []jen.Code {
		kept := jen.Id("kept").Dot(c.member(i))
		if f.keyed() {
			kept = kept.Index(c.key(keys))
		}
		return []jen.Code{jen.If(jen.Id("v").Op(":=").Add(kept), jen.Id("v").Op("!=").Nil()).Block(
			jen.Id(hub + "." + f.field.Name).Op("=").Op("*").Id("v"))}
	}
}

func (c *carrier) notEmpty(t *model.Type) jen.Code {
	switch {
	case t.Form == model.Struct || t.Form == model.Array:
		return jen.Op("!").Add(c.file.Qual("reflect", "ValueOf")).Call(jen.Id("v")).Dot("IsZero").Call()
	case t.Form == model.Basic && t.Basic == "bool":
		return jen.Bool().Call(jen.Id("v"))
	}
	return jen.Id("v").Op("!=").Add(c.zero(t))
}

// key is a part of what tells one of many apart: a verb, and an expression.
type key struct{ verb, expr string }

func (c *carrier) key(keys []key) jen.Code {
	var verbs []string
	args := []jen.Code{nil}
	for _, k := range keys {
		verbs, args = append(verbs, k.verb), append(args, jen.Id(k.expr))
	}
	args[0] = jen.Lit(strings.Join(verbs, "/"))
	return c.file.Qual("fmt", "Sprintf").Call(args...)
}

// digests tells whether the elements of some list have no keys.
func (c *carrier) digests() bool {
	for _, f := range c.fields {
		for _, s := range f.steps {
			if s.kind == listStep && s.keys == nil {
				return true
			}
		}
	}
	return false
}

func (c *carrier) digest() jen.Code {
	return jen.Func().Id("preservedDigest").Params(jen.Id("value").Any()).String().Block(
		jen.Id("sum").Op(":=").Add(c.file.Qual("hash/fnv", "New64a")).Call(),
		jen.If(jen.Err().Op(":=").Add(c.file.Qual("encoding/json", "NewEncoder")).Call(jen.Id("sum")).Dot("Encode").Call(jen.Id("value")), jen.Err().Op("!=").Nil()).Block(
			jen.Return(jen.Lit(""))),
		jen.Return(c.file.Qual("fmt", "Sprintf").Call(jen.Lit("%x"), jen.Id("sum").Dot("Sum64").Call())),
	)
}
