package conversion

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
)

// nest prints the conditions and loops that lead along steps, in the hub's object and beside it in the spoke's. Where the
// two part, because a client took something away, nothing is done.
func (c *carrier) nest(steps []step, hub, spoke string, keys []key, end inner) []jen.Code {
	if len(steps) == 0 {
		return end(hub, keys)
	}
	s, rest := steps[0], steps[1:]
	switch s.kind {
	case fieldStep:
		return c.nest(rest, hub+"."+s.hub, spoke+"."+s.spoke, keys, end)
	case pointerStep:
		return c.nestPointer(s, rest, hub, spoke, keys, end)
	case listStep:
		return c.nestList(s, rest, hub, spoke, keys, end)
	}
	return c.nestMap(s, rest, hub, spoke, keys, end)
}

func (c *carrier) nestPointer(s step, rest []step, hub, spoke string, keys []key, end inner) []jen.Code {
	var condition *jen.Statement
	for _, side := range []struct {
		pointer bool
		expr    string
	}{{s.hubNil, hub}, {s.spokeNil, spoke}} {
		switch {
		case !side.pointer:
		case condition == nil:
			condition = jen.Id(side.expr).Op("!=").Nil()
		default:
			condition = condition.Op("&&").Id(side.expr).Op("!=").Nil()
		}
	}
	if len(rest) > 0 && rest[0].kind != fieldStep { // a pointer to a list, or to a map
		if s.hubNil {
			hub = "(*" + hub + ")"
		}
		if s.spokeNil {
			spoke = "(*" + spoke + ")"
		}
	}
	return one(jen.If(condition).Block(c.nest(rest, hub, spoke, keys, end)...))
}

func (c *carrier) nestList(s step, rest []step, hub, spoke string, keys []key, end inner) []jen.Code {
	n := len(keys) + 1
	i, h, v := fmt.Sprintf("i%d", n), fmt.Sprintf("hub%d", n), fmt.Sprintf("own%d", n)
	body := []jen.Code{jen.Id(h).Op(":=").Add(elementOf(s.hubType, hub, i))}
	keys = append([]key(nil), keys...)
	if s.keys == nil {
		keys = append(keys, key{"%d", i}, key{"%s", "preservedDigest(" + v + ")"})
	}
	for _, name := range s.keys {
		keys = append(keys, key{"%q", fmt.Sprintf("fmt.Sprint(%s.%s)", h, name)})
	}
	if s.keys == nil || usesSpoke(rest) {
		body = append(body,
			jen.If(jen.Id(i).Op("==").Len(jen.Id(spoke))).Block(jen.Break()),
			jen.Id(v).Op(":=").Add(elementOf(s.spokeType, spoke, i)))
	}
	return one(jen.For(jen.Id(i).Op(":=").Range().Id(hub)).Block(append(body, c.nest(rest, h, v, keys, end)...)...))
}

// elementOf points at a struct in a list; what is a reference itself is taken as it is.
func elementOf(list *model.Type, expr, index string) jen.Code {
	element := jen.Id(expr).Index(jen.Id(index))
	if list.Elem.Form == model.Struct {
		return jen.Op("&").Add(element)
	}
	return element
}

func (c *carrier) nestMap(s step, rest []step, hub, spoke string, keys []key, end inner) []jen.Code {
	n := len(keys) + 1
	k, h, v := fmt.Sprintf("k%d", n), fmt.Sprintf("hub%d", n), fmt.Sprintf("own%d", n)
	own := jen.Id(v)
	if !usesSpoke(rest) {
		own = jen.Id("_")
	}
	at := jen.Id(k)
	if !identical(s.hubType.Key, s.spokeType.Key) {
		at = c.file.Type(s.spokeType.Key).Call(at)
	}
	body := []jen.Code{
		jen.List(own, jen.Id("ok")).Op(":=").Id(spoke).Index(at),
		jen.If(jen.Op("!").Id("ok")).Block(jen.Continue()),
	}
	keys = append(append([]key(nil), keys...), key{"%q", "fmt.Sprint(" + k + ")"})
	body = append(body, c.nest(rest, h, v, keys, end)...)
	if c.toHub && s.hubType.Elem.Form == model.Struct {
		body = append(body, jen.Id(hub).Index(jen.Id(k)).Op("=").Id(h))
	}
	return one(jen.For(jen.List(jen.Id(k), jen.Id(h)).Op(":=").Range().Id(hub)).Block(body...))
}

// usesSpoke tells whether what the steps print looks at the spoke's value.
func usesSpoke(steps []step) bool {
	for _, s := range steps {
		if s.kind == listStep || s.kind == mapStep || s.kind == pointerStep && s.spokeNil {
			return true
		}
	}
	return false
}
