package jsonpath

import "testing"

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
