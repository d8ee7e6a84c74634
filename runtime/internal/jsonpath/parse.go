package jsonpath

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxNesting bounds how deep filters may stand in filters: each is read once more for each that it stands in. Those of
// real definitions stand in no other.
const maxNesting = 16

// parser reads a path from text.
type parser struct {
	text string
	at   int
	// depth is the number of filters that the path stands in.
	depth int
}

// parse parses a path that stands in so many filters.
func parse(text string, depth int) (*Path, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("filters stand in filters, more than %d times", maxNesting)
	}
	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
		text = text[1 : len(text)-1]
	}
	p := parser{text: strings.TrimPrefix(text, "$"), depth: depth}
	steps, err := p.path()
	if err != nil {
		return nil, err
	}
	if p.at < len(p.text) {
		return nil, fmt.Errorf("unexpected %.100q", p.text[p.at:])
	}
	return &Path{steps: steps}, nil
}

// path reads steps up to the end, or to a character that begins none.
func (p *parser) path() (steps []step, err error) {
	for p.at < len(p.text) {
		var s step
		switch {
		case strings.HasPrefix(p.text[p.at:], ".."):
			p.at++
			s = recursive{}
			if strings.HasPrefix(p.text[p.at:], ".[") {
				p.at++
			}
		case p.text[p.at] == '.':
			p.at++
			if s, err = p.name(); err == nil && s == nil {
				continue
			}
		case p.text[p.at] == '[':
			s, err = p.brackets()
		case len(steps) == 0 && p.at == 0:
			s, err = p.name()
			if err == nil && s == nil {
				return nil, fmt.Errorf("unexpected %.100q", p.text)
			}
		default:
			return steps, nil
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// endOfName are the characters that end a name.
const endOfName = ".[]{}()=!<>,:?@\"' \t\r\n"

// name reads the name of a field, or *. It returns no step where nothing stands behind a dot, or a bracket.
func (p *parser) name() (step, error) {
	var name strings.Builder
	for p.at < len(p.text) && !strings.ContainsRune(endOfName, rune(p.text[p.at])) {
		if p.text[p.at] == '\\' && p.at+1 < len(p.text) {
			p.at++
		}
		name.WriteByte(p.text[p.at])
		p.at++
	}
	switch {
	case name.String() == "*":
		return wildcard{}, nil
	case name.Len() > 0:
		return field(name.String()), nil
	case p.at == len(p.text), p.text[p.at] == '[':
		return nil, nil
	}
	return nil, fmt.Errorf("a name is missing at %.100q", p.text[p.at:])
}

// brackets reads what stands in brackets.
func (p *parser) brackets() (step, error) {
	inside, err := p.inside()
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(inside, "?(") && strings.HasSuffix(inside, ")") {
		return p.filter(strings.TrimSpace(inside[2 : len(inside)-1]))
	}
	var all union
	for _, part := range splitOutside(inside, ',') {
		s, err := selector(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

// inside returns the text up to the bracket that closes the present one.
func (p *parser) inside() (string, error) {
	depth, quote, begin := 0, byte(0), p.at+1
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\\':
			p.at++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[':
			depth++
		case c == ']':
			if depth--; depth == 0 {
				p.at++
				return p.text[begin : p.at-1], nil
			}
		}
	}
	return "", errors.New("unterminated array")
}

// splitOutside splits text at a character that stands outside of quotes.
func splitOutside(text string, separator byte) (parts []string) {
	quote, begin := byte(0), 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == separator:
			parts, begin = append(parts, text[begin:i]), i+1
		}
	}
	return append(parts, text[begin:])
}

// selector reads *, a quoted name, a number, or a range of numbers.
func selector(text string) (step, error) {
	if name, ok := unquote(text); ok {
		return field(name), nil
	}
	if text == "*" {
		return wildcard{}, nil
	}
	if i, err := strconv.Atoi(text); err == nil {
		return item(i), nil
	}
	bounds := strings.Split(text, ":")
	if len(bounds) < 2 || len(bounds) > 3 {
		return nil, fmt.Errorf("invalid array index %.100s", text)
	}
	s := items{step: 1}
	for i, bound := range bounds {
		if bound == "" {
			continue
		}
		n, err := strconv.Atoi(bound)
		if err != nil {
			return nil, fmt.Errorf("invalid array index %.100s", text)
		}
		switch i {
		case 0:
			s.begin, s.hasBegin = n, true
		case 1:
			s.end, s.hasEnd = n, true
		default:
			s.step = n
		}
	}
	if s.step < 1 {
		return nil, fmt.Errorf("invalid array index %.100s: the step must be at least 1", text)
	}
	return s, nil
}

func unquote(text string) (string, bool) {
	if len(text) < 2 || text[0] != '\'' && text[0] != '"' || text[len(text)-1] != text[0] {
		return "", false
	}
	var out strings.Builder
	for i := 1; i < len(text)-1; i++ {
		if text[i] == '\\' && i+1 < len(text)-1 {
			i++
		}
		out.WriteByte(text[i])
	}
	return out.String(), true
}

// operators are in the order in which they are looked for.
var operators = []string{"==", "!=", "<=", ">=", "<", ">"}

// filter parses what stands in the parentheses of a filter.
func (p *parser) filter(text string) (step, error) {
	at, operator := operatorIn(text)
	left, err := p.operand(strings.TrimSpace(text[:at]))
	if err != nil {
		return nil, err
	}
	if operator == "" {
		return filter{left: left, operator: "exists"}, nil
	}
	right, err := p.operand(strings.TrimSpace(text[at+len(operator):]))
	return filter{left: left, right: right, operator: operator}, err
}

// operatorIn returns the first operator outside of quotes and where it begins, or "" and the length of the text.
func operatorIn(text string) (at int, operator string) {
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		default:
			for _, operator := range operators {
				if strings.HasPrefix(text[i:], operator) {
					return i, operator
				}
			}
		}
	}
	return len(text), ""
}

func (p *parser) operand(text string) (o operand, err error) {
	if rest, ok := strings.CutPrefix(text, "@"); ok {
		o.path, err = parse(rest, p.depth+1)
		return o, err
	}
	if literal, ok := unquote(text); ok {
		return operand{literal: literal}, nil
	}
	switch text {
	case "true", "false":
		return operand{literal: text == "true"}, nil
	}
	o.literal, err = number(text)
	return o, err
}
