package marker

import (
	"fmt"
	"strings"
)

// Reference is the reference of all markers whose name holds a text, for users to read; empty where there is none. A
// leading plus sign is allowed. Where the text is a whole name, that marker and those below it are described.
func Reference(name string) string {
	name = strings.TrimPrefix(name, "+")
	_, exact := Lookup(name)
	var b strings.Builder
	for _, d := range table {
		if exact && d.Name != name && !strings.HasPrefix(d.Name, name+":") || !strings.Contains(d.Name, name) {
			continue
		}
		fmt.Fprintf(&b, "+%s%s\n    on a %s\n", d.Name, d.syntax(), d.Places)
		for _, line := range wrap(d.Doc, 100) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
		if d.Ignored != "" {
			for _, line := range wrap("Has no effect: "+d.Ignored+".", 100) {
				fmt.Fprintf(&b, "    %s\n", line)
			}
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Unknown is the error for a name that is in no row of the table, with a suggestion where one is near.
func Unknown(name string) error { return unknown(strings.TrimPrefix(name, "+")) }

// syntax is how the value is written.
func (d Definition) syntax() string {
	switch d.Kind {
	case Text:
		return "=<text>"
	case OptionalText:
		return "[=<text>]"
	case Bool:
		return "=true|false"
	case Word:
		return "=" + strings.Join(d.Words, "|")
	case Int:
		return "=<whole number>"
	case Number:
		return "=<number>"
	case List:
		return "=<a>;<b>"
	case JSON, JSONOrConstant:
		return "=<JSON>"
	case Arguments:
		if d.Keys == nil {
			return ":<key>=<value>,..."
		}
		return ":" + strings.Join(d.Keys, "=,") + "="
	case Family:
		return ":<name>=<value>"
	case Tag:
		return "[(<argument>: <value>)]=+<marker>"
	}
	return ""
}

// wrap breaks text into lines of at most width characters, where words allow.
func wrap(text string, width int) []string {
	var out []string
	line := ""
	for _, w := range strings.Fields(text) {
		if line != "" && len(line)+1+len(w) > width {
			out, line = append(out, line), ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}
