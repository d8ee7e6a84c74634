package conversion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// nest prints the conditions and loops that lead along steps, in the object with the fields and in the one beside it,
// by which its elements are told apart. Where the two part, because a client took something away, nothing is done.
// Without a name for the one beside there is none.
func (c *carrier) nest(steps []plan.Step, holder, beside string, keys []key, end inner) []jen.Code {
	if len(steps) == 0 {
		return end(holder, keys)
	}
	s, rest := steps[0], steps[1:]
	switch s.Kind {
	case plan.FieldStep:
		if beside != "" {
			beside += "." + s.Spoke
		}
		return c.nest(rest, holder+"."+s.Hub, beside, keys, end)
	case plan.PointerStep:
		return c.nestPointer(s, rest, holder, beside, keys, end)
	case plan.ListStep:
		return c.nestList(s, rest, holder, beside, keys, end)
	}
	return c.nestMap(s, rest, holder, beside, keys, end)
}

func (c *carrier) nestPointer(s plan.Step, rest []plan.Step, holder, beside string, keys []key, end inner) []jen.Code {
	var conditions []string
	if s.HubNil {
		conditions = append(conditions, holder+" != nil")
	}
	if s.SpokeNil && beside != "" {
		conditions = append(conditions, beside+" != nil")
	}
	if len(rest) > 0 && rest[0].Kind != plan.FieldStep { // a pointer to a list, or to a map
		if s.HubNil {
			holder = "(*" + holder + ")"
		}
		if s.SpokeNil && beside != "" {
			beside = "(*" + beside + ")"
		}
	}
	inside := c.nest(rest, holder, beside, keys, end)
	if len(conditions) == 0 {
		return inside
	}
	return one(c.file.Code("if $ {$}", strings.Join(conditions, " && "), inside))
}

func (c *carrier) variables(n int) (holder, beside string) {
	if c.Own {
		return fmt.Sprintf("own%d", n), fmt.Sprintf("bare%d", n)
	}
	return fmt.Sprintf("hub%d", n), fmt.Sprintf("own%d", n)
}

func (c *carrier) nestList(s plan.Step, rest []plan.Step, holder, beside string, keys []key, end inner) []jen.Code {
	n := len(keys) + 1
	i := fmt.Sprintf("i%d", n)
	h, v := c.variables(n)
	body := one(c.file.Code("$ := $", h, elementOf(s.HubType, holder, i)))
	keys = slices.Clone(keys)
	if s.Keys == nil {
		keys = append(keys, key{"%d", i}, key{"%s", "preservedDigest(" + v + ")"})
	}
	for _, name := range s.Keys {
		keys = append(keys, key{"%q", fmt.Sprintf("fmt.Sprint(%s.%s)", h, name)})
	}
	if beside == "" || s.Keys != nil && !usesBeside(rest) {
		v = ""
	} else {
		body = append(body, c.file.Code("if $ == len($) {\nbreak\n}\n$ := $", i, beside, v,
			elementOf(s.SpokeType, beside, i)))
	}
	return one(c.file.Code("for $ := range $ {$}", i, holder, append(body, c.nest(rest, h, v, keys, end)...)))
}

// elementOf points at a struct in a list; what is a reference itself is taken as it is.
func elementOf(list *model.Type, expr, index string) string {
	if list.Elem.Form == model.Struct {
		return "&" + expr + "[" + index + "]"
	}
	return expr + "[" + index + "]"
}

func (c *carrier) nestMap(s plan.Step, rest []plan.Step, holder, beside string, keys []key, end inner) []jen.Code {
	n := len(keys) + 1
	k := fmt.Sprintf("k%d", n)
	h, v := c.variables(n)
	var body []jen.Code
	if beside == "" {
		v = ""
	} else {
		own, at := v, jen.Id(k)
		if !usesBeside(rest) {
			own = "_"
		}
		if !model.Identical(s.HubType.Key, s.SpokeType.Key) {
			at = c.file.Type(s.SpokeType.Key).Call(at)
		}
		body = one(c.file.Code("$, ok := $[$]\nif !ok {\ncontinue\n}", own, beside, at))
	}
	keys = append(slices.Clone(keys), key{"%q", "fmt.Sprint(" + k + ")"})
	body = append(body, c.nest(rest, h, v, keys, end)...)
	if c.Fills() && s.HubType.Elem.Form == model.Struct {
		body = append(body, c.file.Code("$[$] = $", holder, k, h))
	}
	return one(c.file.Code("for $, $ := range $ {$}", k, h, holder, body))
}

func usesBeside(steps []plan.Step) bool {
	for _, s := range steps {
		if s.Kind == plan.ListStep || s.Kind == plan.MapStep || s.Kind == plan.PointerStep && s.SpokeNil {
			return true
		}
	}
	return false
}
