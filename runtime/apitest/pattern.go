package apitest

import (
	"regexp/syntax"
	"strings"
)

// matching returns a text that matches a pattern and has at least that many characters, if the pattern allows.
func matching(pattern string, least int) string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "a"
	}
	text := ""
	for repeats := range max(1, least) + 1 {
		var b strings.Builder
		write(&b, parsed, repeats)
		if text = b.String(); len(text) >= max(1, least) {
			break
		}
	}
	return text
}

// write writes a text that matches an expression, with that many repeats if it leaves open how many.
func write(b *strings.Builder, re *syntax.Regexp, repeats int) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(member(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpStar, syntax.OpQuest, syntax.OpPlus, syntax.OpRepeat:
		least, most := bounds(re)
		n := max(least, repeats)
		if most >= 0 {
			n = min(n, most)
		}
		for range n {
			write(b, re.Sub[0], repeats)
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			write(b, sub, repeats)
		}
	case syntax.OpCapture, syntax.OpAlternate:
		write(b, re.Sub[0], repeats)
	}
}

func bounds(re *syntax.Regexp) (least, most int) {
	switch re.Op {
	case syntax.OpStar:
		return 0, -1
	case syntax.OpQuest:
		return 0, 1
	case syntax.OpPlus:
		return 1, -1
	}
	return re.Min, re.Max
}

// member returns a letter or digit of a class, or the first character.
func member(class []rune) rune {
	for _, wanted := range "a1A" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= wanted && wanted <= class[i+1] {
				return wanted
			}
		}
	}
	return class[0]
}
