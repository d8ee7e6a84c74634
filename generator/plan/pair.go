package plan

import (
	"fmt"
	"strconv"
	"strings"

	"apigen.dev/generator/model"
)

// Pair is one direction of a conversion: from one type to another.
type Pair struct {
	In, Out *model.Type
}

func (p Pair) String() string { return model.TypeText(p.In) + " -> " + model.TypeText(p.Out) }

// Key tells pairs apart by the identity of their types.
func (p Pair) Key() string { return model.TypeKey(p.In) + " -> " + model.TypeKey(p.Out) }

func (p Pair) same(other Pair) bool { return p.Key() == other.Key() }

// Reverse is the other direction.
func (p Pair) Reverse() Pair { return Pair{In: p.Out, Out: p.In} }

// Function is the conventional name of the pair's function.
func (p Pair) Function() string { return "Convert_" + TypeName(p.In) + "_To_" + TypeName(p.Out) }

// TypeName is the type's name in names of functions: v1_Book, Slice_string, Pointer_v1_Time.
func TypeName(t *model.Type) string {
	if t.Package != nil {
		return model.ConversionPart(t.Package.Path) + "_" + t.Name
	}
	switch t.Form {
	case model.Basic:
		return t.BasicName()
	case model.Pointer:
		return "Pointer_" + TypeName(t.Elem)
	case model.Slice:
		return "Slice_" + TypeName(t.Elem)
	case model.Array:
		return "Array_" + strconv.FormatInt(t.Len, 10) + "_" + TypeName(t.Elem)
	case model.Map:
		return "Map_" + TypeName(t.Key) + "_To_" + TypeName(t.Elem)
	case model.Struct:
		parts := []string{"Struct"}
		for _, f := range t.Fields {
			parts = append(parts, TypeName(f.Type))
		}
		return strings.Join(parts, "_")
	case model.Interface:
		return strings.Join(append([]string{"Interface"}, t.InterfaceMethods...), "_")
	}
	return "unnameable"
}

func (p Pair) signature(in *model.Package) string {
	return fmt.Sprintf("func %s(in *%s, out *%s, s conversion.Scope) error", p.Function(), model.TextIn(in, p.In),
		model.TextIn(in, p.Out))
}

// number tells how one predeclared type becomes another. A narrower integer is checked when it is converted: the
// function fails where the value doesn't fit. Everything else that may lose something has no rule.
func number(from, to string) (kind MoveKind, checked bool) {
	in, inBits := class(from)
	out, outBits := class(to)
	switch {
	case in == "" || out == "":
	case in == out && inBits[1] <= outBits[0], in == "uint" && out == "int" && inBits[1] < outBits[0]:
		return Number, false
	case in == out && in != "float":
		return Number, true
	}
	return NoRule, false
}

// class tells the kind of a number and how many bits it has, at least and at most.
func class(basic string) (kind string, bits [2]int) {
	if basic == "byte" {
		basic = "uint8"
	}
	kind = strings.TrimRight(basic, "0123456789")
	if kind != "uint" && kind != "int" && kind != "float" {
		return "", bits
	}
	size, err := strconv.Atoi(basic[len(kind):])
	if err != nil {
		return kind, [2]int{32, 64}
	}
	return kind, [2]int{size, size}
}
