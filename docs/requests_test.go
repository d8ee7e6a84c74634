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
	tables := tablesOfAccess(t, "What a server asks by itself", "request")
	if len(tables) != 2 || len(tables[0]) < 15 || !slices.Equal(tables[0], tables[1]) {
		t.Errorf("the tables have the rows\n%q", tables)
	}
}

// TestHoldingNamesTests: the page about access has a table of what clients can hold, each row of which names tests that
// are there.
func TestHoldingNamesTests(t *testing.T) {
	tables := tablesOfAccess(t, "What a client can hold", "way")
	if len(tables) != 1 || len(tables[0]) < 15 {
		t.Errorf("the tables have the rows\n%q", tables)
	}
}

// tablesOfAccess returns the names of the rows of each table in a section of the page about access, whose first column
// has the title column. It wants the tests that rows name to be there, and each row of the last table to name some.
func tablesOfAccess(t *testing.T, section, column string) (tables [][]string) {
	t.Helper()
	page, err := os.ReadFile("decisions/access.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## "+section+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	tests, named := testsOf(t, "../runtime"), regexp.MustCompile("`([a-z]+\\.Test[A-Za-z0-9]+)`")
	var unnamed []string // rows of the present table that name no test
	for _, line := range strings.Split(text, "\n") {
		name, rest, isRow := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		switch {
		case !isRow || !strings.HasPrefix(line, "| ") || strings.HasPrefix(name, "---"):
			continue
		case name == column:
			tables, unnamed = append(tables, nil), nil
			continue
		case len(tables) == 0:
			t.Fatalf("%s: a row without a table: %s", section, line)
		}
		last := len(tables) - 1
		tables[last] = append(tables[last], name)
		names := named.FindAllStringSubmatch(rest, -1)
		if len(names) == 0 {
			unnamed = append(unnamed, name)
		}
		for _, test := range names {
			if !tests[test[1]] {
				t.Errorf("%s: there is no test %s", name, test[1])
			}
		}
	}
	for _, name := range unnamed {
		t.Errorf("%s: which test holds this?", name)
	}
	return tables
}
