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

// carrier writes what takes preserved fields of a kind through an annotation, in one direction.
type carrier struct {
	*build
	spoke, hub *model.Type
	// own tells that the fields are the spoke's, and the annotation the hub's; else it is the other way round.
	own    bool
	fields []preserved
	toHub  bool
}

// carry returns the carriers of a pair of kinds, in the order in which they work: a version is whole before what it can't
// hold is noted beside its elements.
func (b *build) carry(p pair) []*carrier {
	if p.in.Kind == nil || p.out.Kind == nil || !b.concerned(p) {
		return nil
	}
	c := carrier{build: b, spoke: p.out, hub: p.in}
	if b.spokes(p.in) {
		c.spoke, c.hub, c.toHub = p.in, p.out, true
	}
	hubs, owns := c, c
	hubs.fields = preservedIn(c.spoke, c.hub)
	owns.own, owns.fields = true, mirrored(preservedIn(c.hub, c.spoke))
	out := []*carrier{&owns, &hubs}
	if c.toHub {
		slices.Reverse(out)
	}
	return slices.DeleteFunc(out, func(c *carrier) bool { return len(c.fields) == 0 })
}

// result is how the generated function of a pair ends.
func result(carriers []*carrier) []jen.Code {
	var out []jen.Code
	for i, c := range carriers {
		call := jen.Id(c.function()).Call(c.arguments()...)
		if i == len(carriers)-1 {
			return append(out, jen.Return(call))
		}
		out = append(out, jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())))
	}
	return one(jen.Return(jen.Nil()))
}

// fills tells whether the direction gives fields back, and doesn't note them.
func (c *carrier) fills() bool { return c.toHub != c.own }

func (c *carrier) function() string {
	name := "preserve"
	if c.fills() {
		name = "restore"
	}
	if c.own {
		name += "Own"
	}
	return name + "_" + typeName(c.spoke)
}

func (c *carrier) typeName() string {
	if c.own {
		return "preservedOwn_" + typeName(c.spoke)
	}
	return "preserved_" + typeName(c.spoke)
}

// annotation is where the fields travel.
func (c *carrier) annotation() string {
	if c.own {
		return OwnAnnotation(c.spoke.Package)
	}
	return PreservedAnnotation
}

// converts tells whether the function converts the object back, to see which elements of lists are which.
func (c *carrier) converts() bool { return c.own && !c.fills() && c.digests() }

func (c *carrier) arguments() []jen.Code {
	out := []jen.Code{jen.Id("in"), jen.Id("out")}
	if c.converts() {
		out = append(out, jen.Id("s"))
	}
	return out
}

// decls are the function of the direction, and before the one to the hub, what is carried.
func (c *carrier) decls() []decl {
	var out []decl
	if c.toHub {
		out = append(out, decl{doc: c.typeDoc(), code: jen.Type().Id(c.typeName()).Struct(c.members()...)})
	}
	body := c.preserve
	if c.fills() {
		body = c.restore
	}
	out = append(out, decl{doc: c.doc(), code: c.signature().Block(body()...)})
	if c.toHub && c.digests() && !c.digesting {
		c.digesting = true
		out = append(out, decl{doc: "preservedDigest tells elements of a list apart by what they hold.", code: c.digest()})
	}
	return out
}

func (c *carrier) typeDoc() string {
	if c.own {
		return fmt.Sprintf("%s is what version %s of %s alone has. It travels in the hub's annotation\n%s.", c.typeName(), c.spoke.Package.Name, c.spoke.Name, c.annotation())
	}
	return fmt.Sprintf("%s is what version %s of %s can't hold of the hub's fields. It travels in the annotation\n%s.", c.typeName(), c.spoke.Package.Name, c.spoke.Name, c.annotation())
}

func (c *carrier) doc() string {
	switch {
	case c.own && c.fills():
		return fmt.Sprintf("%s gives %s back what it alone has, as far as its place is there still.", c.function(), c.spoke.Name)
	case c.own:
		return fmt.Sprintf("%s notes in an annotation of the hub what %s alone has.", c.function(), c.spoke.Name)
	case c.fills():
		return fmt.Sprintf("%s gives the hub back what the annotation has noted, where the client left its place, and removes it.", c.function())
	}
	return fmt.Sprintf("%s notes in an annotation what %s can't hold.", c.function(), c.spoke.Name)
}

func (c *carrier) signature() *jen.Statement {
	in, out := c.hub, c.spoke
	if c.toHub {
		in, out = out, in
	}
	params := []jen.Code{jen.Id("in").Op("*").Add(c.file.Type(in)), jen.Id("out").Op("*").Add(c.file.Type(out))}
	if c.converts() {
		params = append(params, jen.Id("s").Add(c.file.Qual(conversionPath, "Scope")))
	}
	return jen.Func().Id(c.function()).Params(params...).Error()
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

// preserve is the body of the function that notes.
func (c *carrier) preserve() []jen.Code {
	err := jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
	lacks, beside := "what version %s can't hold", "out"
	var body, after []jen.Code
	if c.own {
		lacks, beside, body = "what version %s alone has", "", c.strip()
	} else {
		after = c.strip()
	}
	if c.converts() {
		beside = "bare"
		back := jen.Id("auto"+c.names[pair{c.hub, c.spoke}.key()]).Call(jen.Id("out"), jen.Id("bare"), jen.Id("s"))
		body = append(body,
			jen.Id("bare").Op(":=").New(c.file.Type(c.spoke)),
			jen.If(jen.Err().Op(":=").Add(back), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())))
	}
	body = append(body, jen.Var().Id("kept").Id(c.typeName()))
	for i, f := range c.fields {
		body = append(body, c.nest(f.steps, "in", beside, nil, c.note(i, f))...)
	}
	body = append(body,
		jen.List(jen.Id("data"), jen.Err()).Op(":=").Add(c.file.Qual("encoding/json", "Marshal")).Call(jen.Op("&").Id("kept")),
		err,
		jen.If(jen.Len(jen.Id("data")).Op(">").Lit(limit)).Block(jen.Return(c.file.Qual("fmt", "Errorf").Call(
			jen.Lit(fmt.Sprintf(lacks+" takes %%d bytes, and annotations %d at most", c.spoke.Package.Name, limit)), jen.Len(jen.Id("data"))))))
	return append(append(body, after...),
		jen.If(jen.Id("string").Call(jen.Id("data")).Op("==").Lit("{}")).Block(jen.Return(jen.Nil())),
		jen.If(jen.Id("out").Dot("Annotations").Op("==").Nil()).Block(
			jen.Id("out").Dot("Annotations").Op("=").Map(jen.String()).String().Values()),
		jen.Id("out").Dot("Annotations").Index(jen.Lit(c.annotation())).Op("=").Id("string").Call(jen.Id("data")),
		jen.Return(jen.Nil()),
	)
}

// strip takes the annotation away before it is written anew. The map may be another object's, too.
func (c *carrier) strip() []jen.Code {
	return []jen.Code{
		jen.Id("out").Dot("Annotations").Op("=").Add(c.file.Qual("maps", "Clone")).Call(jen.Id("out").Dot("Annotations")),
		jen.Id("delete").Call(jen.Id("out").Dot("Annotations"), jen.Lit(c.annotation())),
	}
}

// restore is the body of the function that gives back.
func (c *carrier) restore() []jen.Code {
	body := []jen.Code{
		jen.List(jen.Id("text"), jen.Id("ok")).Op(":=").Id("in").Dot("Annotations").Index(jen.Lit(c.annotation())),
		jen.If(jen.Op("!").Id("ok")).Block(jen.Return(jen.Nil())),
	}
	taken := []jen.Code{
		jen.Id("out").Dot("Annotations").Op("=").Add(c.file.Qual("maps", "Clone")).Call(jen.Id("out").Dot("Annotations")),
		jen.If(jen.Id("delete").Call(jen.Id("out").Dot("Annotations"), jen.Lit(c.annotation())), jen.Len(jen.Id("out").Dot("Annotations")).Op("==").Lit(0)).Block(
			jen.Id("out").Dot("Annotations").Op("=").Nil()),
	}
	beside := "in"
	if c.own {
		body = append(append(body, c.readLeniently()...), taken...)
		if beside = ""; c.digests() {
			beside = "bare"
			body = append(body, jen.List(jen.Id("bare"), jen.Id("_")).Op(":=").Id("out").Dot("DeepCopyObject").Call().Assert(jen.Op("*").Add(c.file.Type(c.spoke))))
		}
	} else {
		body = append(append(body, taken...), c.read()...)
	}
	for i, f := range c.fields {
		body = append(body, c.nest(f.steps, "out", beside, nil, c.giveBack(i, f))...)
	}
	return append(body, jen.Return(jen.Nil()))
}

// decode prints the call that decodes what is kept.
func (c *carrier) decode() *jen.Statement {
	return c.file.Qual("encoding/json", "Unmarshal").Call(jen.Index().Byte().Parens(jen.Id("text")), jen.Op("&").Id("kept"))
}

// read decodes the annotation, or refuses it: the object is being written by who sent it.
func (c *carrier) read() []jen.Code {
	return []jen.Code{
		jen.If(jen.Len(jen.Id("text")).Op(">").Lit(limit)).Block(jen.Return(c.file.Qual("fmt", "Errorf").Call(
			jen.Lit(fmt.Sprintf("annotation %s takes %%d bytes, and may take %d", c.annotation(), limit)), jen.Len(jen.Id("text"))))),
		jen.Var().Id("kept").Id(c.typeName()),
		jen.If(jen.Err().Op(":=").Add(c.decode()), jen.Err().Op("!=").Nil()).Block(
			jen.Return(c.file.Qual("fmt", "Errorf").Call(jen.Lit("annotation "+c.annotation()+": %w"), jen.Err()))),
	}
}

// readLeniently decodes the annotation of an object that is being read: a client of another version, which spoils it, must not
// make the object unreadable in this one.
func (c *carrier) readLeniently() []jen.Code {
	return []jen.Code{
		jen.Var().Id("kept").Id(c.typeName()),
		jen.If(jen.Len(jen.Id("text")).Op(">").Lit(limit).Op("||").Add(c.decode()).Op("!=").Nil()).Block(
			jen.Return(jen.Nil()).Comment("written by somebody else, and left alone")),
	}
}

// inner prints the statements at the end of a path: holder is the struct with the field.
type inner func(holder string, keys []key) []jen.Code

// note puts the field into what is kept, unless it is empty.
func (c *carrier) note(i int, f preserved) inner {
	return func(holder string, keys []key) []jen.Code {
		kept, value := jen.Id("kept").Dot(c.member(i)), jen.Id("v").Op(":=").Id(holder+"."+f.field.Name)
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
	return func(holder string, keys []key) []jen.Code {
		kept := jen.Id("kept").Dot(c.member(i))
		if f.keyed() {
			kept = kept.Index(c.key(keys))
		}
		return []jen.Code{jen.If(jen.Id("v").Op(":=").Add(kept), jen.Id("v").Op("!=").Nil()).Block(
			jen.Id(holder + "." + f.field.Name).Op("=").Op("*").Id("v"))}
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
