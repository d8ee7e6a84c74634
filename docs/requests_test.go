package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestOwnRequestsNameTests: the page about access has two tables of the requests that a server makes by itself, whose
// rows are the same, and each row of the second names tests that are there.
func TestOwnRequestsNameTests(t *testing.T) {
	page, err := os.ReadFile("decisions/access.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## What a server asks by itself\n")
	tests, named := testsOf(t, "../runtime"), regexp.MustCompile("`([a-z]+\\.Test[A-Za-z0-9]+)`")
	var tables [][]string // the names of the rows of each
	for _, line := range strings.Split(section, "\n") {
		name, rest, isRow := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		switch {
		case !isRow || !strings.HasPrefix(line, "| ") || strings.HasPrefix(name, "---"):
			continue
		case name == "request":
			tables = append(tables, nil)
			continue
		}
		last := len(tables) - 1
		tables[last] = append(tables[last], name)
		names := named.FindAllStringSubmatch(rest, -1)
		if last == 1 && len(names) == 0 {
			t.Errorf("%s: which test holds this?", name)
		}
		for _, test := range names {
			if !tests[test[1]] {
				t.Errorf("%s: there is no test %s", name, test[1])
			}
		}
	}
	if len(tables) != 2 || len(tables[0]) < 15 || !slices.Equal(tables[0], tables[1]) {
		t.Errorf("the tables have the rows\n%q", tables)
	}
}
