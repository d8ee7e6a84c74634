package plan

import (
	"fmt"
	"strconv"
	"strings"

	"apigen.dev/generator/internal/model"
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

// Function is the conventional name of the pair's function. Two types of one name in packages of one name are told
// apart by the folders above the packages, since both directions would have one name: events_v1_Event, core_v1_Event.
func (p Pair) Function() string {
	in, out := TypeName(p.In), TypeName(p.Out)
	if in == out && !model.Identical(p.In, p.Out) {
		in, out = typeName(p.In, 2), typeName(p.Out, 2)
	}
	return "Convert_" + in + "_To_" + out
}

// TypeName is the type's name in names of functions: v1_Book, Slice_string, Pointer_v1_Time.
func TypeName(t *model.Type) string { return typeName(t, 1) }

// typeName is TypeName with the last folders of the package's path.
func typeName(t *model.Type, folders int) string {
	if t.Package != nil {
		path := strings.Split(t.Package.Path, "/")
		path = path[max(0, len(path)-folders):]
		return model.ConversionPart(strings.Join(path, "_")) + "_" + t.Name
	}
	switch t.Form {
	case model.Basic:
		return t.BasicName()
	case model.Pointer:
		return "Pointer_" + typeName(t.Elem, folders)
	case model.Slice:
		return "Slice_" + typeName(t.Elem, folders)
	case model.Array:
		return "Array_" + strconv.FormatInt(t.Len, 10) + "_" + typeName(t.Elem, folders)
	case model.Map:
		return "Map_" + typeName(t.Key, folders) + "_To_" + typeName(t.Elem, folders)
	case model.Struct:
		parts := []string{"Struct"}
		for _, f := range t.Fields {
			parts = append(parts, typeName(f.Type, folders))
		}
		return strings.Join(parts, "_")
	case model.Interface:
		return strings.Join(append([]string{"Interface"}, t.InterfaceMethods...), "_")
	}
	return "unnameable"
}

func (p Pair) signature(in *model.Package) string {
	from, to := p.texts(in)
	return fmt.Sprintf("func %s(in *%s, out *%s, s conversion.Scope) error", p.Function(), from, to)
}

// texts are the types as code of a package has them. Two types of one name in packages of one name have those of
// imports that tell them apart: eventsv1.Event, corev1.Event.
func (p Pair) texts(in *model.Package) (from, to string) {
	from, to = model.TextIn(in, p.In), model.TextIn(in, p.Out)
	if from == to && p.In.Package != nil && p.Out.Package != nil && !model.Identical(p.In, p.Out) {
		from, to = importText(p.In), importText(p.Out)
	}
	return from, to
}

func importText(t *model.Type) string {
	return strings.ReplaceAll(strings.TrimSuffix(typeName(t, 2), "_"+t.Name), "_", "") + "." + t.Name
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
