package model

import "testing"

// TestMethod compares the methods that a type has with those that Go promotes: the shallowest counts, and none of
// several of one depth.
func TestMethod(t *testing.T) {
	typ := func(name string, methods []string, fields ...*Field) *Type {
		out := &Type{Name: name, Form: Struct, Methods: map[string]*Func{}, Fields: fields}
		for _, m := range methods {
			out.Methods[m] = &Func{Name: m, Doc: name}
		}
		return out
	}
	embed := func(of *Type) *Field { return &Field{Name: of.Name, Type: of, Embedded: true} }
	deep := typ("deep", []string{"A", "B"})
	left, right := typ("left", []string{"B", "C"}, embed(deep)), typ("right", []string{"C"})
	outer := typ("outer", []string{"D"}, embed(left), embed(right), &Field{Name: "x", Type: typ("x", []string{"E"})})
	loop := typ("loop", nil)
	loop.Fields = []*Field{embed(&Type{Form: Pointer, Elem: loop})}
	for name, want := range map[string]string{
		"A": "deep by left", "B": "left by left", "C": "", "D": "outer", "E": "",
	} {
		got := ""
		if m, by := outer.Method(name); m != nil {
			if got = m.Doc; by != nil {
				got += " by " + by.Name
			}
		}
		if got != want {
			t.Errorf("%s is that of %q, want %q", name, got, want)
		}
	}
	if m, _ := loop.Method("A"); m != nil {
		t.Error("a type that embeds itself has a method")
	}
}
