package jsonpath

import (
	"strings"
	"testing"
)

// TestSearchIsBounded: a short path over a small object comes by few values, however its steps multiply.
func TestSearchIsBounded(t *testing.T) {
	var object any = "leaf"
	for range 100 { // 646 bytes of JSON
		object = map[string]any{"a": object}
	}
	for _, text := range []string{
		".spec..a..a..a..a..a", "..a..a..a..a..a..a..a..a", "..*..*..*..*..*", "..[?(@..a..a..a..a)]..a..a",
		"['a','a']['a','a']['a','a']['a','a']['a','a']['a','a']['a','a']['a','a']['a','a']['a','a']['a','a']" +
			"['a','a']['a','a']['a','a']['a','a']['a','a']['a','a']['a','a']['a','a']['a','a']['a','a']['a','a']",
	} {
		path, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s := &search{maxVisits}
		path.find(s, map[string]any{"spec": object, "a": object})
		if s.left < -1000 {
			t.Errorf("%s: the search went on for %d values beyond its bound", text, -s.left)
		}
		if found := path.Find(map[string]any{"spec": object, "a": object}); len(found) > maxVisits {
			t.Errorf("%s: %d values", text, len(found))
		}
	}
	path, err := Parse("..a")
	if err != nil {
		t.Fatal(err)
	}
	if found := path.Find(object); len(found) != 100 {
		t.Errorf("a path within the bound finds %d values, want 100", len(found))
	}
}

// counting counts the values that it is asked to lead from, and leads to nothing.
type counting struct{ asked *int }

func (c counting) from(_ *search, _ any, to []any) []any { *c.asked++; return to }

// TestStepsAreBounded: what one search does is bounded, however long its path is and however large the object.
func TestStepsAreBounded(t *testing.T) {
	large := make([]any, 700_000) // 1.4 MB of JSON
	for i := range large {
		large[i] = int64(i % 10)
	}
	asked := 0
	many := make(union, 100_000)
	for i := range many {
		many[i] = counting{&asked}
	}
	for name, test := range map[string]struct {
		steps  []step
		object any
	}{
		"a union of many":             {[]step{many}, large},
		"a union of many at depths":   {[]step{recursive{}, many}, map[string]any{"a": large[:1000]}},
		"a union of many, many times": {[]step{many, many, many}, map[string]any{}},
		"a union within unions":       {[]step{union{many, many}}, map[string]any{}},
		"items of a large list": {
			[]step{wildcard{}, items{step: 1}, items{step: 1}}, []any{large, large},
		},
		"steps after the last value": {
			[]step{field("a"), counting{&asked}}, map[string]any{},
		},
	} {
		asked = 0
		path := &Path{steps: test.steps}
		if found := path.Find(test.object); len(found) > maxVisits || asked > 2*maxVisits {
			t.Errorf("%s: %d values, after %d steps", name, len(found), asked)
		}
	}
	asked = 0
	inner := filter{left: operand{path: &Path{steps: []step{counting{&asked}}}}, operator: "exists"}
	outer := filter{left: operand{path: &Path{steps: []step{inner}}}, operator: "exists"}
	for _, f := range []filter{inner, outer} {
		if (&Path{steps: []step{f, f}}).Find(large); asked > 2*maxVisits {
			t.Errorf("a filter asked %d times", asked)
		}
	}
}

// TestBudgetOfAPath: a path with a smaller bound of its own leads to nothing beyond it.
func TestBudgetOfAPath(t *testing.T) {
	path, err := Parse(".a[*]")
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{"a": []any{"1", "2", "3", "4", "5"}}
	if found := path.Within(10).Find(object); len(found) != 5 {
		t.Errorf("%d values within the bound", len(found))
	}
	if found := path.Within(4).Find(object); found != nil {
		t.Errorf("%d values beyond the bound", len(found))
	}
	if found := path.Within(10 * maxVisits).Find(make([]any, 10*maxVisits)); found != nil {
		t.Errorf("a bound was raised: %d values", len(found))
	}
}

// TestNestedFilters: a path may have filters in filters, to a depth that nobody needs.
func TestNestedFilters(t *testing.T) {
	nested := func(depth int) string {
		return strings.Repeat("[?(@", depth) + ".a" + strings.Repeat(")]", depth)
	}
	if _, err := Parse(nested(maxNesting)); err != nil {
		t.Error(err)
	}
	for _, depth := range []int{maxNesting + 1, 10_000} {
		if _, err := Parse(nested(depth)); err == nil || len(err.Error()) > 300 {
			t.Errorf("filters of depth %d: %.300v", depth, err)
		}
	}
}

// TestLongPaths: a path as long as a definition may be is read in one pass.
func TestLongPaths(t *testing.T) {
	const length = 1 << 20
	for name, text := range map[string]string{
		"names":                       strings.Repeat(".a", length/2),
		"a union":                     "['a'" + strings.Repeat(",'a'", length/4) + "]",
		"brackets":                    strings.Repeat("[0]", length/3),
		"operators":                   "[?(@.a=='" + strings.Repeat("=", length) + "')]",
		"a name":                      "." + strings.Repeat("a", length),
		"depths":                      strings.Repeat("..a", length/3),
		"quoted":                      "['" + strings.Repeat("a", length) + "']",
		"an operator in quotes first": "[?('" + strings.Repeat("=", length) + "'==@.a)]",
		"unclosed":                    strings.Repeat("[", length),
		"filters":                     strings.Repeat("[?(@.a)]", length/8),
	} {
		path, err := Parse(text)
		if name == "unclosed" {
			if err == nil || len(err.Error()) > 300 {
				t.Errorf("%s: %.300v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %.300v", name, err)
			continue
		}
		path.Find(map[string]any{"a": "b"})
	}
}
