package conversion

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
)

// value converts what is at one place into the other. No code at all means that nothing is to be done there.
func (b *build) value(p pair, from, to place) ([]jen.Code, []problem) {
	if isTypeMeta(p.in) && isTypeMeta(p.out) {
		return nil, nil
	}
	if fn := b.funcs.find(p); fn != nil && !b.skips(fn) {
		if fn.drop {
			return nil, nil
		}
		return b.call(b.file.Qual(fn.path, fn.name), from, to), nil
	}
	if identical(p.in, p.out) {
		return one(to.value().Op("=").Add(from.value())), nil
	}
	if p.in.Form == model.Struct && p.out.Form == model.Struct {
		return b.structValue(p, from, to)
	}
	if b.sameLayout(p.in, p.out) {
		return one(b.cast(p, from, to)), nil
	}
	code, problems := b.composite(p, from, to)
	if problems != nil {
		if fn := base[p.key()]; fn != nil {
			return b.call(b.file.Qual(fn.path, fn.name), from, to), nil
		}
	}
	return code, problems
}

// skips tells whether an assignment takes the place of a function that only assigns.
func (b *build) skips(fn *function) bool {
	p := fn.pair
	return fn.copyOnly && (identical(p.in, p.out) || p.in.Form != model.Struct && b.sameLayout(p.in, p.out))
}

func one(c jen.Code) []jen.Code { return []jen.Code{c} }

// composite converts what is neither identical nor equal in memory.
func (b *build) composite(p pair, from, to place) ([]jen.Code, []problem) {
	in, out := p.in.Form, p.out.Form
	switch {
	case in == model.Basic && out == model.Basic:
		return b.number(p, from, to)
	case in == model.Pointer && out == model.Pointer:
		return b.pointer(p, from, to)
	case in == model.Pointer:
		return b.fromPointer(p, from, to)
	case out == model.Pointer:
		return b.toPointer(p, from, to)
	case in == model.Slice && out == model.Slice:
		return b.slice(p, from, to)
	case in == model.Map && out == model.Map:
		return b.mapping(p, from, to)
	case in == model.Array && out == model.Array && p.in.Len == p.out.Len:
		return b.array(p, from, to)
	}
	return nil, noRule(p, b.pkg)
}

// call calls a conversion function.
func (b *build) call(fn jen.Code, from, to place) []jen.Code {
	return one(jen.If(
		jen.Err().Op(":=").Add(fn).Call(from.addr(), to.addr(), jen.Id("s")),
		jen.Err().Op("!=").Nil(),
	).Block(jen.Return(jen.Err())))
}

// cast takes the value for one of the other type: by a conversion of Go's where there is one, through unsafe.Pointer where
// only the layout is known to be the same.
func (b *build) cast(p pair, from, to place) jen.Code {
	target := b.file.Type(p.out)
	if convertible(p.in, p.out) {
		if p.out.Package == nil && p.out.Form == model.Pointer {
			target = jen.Parens(target)
		}
		return to.value().Op("=").Add(target).Call(from.value())
	}
	b.guards.add(p.in, p.out)
	pointer := b.file.Qual("unsafe", "Pointer").Call(from.addr())
	return to.value().Op("=").Op("*").Parens(jen.Op("*").Add(target)).Call(pointer)
}

// structValue calls the function of a pair of named structs, and converts others in place.
func (b *build) structValue(p pair, from, to place) ([]jen.Code, []problem) {
	if !b.hasFunction(p.in) || !b.hasFunction(p.out) {
		if b.sameLayout(p.in, p.out) {
			return one(b.cast(p, from, to)), nil
		}
		if !b.nameable(p.in) || !b.nameable(p.out) || p.in.Package != nil || p.out.Package != nil {
			return nil, noRule(p, b.pkg)
		}
		code, problems := b.fields(p)
		if len(code) == 0 {
			return nil, problems
		}
		return one(jen.Block(append([]jen.Code{shadow(from, to)}, code...)...)), problems
	}
	if p.in.ConversionOff || p.out.ConversionOff {
		return nil, noRule(p, b.pkg)
	}
	if other := b.universe.emitted[p.key()]; other != nil && other != b.task && b.names[p.key()] == "" {
		return b.call(b.file.PackageQual(other.pkg, p.function()), from, to), nil
	}
	if !b.concerned(p) && b.wholeStruct(p) {
		return one(b.cast(p, from, to)), nil
	}
	return b.call(jen.Id(b.request(p)), from, to), nil
}

// hasFunction tells the structs that functions are written for.
func (b *build) hasFunction(t *model.Type) bool {
	return t.Package != nil && len(t.TypeArgs) == 0 && b.nameable(t)
}

// orNil runs the code where the place is not nil, with in and out pointing at the two places.
func (b *build) orNil(from, to place, code ...jen.Code) []jen.Code {
	block := append([]jen.Code{shadow(from, to)}, code...)
	return one(jen.If(from.value().Op("!=").Nil()).Block(block...).Else().Block(to.value().Op("=").Nil()))
}

func (b *build) pointer(p pair, from, to place) ([]jen.Code, []problem) {
	code, problems := b.value(pair{p.in.Elem, p.out.Elem}, variable("in").deref(), variable("out").deref())
	if len(code) == 0 {
		return nil, problems
	}
	alloc := jen.Op("*").Id("out").Op("=").New(b.file.Type(p.out.Elem))
	return b.orNil(from, to, append(one(alloc), code...)...), problems
}

// fromPointer: nil becomes the zero value.
func (b *build) fromPointer(p pair, from, to place) ([]jen.Code, []problem) {
	code, problems := b.value(pair{p.in.Elem, p.out}, variable("in").deref(), variable("out"))
	if problems != nil || len(code) == 0 {
		return nil, orNoRule(problems, p, b.pkg)
	}
	block := append([]jen.Code{shadow(from, to)}, code...)
	return one(jen.If(from.value().Op("!=").Nil()).Block(block...).Else().Block(to.value().Op("=").Add(b.zero(p.out)))), nil
}

// toPointer: a value, zero or not, becomes a pointer to one.
func (b *build) toPointer(p pair, from, to place) ([]jen.Code, []problem) {
	code, problems := b.value(pair{p.in, p.out.Elem}, variable("in"), variable("out").deref())
	if problems != nil || len(code) == 0 {
		return nil, orNoRule(problems, p, b.pkg)
	}
	alloc := jen.Op("*").Id("out").Op("=").New(b.file.Type(p.out.Elem))
	return one(jen.Block(append([]jen.Code{shadow(from, to), alloc}, code...)...)), nil
}

// orNoRule names the whole pair where the types don't fit, but keeps what is known of a field further in.
func orNoRule(problems []problem, p pair, pkg *model.Package) []problem {
	if len(problems) == 0 || problems[0].field != "" {
		return problems
	}
	return noRule(p, pkg)
}

func (b *build) slice(p pair, from, to place) ([]jen.Code, []problem) {
	code, problems := b.value(pair{p.in.Elem, p.out.Elem}, element("in"), element("out"))
	if len(code) == 0 {
		return nil, problems
	}
	alloc := jen.Op("*").Id("out").Op("=").Make(b.file.Type(p.out), jen.Len(jen.Op("*").Id("in")))
	loop := jen.For(jen.Id("i").Op(":=").Range().Op("*").Id("in")).Block(code...)
	return b.orNil(from, to, alloc, loop), problems
}

func (b *build) array(p pair, from, to place) ([]jen.Code, []problem) {
	code, problems := b.value(pair{p.in.Elem, p.out.Elem}, element("in"), element("out"))
	if len(code) == 0 {
		return nil, problems
	}
	loop := jen.For(jen.Id("i").Op(":=").Range().Op("*").Id("in")).Block(code...)
	return one(jen.Block(shadow(from, to), loop)), problems
}

func (b *build) mapping(p pair, from, to place) ([]jen.Code, []problem) {
	key := jen.Id("key")
	if !identical(p.in.Key, p.out.Key) {
		keys := pair{p.in.Key, p.out.Key}
		if b.funcs.blocks(keys) || !convertible(p.in.Key, p.out.Key) {
			return nil, noRule(keys, b.pkg)
		}
		key = b.file.Type(p.out.Key).Call(key)
	}
	code, problems := b.value(pair{p.in.Elem, p.out.Elem}, local("val"), variable("newVal"))
	if len(code) == 0 {
		return nil, problems
	}
	alloc := jen.Op("*").Id("out").Op("=").Make(b.file.Type(p.out), jen.Len(jen.Op("*").Id("in")))
	body := append(one(jen.Id("newVal").Op(":=").New(b.file.Type(p.out.Elem))), code...)
	body = append(body, jen.Parens(jen.Op("*").Id("out")).Index(key).Op("=").Op("*").Id("newVal"))
	loop := jen.For(jen.List(jen.Id("key"), jen.Id("val")).Op(":=").Range().Op("*").Id("in")).Block(body...)
	return b.orNil(from, to, alloc, loop), problems
}

// zero is the type's zero value.
func (b *build) zero(t *model.Type) jen.Code {
	switch t.Form {
	case model.Basic:
		switch {
		case t.Basic == "string":
			return jen.Lit("")
		case t.Basic == "bool":
			return jen.False()
		}
		return jen.Lit(0)
	case model.Struct, model.Array:
		return b.file.Type(t).Values()
	}
	return jen.Nil()
}
