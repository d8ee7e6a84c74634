package conversion

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

type carrier struct {
	*writer
	*plan.Carrier
	// back is the function that converts the hub back.
	back string
}

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

const returnError = "if err := $; err != nil {\n\treturn err\n}"

func (w *writer) result(of *plan.Conversion) []jen.Code {
	var out []jen.Code
	for i, x := range of.Carriers {
		c := carrier{Carrier: x}
		call := c.function() + "(" + c.arguments() + ")"
		if i == len(of.Carriers)-1 {
			return append(out, w.file.Code("return "+call))
		}
		out = append(out, w.file.Code(returnError, call))
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

func (c *carrier) converts() bool { return c.Own && !c.Fills() && c.Digests() }

func (c *carrier) arguments() string {
	if c.converts() {
		return "in, out, s"
	}
	return "in, out"
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
	in, out, scope := c.Hub, c.Spoke, jen.Null()
	if c.ToHub {
		in, out = out, in
	}
	from, to := c.file.Type(in), c.file.Type(out)
	if c.converts() {
		scope = c.file.Code(", s conversion.Scope")
	}
	return c.file.Code("func $(in *$, out *$$) error", c.function(), from, to, scope)
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

func (c *carrier) preserve() []jen.Code {
	lacks, beside := "what version %s can't hold", "out"
	var body, after []jen.Code
	if c.Own {
		lacks, beside, body = "what version %s alone has", "", one(c.strip())
	} else {
		after = one(c.strip())
	}
	if c.converts() {
		beside = "bare"
		body = append(body, c.file.Code("bare := new($)", c.file.Type(c.Spoke)),
			c.file.Code(returnError, c.back+"(out, bare, s)"))
	}
	body = append(body, c.file.Code("var kept $", c.typeName()))
	for i, f := range c.Fields {
		body = append(body, c.nest(f.Steps, "in", beside, nil, c.note(i, f))...)
	}
	tooLong := fmt.Sprintf(lacks+" takes %%d bytes, and annotations %d at most", c.Spoke.Package.Name, limit)
	body = append(body, c.file.Code(`data, err := json.Marshal(&kept)
		if err != nil {
			return err
		}
		if len(data) > $ {
			return fmt.Errorf($, len(data))
		}`, jen.Lit(limit), jen.Lit(tooLong)))
	return append(append(body, after...), c.file.Code(`if string(data) == "{}" {
			return nil
		}
		if out.Annotations == nil {
			out.Annotations = map[string]string{}
		}
		out.Annotations[$] = string(data)
		return nil`, jen.Lit(c.Annotation())))
}

// strip takes the annotation away before it is written anew. The map may be another object's, too.
func (c *carrier) strip() jen.Code {
	return c.file.Code("out.Annotations = maps.Clone(out.Annotations)\ndelete(out.Annotations, $)",
		jen.Lit(c.Annotation()))
}

func (c *carrier) restore() []jen.Code {
	body := one(c.file.Code(`text, ok := in.Annotations[$]
		if !ok {
			return nil
		}`, jen.Lit(c.Annotation())))
	taken := c.file.Code(`out.Annotations = maps.Clone(out.Annotations)
		if delete(out.Annotations, $); len(out.Annotations) == 0 {
			out.Annotations = nil
		}`, jen.Lit(c.Annotation()))
	beside := "in"
	if c.Own {
		body = append(body, c.readLeniently(), taken)
		if beside = ""; c.Digests() {
			beside = "bare"
			body = append(body, c.file.Code("bare, _ := out.DeepCopyObject().(*$)", c.file.Type(c.Spoke)))
		}
	} else {
		body = append(body, taken, c.read())
	}
	for i, f := range c.Fields {
		body = append(body, c.nest(f.Steps, "out", beside, nil, c.giveBack(i, f))...)
	}
	return append(body, jen.Return(jen.Nil()))
}

// read decodes the annotation, or refuses it: the client that sent it is writing the object.
func (c *carrier) read() jen.Code {
	tooLong := fmt.Sprintf("annotation %s takes %%d bytes, and may take %d", c.Annotation(), limit)
	return c.file.Code(`if len(text) > $ {
			return fmt.Errorf($, len(text))
		}
		var kept $
		if err := json.Unmarshal([]byte(text), &kept); err != nil {
			return fmt.Errorf($, err)
		}`, jen.Lit(limit), jen.Lit(tooLong), c.typeName(), jen.Lit("annotation "+c.Annotation()+": %w"))
}

// readLeniently decodes the annotation of an object that is being read: a client of another version, which spoils it,
// must not make the object unreadable in this one.
func (c *carrier) readLeniently() jen.Code {
	return c.file.Code(`var kept $
		if len(text) > $ || json.Unmarshal([]byte(text), &kept) != nil {
			return nil // written by somebody else, and left alone
		}`, c.typeName(), jen.Lit(limit))
}

// inner prints the statements at the end of a path: holder is the struct with the field.
type inner func(holder string, keys []key) []jen.Code

func (c *carrier) note(i int, f plan.Preserved) inner {
	return func(holder string, keys []key) []jen.Code {
		kept := "kept." + c.member(i)
		var body []jen.Code
		if f.Keyed() {
			body = one(c.file.Code("if $ == nil {\n$ = map[string]*$$\n}", kept, kept, c.file.Type(f.Field.Type), "{}"))
			body = append(body, c.file.Code("$[$] = &v", kept, c.key(keys)))
		} else {
			body = one(c.file.Code("$ = &v", kept))
		}
		return one(c.file.Code("if v := $; $ {$}", holder+"."+f.Field.Name, c.notEmpty(f.Field.Type), body))
	}
}

func (c *carrier) giveBack(i int, f plan.Preserved) inner {
	return func(holder string, keys []key) []jen.Code {
		kept := jen.Id("kept").Dot(c.member(i))
		if f.Keyed() {
			kept = kept.Index(c.key(keys))
		}
		return one(c.file.Code("if v := $; v != nil {\n$ = *v\n}", kept, holder+"."+f.Field.Name))
	}
}

func (c *carrier) notEmpty(t *model.Type) jen.Code {
	switch {
	case t.Form == model.Struct || t.Form == model.Array:
		return c.file.Code("!reflect.ValueOf(v).IsZero()")
	case t.Form == model.Basic && t.Basic == "bool":
		return c.file.Code("bool(v)")
	}
	return c.file.Code("v != $", c.zero(t))
}

// key is a part of what tells one of many apart: a verb, and an expression.
type key struct{ verb, expr string }

func (c *carrier) key(keys []key) jen.Code {
	var verbs, exprs []string
	for _, k := range keys {
		verbs, exprs = append(verbs, k.verb), append(exprs, k.expr)
	}
	return c.file.Code("fmt.Sprintf($, $)", jen.Lit(strings.Join(verbs, "/")), strings.Join(exprs, ", "))
}

func (c *carrier) digest() jen.Code {
	return c.file.Code(`func preservedDigest(value any) string {
			sum := fnv.New64a()
			if err := json.NewEncoder(sum).Encode(value); err != nil {
				return ""
			}
			return fmt.Sprintf("%x", sum.Sum64())
		}`)
}
