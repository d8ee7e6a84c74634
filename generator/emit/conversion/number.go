package conversion

import (
	"strings"

	"github.com/dave/jennifer/jen"
)

// number converts between types over different predeclared ones. A narrower integer is checked when it is converted: the
// function fails where the value doesn't fit. Everything else that may lose something has no rule.
func (b *build) number(p pair, from, to place) ([]jen.Code, []problem) {
	in, inBits := class(basicName(p.in))
	out, outBits := class(basicName(p.out))
	assign := to.value().Op("=").Add(b.file.Type(p.out)).Call(from.value())
	switch {
	case in == "" || out == "":
		return nil, noRule(p, b.pkg)
	case in == out && inBits[1] <= outBits[0], in == "uint" && out == "int" && inBits[1] < outBits[0]:
		return one(assign), nil
	case in == out && in != "float":
		back := b.file.Type(p.in).Call(to.value()).Op("!=").Add(from.value())
		fail := jen.Return(b.file.Qual("fmt", "Errorf").Call(
			jen.Lit(b.where+": %d does not fit "+text(p.out, nil)), from.value()))
		return []jen.Code{assign, jen.If(back).Block(fail)}, nil
	}
	return nil, noRule(p, b.pkg)
}

// class tells the kind of a number and how many bits it has, at least and at most.
func class(basic string) (string, [2]int) {
	for _, name := range []string{"uint", "int", "float"} {
		size, ok := strings.CutPrefix(basic, name)
		if !ok {
			continue
		}
		switch size {
		case "8":
			return name, [2]int{8, 8}
		case "16":
			return name, [2]int{16, 16}
		case "32":
			return name, [2]int{32, 32}
		case "64":
			return name, [2]int{64, 64}
		case "":
			return name, [2]int{32, 64}
		}
	}
	if basic == "byte" {
		return "uint", [2]int{8, 8}
	}
	return "", [2]int{}
}
