package deepcopy

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
)

type copier struct {
	file   *gocode.File
	shapes shapes
	errs   diag.Errors
	// refused are the positions that were complained about already: once is enough.
	refused map[model.Position]bool

	// top is the type whose method is being written, path and pos where in it we are, open the named types that are
	// being copied in place.
	top  *model.Type
	path []string
	pos  model.Position
	open []*model.Type
}

func (c *copier) body(t *model.Type) []jen.Code {
	c.top, c.path, c.pos, c.open = t, []string{t.Name}, t.Pos, []*model.Type{t}
	in, out := gocode.Pointee("in"), gocode.Pointee("out")
	switch t.Form {
	case model.Slice, model.Map:
		in = gocode.Variable("in")
		whenNil := jen.If(jen.Id("in").Op("==").Nil()).Block(out.Set(jen.Nil()), jen.Return())
		return append([]jen.Code{whenNil}, c.elements(t, out, in, 0)...)
	}
	return c.form(t, out, in, 0, false)
}

// copy makes out a full copy of in. Before, out is zero, or assigned: it was assigned in already.
func (c *copier) copy(t *model.Type, out, in gocode.Place, depth int, assigned bool) []jen.Code {
	if c.shapes.plain(t) {
		if assigned {
			return nil
		}
		return []jen.Code{out.Set(in.Value())}
	}
	var call *jen.Statement
	switch wayOf(t) {
	case callInto:
		call = in.Call("DeepCopyInto", out.Address())
	case callValue:
		call = out.Set(in.Call("DeepCopy"))
	case callDeref:
		call = out.Set(jen.Op("*").Add(in.Call("DeepCopy")))
	default:
		return c.inPlace(t, out, in, depth, assigned)
	}
	if reference(t) {
		call = in.IfNotNil(call) // nil stays nil, whatever the method makes of it
	}
	return []jen.Code{call}
}

func (c *copier) inPlace(t *model.Type, out, in gocode.Place, depth int, assigned bool) []jen.Code {
	if t.Name == "" {
		return c.form(t, out, in, depth, assigned)
	}
	if slices.Contains(c.open, t) {
		remedy := "mark that type +k8s:deepcopy-gen=true, or write its DeepCopyInto"
		if len(t.TypeArgs) > 0 {
			remedy = "write that type's DeepCopyInto by hand, since it is generic"
		}
		c.refuse("has the recursive type %s, which has no DeepCopyInto: %s", model.TypeText(t), remedy)
		return nil
	}
	c.open = append(c.open, t)
	defer func() { c.open = c.open[:len(c.open)-1] }()
	return c.form(t, out, in, depth, assigned)
}

func (c *copier) form(t *model.Type, out, in gocode.Place, depth int, assigned bool) []jen.Code {
	if isLock(t) {
		c.refuseLock(t)
		return nil
	}
	switch t.Form {
	case model.Basic:
		return []jen.Code{out.Set(in.Value())}
	case model.Struct:
		return c.structFields(t, out, in, depth, assigned)
	case model.Array:
		return c.array(t, out, in, depth, assigned)
	case model.Slice, model.Map:
		return []jen.Code{in.IfNotNil(c.elements(t, out, in, depth)...)}
	case model.Pointer:
		fresh := out.Set(jen.New(c.file.Type(t.Elem)))
		to, from := out.Deref(), in.Deref()
		if t.Name != "" {
			to, from = out.Starred(), in.Starred()
		}
		rest := c.copy(t.Elem, to, from, depth, false)
		c.name(t.Elem)
		return []jen.Code{in.IfNotNil(append([]jen.Code{fresh}, rest...)...)}
	case model.Interface:
		return c.interfaceValue(t, out, in)
	}
	c.refuseForm(t)
	return nil
}

// structFields assigns the struct as a whole and then mends the fields that hold references; one with a lock that a
// field's own method takes care of is assigned field by field.
func (c *copier) structFields(t *model.Type, out, in gocode.Place, depth int, assigned bool) []jen.Code {
	var code []jen.Code
	whole := assigned || lockIn(t) == nil
	if whole && !assigned {
		code = append(code, out.Set(in.Value()))
	}
	for _, field := range t.Fields {
		if field.Name == "_" || whole && c.shapes.plain(field.Type) {
			continue
		}
		if !c.accessible(t, field) {
			c.refuseHidden(t, field)
			continue
		}
		leave := c.enter(t, field)
		to, from, set := out.Field(field.Name), in.Field(field.Name), whole
		if !whole && lockIn(field.Type) == nil {
			code = append(code, to.Set(from.Value()))
			set = true
		}
		code = append(code, c.copy(field.Type, to, from, depth, set)...)
		leave()
	}
	return code
}

// enter goes into a field. Errors below it are told at its line while that is where the user can do something: foreign
// fields are not, nor those of a generic type that only this instance has trouble with.
func (c *copier) enter(owner *model.Type, field *model.Field) (leave func()) {
	pos := c.pos
	users := owner.Package == nil || owner.Package == c.file.Package() && len(owner.TypeArgs) == 0
	if users && field.Pos.IsValid() && (!c.top.Pos.IsValid() ||
		filepath.Dir(field.Pos.Filename) == filepath.Dir(c.top.Pos.Filename)) {
		c.pos = field.Pos
	}
	c.path = append(c.path, field.Name)
	return func() {
		c.path = c.path[:len(c.path)-1]
		c.pos = pos
	}
}

// accessible reports whether the package may name the field. A type defined over a foreign one keeps that one's
// unexported fields to the other package, so where the field stands counts, not whose type it is in.
func (c *copier) accessible(owner *model.Type, field *model.Field) bool {
	if field.Exported {
		return true
	}
	declared := owner
	if owner.Name == "" {
		declared = c.top
	}
	if declared.Package != c.file.Package() {
		return false
	}
	if !field.Pos.IsValid() || !declared.Pos.IsValid() {
		return true
	}
	return filepath.Dir(field.Pos.Filename) == filepath.Dir(declared.Pos.Filename)
}

func (c *copier) array(t *model.Type, out, in gocode.Place, depth int, assigned bool) []jen.Code {
	var code []jen.Code
	if !assigned {
		code = append(code, out.Set(in.Value()))
	}
	i := index(depth)
	each := c.copy(t.Elem, out.Index(i), in.Index(i), depth+1, true)
	return append(code, c.file.Code("for $ := range $ {$}", i, in.Value(), each))
}

func (c *copier) elements(t *model.Type, out, in gocode.Place, depth int) []jen.Code {
	fresh := out.Set(jen.Make(c.file.Type(t), jen.Len(in.Value())))
	defer c.name(t)
	if t.Form == model.Map {
		return []jen.Code{fresh, c.mapEntries(t, out, in, depth)}
	}
	if c.shapes.plain(t.Elem) {
		return []jen.Code{fresh, jen.Copy(out.Value(), in.Value())}
	}
	i := index(depth)
	each := c.copy(t.Elem, out.Index(i), in.Index(i), depth+1, false)
	return []jen.Code{fresh, c.file.Code("for $ := range $ {$}", i, in.Value(), each)}
}

func (c *copier) mapEntries(t *model.Type, out, in gocode.Place, depth int) jen.Code {
	if !c.shapes.plain(t.Key) {
		c.refuse("is a map with keys of the type %s, which hold references: a copied key would be another key; use "+
			"keys of plain values, or %s", model.TypeText(t.Key), c.byHand())
		return jen.Null()
	}
	key, val, outVal := numbered("key", depth), numbered("val", depth), numbered("outVal", depth)
	each := c.entry(t, out.Index(key), gocode.Variable(outVal), gocode.Variable(val), depth)
	return c.file.Code("for $, $ := range $ {$}", key, val, in.Value(), each)
}

// entry copies a map's value to its place under the key. That place has no address, so what needs one is copied in a
// variable.
func (c *copier) entry(t *model.Type, to, variable, val gocode.Place, depth int) []jen.Code {
	how := wayOf(t.Elem)
	switch {
	case c.shapes.plain(t.Elem), (how == callValue || how == callDeref) && !reference(t.Elem):
		return c.copy(t.Elem, to, val, depth+1, false)
	case how == inline && (t.Elem.Form == model.Struct || t.Elem.Form == model.Array) && lockIn(t.Elem) == nil:
		code := []jen.Code{variable.Value().Op(":=").Add(val.Value())}
		code = append(code, c.copy(t.Elem, variable, val, depth+1, true)...)
		return append(code, to.Set(variable.Value()))
	}
	code := []jen.Code{jen.Var().Add(variable.Value()).Add(c.file.Type(t.Elem))}
	code = append(code, c.copy(t.Elem, variable, val, depth+1, false)...)
	c.name(t.Elem)
	return append(code, to.Set(variable.Value()))
}

// interfaceValue asks the value for a copy: by DeepCopy<Interface>, as runtime.Object's DeepCopyObject, or by the only
// DeepCopy method that the interface has.
func (c *copier) interfaceValue(t *model.Type, out, in gocode.Place) []jen.Code {
	var found []string
	for _, name := range t.InterfaceMethods {
		if strings.HasPrefix(name, "DeepCopy") && name != "DeepCopyInto" {
			found = append(found, name)
		}
		if t.Name != "" && name == "DeepCopy"+t.Name {
			return []jen.Code{in.IfNotNil(out.Set(in.Call(name)))}
		}
	}
	if len(found) != 1 {
		c.refuseInterface(t)
		return nil
	}
	if method := t.Methods[found[0]]; method != nil && len(method.Results) == 1 && method.Results[0] == t {
		return []jen.Code{in.IfNotNil(out.Set(in.Call(found[0])))}
	}
	c.name(t)
	assert := in.Call(found[0]).Assert(c.file.Type(t))
	return []jen.Code{in.IfNotNil(jen.List(out.Value(), jen.Id("_")).Op("=").Add(assert))}
}

// name refuses a type that a copy is made of and that the package can't name, unless what is inside was refused.
func (c *copier) name(t *model.Type) {
	part, at := model.Unnameable(c.file.Package(), t)
	if part == nil {
		return
	}
	outer := c.pos
	if c.file.Package().Holds(at) {
		c.pos = at
	}
	c.refuse("holds %s, which package %s can't name: use a type with a name that is exported, or %s",
		model.TypeText(part), c.file.Package().Path, c.byHand())
	c.pos = outer
}

func index(depth int) string {
	if depth < 3 {
		return "ijk"[depth : depth+1]
	}
	return numbered("i", depth)
}

func numbered(name string, depth int) string {
	if depth == 0 {
		return name
	}
	return name + strconv.Itoa(depth+1)
}
