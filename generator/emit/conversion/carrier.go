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
	"apigen.dev/generator/plan"
)

// carrier writes what takes preserved fields of a kind through an annotation, in one direction.
type carrier struct {
	*writer
	*plan.Carrier
	// back is the function that converts the hub back.
	back string
}

// carrier writes the function of the direction, and before the one to the hub, what is carried.
func (w *writer) carrier(of *plan.Conversion, x *plan.Carrier) {
	c := &carrier{writer: w, Carrier: x}
	if c.converts() {
		c.back = "auto" + w.plan.Of(of.Reverse()).Name
	}
	if c.ToHub {
		w.file.Add(c.typeDoc(), jen.Type().Id(c.typeName()).Struct(c.members()...))
	}
	body := c.preserve
	if c.Fills() {
		body = c.restore
	}
	w.file.Add(c.doc(), c.signature().Block(body()...))
	if c.ToHub && c.Digests() && !w.digesting {
		w.digesting = true
		w.file.Add("preservedDigest tells elements of a list apart by what they hold.", c.digest())
	}
}

// result is how the generated function of a pair ends.
func result(of *plan.Conversion) []jen.Code {
	var out []jen.Code
	for i, x := range of.Carriers {
		c := carrier{Carrier: x}
		call := jen.Id(c.function()).Call(c.arguments()...)
		if i == len(of.Carriers)-1 {
			return append(out, jen.Return(call))
		}
		out = append(out, jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())))
	}
	return one(jen.Return(jen.Nil()))
}

func (c *carrier) function() string {
	name := "preserve"
	if c.Fills() {
		name = "restore"
	}
	if c.Own {
		name += "Own"
	}
	return name + "_" + plan.TypeName(c.Spoke)
}

func (c *carrier) typeName() string {
	if c.Own {
		return "preservedOwn_" + plan.TypeName(c.Spoke)
	}
	return "preserved_" + plan.TypeName(c.Spoke)
}

// converts tells whether the function converts the object back, to see which elements of lists are which.
func (c *carrier) converts() bool { return c.Own && !c.Fills() && c.Digests() }

func (c *carrier) arguments() []jen.Code {
	out := []jen.Code{jen.Id("in"), jen.Id("out")}
	if c.converts() {
		out = append(out, jen.Id("s"))
	}
	return out
}

func (c *carrier) typeDoc() string {
	if c.Own {
		return fmt.Sprintf("%s is what version %s of %s alone has. It travels in the hub's annotation\n%s.",
			c.typeName(), c.Spoke.Package.Name, c.Spoke.Name, c.Annotation())
	}
	return fmt.Sprintf("%s is what version %s of %s can't hold of the hub's fields. It travels in the annotation\n%s.",
		c.typeName(), c.Spoke.Package.Name, c.Spoke.Name, c.Annotation())
}

func (c *carrier) doc() string {
	switch {
	case c.Own && c.Fills():
		return fmt.Sprintf("%s gives %s back what it alone has, as far as its place is there still.", c.function(),
			c.Spoke.Name)
	case c.Own:
		return fmt.Sprintf("%s notes in an annotation of the hub what %s alone has.", c.function(), c.Spoke.Name)
	case c.Fills():
		return fmt.Sprintf("%s gives the hub back what the annotation has noted, where the client left its place, "+
			"and removes it.", c.function())
	}
	return fmt.Sprintf("%s notes in an annotation what %s can't hold.", c.function(), c.Spoke.Name)
}

func (c *carrier) signature() *jen.Statement {
	in, out := c.Hub, c.Spoke
	if c.ToHub {
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
	for i, f := range c.Fields {
		typ := jen.Op("*").Add(c.file.Type(f.Field.Type))
		if f.Keyed() {
			typ = jen.Map(jen.String()).Add(typ)
		}
		out = append(out, jen.Id(c.member(i)).Add(typ).Tag(map[string]string{"json": f.Name + ",omitempty"}))
	}
	return out
}

// member is the name of what is carried of a field: that of its path, SpecNote, or SpecNote_2 where another one has it.
func (c *carrier) member(i int) string {
	name := memberName(c.Fields[i].Name)
	if slices.ContainsFunc(c.Fields[:i], func(f plan.Preserved) bool { return memberName(f.Name) == name }) {
		return fmt.Sprintf("%s_%d", name, i)
	}
	return name
}

// memberName is an exported Go name, without an underscore, for a path of JSON names.
func memberName(path string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(path,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
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
	if c.Own {
		lacks, beside, body = "what version %s alone has", "", c.strip()
	} else {
		after = c.strip()
	}
	if c.converts() {
		beside = "bare"
		back := jen.Id(c.back).Call(jen.Id("out"), jen.Id("bare"), jen.Id("s"))
		body = append(body,
			jen.Id("bare").Op(":=").New(c.file.Type(c.Spoke)),
			jen.If(jen.Err().Op(":=").Add(back), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())))
	}
	body = append(body, jen.Var().Id("kept").Id(c.typeName()))
	for i, f := range c.Fields {
		body = append(body, c.nest(f.Steps, "in", beside, nil, c.note(i, f))...)
	}
	body = append(body,
		jen.List(jen.Id("data"), jen.Err()).Op(":=").Add(c.file.Qual("encoding/json", "Marshal")).
			Call(jen.Op("&").Id("kept")),
		err,
		jen.If(jen.Len(jen.Id("data")).Op(">").Lit(limit)).Block(jen.Return(c.file.Qual("fmt", "Errorf").Call(
			jen.Lit(fmt.Sprintf(lacks+" takes %%d bytes, and annotations %d at most", c.Spoke.Package.Name,
				limit)), jen.Len(jen.Id("data"))))))
	return append(append(body, after...),
		jen.If(jen.Id("string").Call(jen.Id("data")).Op("==").Lit("{}")).Block(jen.Return(jen.Nil())),
		jen.If(jen.Id("out").Dot("Annotations").Op("==").Nil()).Block(
			jen.Id("out").Dot("Annotations").Op("=").Map(jen.String()).String().Values()),
		jen.Id("out").Dot("Annotations").Index(jen.Lit(c.Annotation())).Op("=").Id("string").Call(jen.Id("data")),
		jen.Return(jen.Nil()),
	)
}

// strip takes the annotation away before it is written anew. The map may be another object's, too.
func (c *carrier) strip() []jen.Code {
	return []jen.Code{
		jen.Id("out").Dot("Annotations").Op("=").Add(c.file.Qual("maps", "Clone")).
			Call(jen.Id("out").Dot("Annotations")),
		jen.Id("delete").Call(jen.Id("out").Dot("Annotations"), jen.Lit(c.Annotation())),
	}
}

// restore is the body of the function that gives back.
func (c *carrier) restore() []jen.Code {
	body := []jen.Code{
		jen.List(jen.Id("text"), jen.Id("ok")).Op(":=").Id("in").Dot("Annotations").Index(jen.Lit(c.Annotation())),
		jen.If(jen.Op("!").Id("ok")).Block(jen.Return(jen.Nil())),
	}
	taken := []jen.Code{
		jen.Id("out").Dot("Annotations").Op("=").Add(c.file.Qual("maps", "Clone")).
			Call(jen.Id("out").Dot("Annotations")),
		jen.If(jen.Id("delete").Call(jen.Id("out").Dot("Annotations"), jen.Lit(c.Annotation())),
			jen.Len(jen.Id("out").Dot("Annotations")).Op("==").Lit(0)).Block(
			jen.Id("out").Dot("Annotations").Op("=").Nil()),
	}
	beside := "in"
	if c.Own {
		body = append(append(body, c.readLeniently()...), taken...)
		if beside = ""; c.Digests() {
			beside = "bare"
			body = append(body, jen.List(jen.Id("bare"), jen.Id("_")).Op(":=").Id("out").Dot("DeepCopyObject").Call().
				Assert(jen.Op("*").Add(c.file.Type(c.Spoke))))
		}
	} else {
		body = append(append(body, taken...), c.read()...)
	}
	for i, f := range c.Fields {
		body = append(body, c.nest(f.Steps, "out", beside, nil, c.giveBack(i, f))...)
	}
	return append(body, jen.Return(jen.Nil()))
}

// decode prints the call that decodes what is kept.
func (c *carrier) decode() *jen.Statement {
	return c.file.Qual("encoding/json", "Unmarshal").
		Call(jen.Index().Byte().Parens(jen.Id("text")), jen.Op("&").Id("kept"))
}

// read decodes the annotation, or refuses it: the client that sent it is writing the object.
func (c *carrier) read() []jen.Code {
	return []jen.Code{
		jen.If(jen.Len(jen.Id("text")).Op(">").Lit(limit)).Block(jen.Return(c.file.Qual("fmt", "Errorf").Call(
			jen.Lit(fmt.Sprintf("annotation %s takes %%d bytes, and may take %d", c.Annotation(),
				limit)), jen.Len(jen.Id("text"))))),
		jen.Var().Id("kept").Id(c.typeName()),
		jen.If(jen.Err().Op(":=").Add(c.decode()), jen.Err().Op("!=").Nil()).Block(
			jen.Return(c.file.Qual("fmt", "Errorf").Call(jen.Lit("annotation "+c.Annotation()+": %w"), jen.Err()))),
	}
}

// readLeniently decodes the annotation of an object that is being read: a client of another version, which spoils it,
// must not make the object unreadable in this one.
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
func (c *carrier) note(i int, f plan.Preserved) inner {
	return func(holder string, keys []key) []jen.Code {
		kept, value := jen.Id("kept").Dot(c.member(i)), jen.Id("v").Op(":=").Id(holder+"."+f.Field.Name)
		set := jen.Add(kept.Clone()).Op("=").Op("&").Id("v")
		var body []jen.Code
		if f.Keyed() {
			typ := jen.Map(jen.String()).Op("*").Add(c.file.Type(f.Field.Type))
			body = append(body, jen.If(kept.Clone().Op("==").Nil()).Block(kept.Clone().Op("=").Add(typ).Values()))
			set = kept.Clone().Index(c.key(keys)).Op("=").Op("&").Id("v")
		}
		return []jen.Code{jen.If(value, c.notEmpty(f.Field.Type)).Block(append(body, set)...)}
	}
}

// giveBack sets the field to what was kept.
func (c *carrier) giveBack(i int, f plan.Preserved) inner {
	return func(holder string, keys []key) []jen.Code {
		kept := jen.Id("kept").Dot(c.member(i))
		if f.Keyed() {
			kept = kept.Index(c.key(keys))
		}
		return []jen.Code{jen.If(jen.Id("v").Op(":=").Add(kept), jen.Id("v").Op("!=").Nil()).Block(
			jen.Id(holder + "." + f.Field.Name).Op("=").Op("*").Id("v"))}
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

func (c *carrier) digest() jen.Code {
	return jen.Func().Id("preservedDigest").Params(jen.Id("value").Any()).String().Block(
		jen.Id("sum").Op(":=").Add(c.file.Qual("hash/fnv", "New64a")).Call(),
		jen.If(jen.Err().Op(":=").Add(c.file.Qual("encoding/json", "NewEncoder")).Call(jen.Id("sum")).Dot("Encode").
			Call(jen.Id("value")), jen.Err().Op("!=").Nil()).Block(
			jen.Return(jen.Lit(""))),
		jen.Return(c.file.Qual("fmt", "Sprintf").Call(jen.Lit("%x"), jen.Id("sum").Dot("Sum64").Call())),
	)
}
