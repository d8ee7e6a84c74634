package marker

import (
	"fmt"
	"strings"
)

// Reference returns the documentation of all markers whose name contains a text, or an empty text. The text may begin
// with a plus sign. Where it is the whole name of a marker, Reference describes that marker and those below it.
func Reference(name string) string {
	name = strings.TrimPrefix(name, "+")
	_, exact := Lookup(name)
	var b strings.Builder
	for _, d := range table {
		if exact && d.Name != name && !strings.HasPrefix(d.Name, name+":") || !strings.Contains(d.Name, name) {
			continue
		}
		fmt.Fprintf(&b, "+%s%s\n", d.Name, d.syntax())
		place, doc := "a "+d.Places.String(), d.Doc
		if d.Places == anywhere {
			place = "any declaration"
		}
		if d.Ignored != "" {
			doc += " Has no effect: " + d.Ignored + "."
		}
		fmt.Fprintf(&b, "    on %s\n", place)
		for _, line := range wrap(doc, 100) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

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
