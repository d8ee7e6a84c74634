package plan

import (
	"strings"
)

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
