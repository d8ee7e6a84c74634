package compare

import "testing"

type leaf struct{ Name string }

type tree struct {
	Leaf  *leaf
	Names []string
	ByKey map[string]*leaf
	Any   any
}

func TestComparisonSeesEverything(t *testing.T) {
	whole := func() *tree {
		return &tree{Leaf: &leaf{"a"}, Names: []string{"b"}, ByKey: map[string]*leaf{"c": {"d"}}, Any: &leaf{"e"}}
	}
	if d := Difference(whole(), whole()); d != "" {
		t.Errorf("equal values differ: %s", d)
	}
	if s := Shared(whole(), whole()); s != "" {
		t.Errorf("separate values share %s", s)
	}
	for name, change := range map[string]func(*tree){
		"pointer": func(v *tree) { v.Leaf.Name = "x" },
		"nil":     func(v *tree) { v.Leaf = nil },
		"slice":   func(v *tree) { v.Names[0] = "x" },
		"empty":   func(v *tree) { v.Names = []string{} },
		"map":     func(v *tree) { v.ByKey["c"].Name = "x" },
		"key":     func(v *tree) { delete(v.ByKey, "c") },
		"any":     func(v *tree) { v.Any.(*leaf).Name = "x" },
	} {
		changed := whole()
		change(changed)
		if Difference(whole(), changed) == "" {
			t.Errorf("%s: no difference was seen", name)
		}
	}
	for name, share := range map[string]func(a, b *tree){
		"pointer": func(a, b *tree) { b.Leaf = a.Leaf },
		"slice":   func(a, b *tree) { b.Names = a.Names[:0] },
		"map":     func(a, b *tree) { b.ByKey = a.ByKey },
		"value":   func(a, b *tree) { b.ByKey["c"] = a.ByKey["c"] },
		"any":     func(a, b *tree) { b.Any = a.Any },
	} {
		a, b := whole(), whole()
		share(a, b)
		if Shared(a, b) == "" {
			t.Errorf("%s: sharing was not seen", name)
		}
	}
}
