package marker

import (
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestExamples: the reference shows how to write a marker that wraps another, and the example can be parsed.
func TestExamples(t *testing.T) {
	for _, d := range table {
		if d.Kind != Tag || d.Ignored != "" {
			continue
		}
		i := strings.Index(d.Doc, "+"+d.Name)
		if i < 0 {
			t.Errorf("+%s has no example", d.Name)
			continue
		}
		for _, part := range strings.Split(d.Doc[i:], " +"+d.Name) {
			text := exampleEnd.FindString(d.Name + strings.TrimPrefix(part, "+"+d.Name))
			if m, ok, err := Parse(text, token.Position{}); err != nil || !ok || m.Wrapped == nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

// exampleEnd is an example up to the full stop or comma behind it.
var exampleEnd = regexp.MustCompile(`^[^ ]+\([^)]*\)=[^ ]*[^ .,]|^[^ ]*[^ .,]`)

// TestCensus: every marker of the public API packages is honoured, or known with the reason why it isn't; those that no
// tool knows are refused, and those of other tools left alone.
func TestCensus(t *testing.T) {
	data, err := os.ReadFile("testdata/census.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		count++
		mark, name := line[:1], strings.TrimSpace(line[2:])
		d := find(name)
		switch {
		case mark == "-" && (d != nil || ours(name)):
			t.Errorf("+%s is another tool's", name)
		case mark == "-":
		case mark == "?" && d != nil:
			t.Errorf("+%s is known as +%s", name, d.Name)
		case mark == "?" && !ours(name):
			t.Errorf("+%s is taken for another tool's", name)
		case mark != "?" && d == nil:
			t.Errorf("+%s is not known", name)
		case d != nil && d.Ignored == "" && d.Doc == "":
			t.Errorf("+%s has no explanation", name)
		}
	}
	if count < 150 {
		t.Errorf("only %d markers were tried", count)
	}
}

// Definitions returns the whole table.
func Definitions() []Definition { return table }
