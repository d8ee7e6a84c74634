package model

import (
	"testing"
)

// TestReach: what a type holds is found through any other, and types that hold themselves end.
func TestReach(t *testing.T) {
	gold, stone := &Type{Name: "Gold"}, &Type{Name: "Stone"}
	chest, sack, shelf := &Type{Name: "Chest"}, &Type{Name: "Sack"}, &Type{Name: "Shelf"}
	inside := map[*Type][]*Type{
		chest: {stone, shelf, gold},
		shelf: {shelf, sack},
		sack:  {shelf, stone},
	}
	asked := 0
	reach := NewReach(
		func(x *Type) bool { asked++; return x == gold },
		func(x *Type) []*Type { return inside[x] },
	)
	for _, c := range []struct {
		from *Type
		want bool
	}{{gold, true}, {stone, false}, {sack, false}, {shelf, false}, {chest, true}, {chest, true}} {
		if got := reach.From(c.from); got != c.want {
			t.Errorf("%s: %t", c.from.Name, got)
		}
	}
	if asked != 5 {
		t.Errorf("asked %d times for 5 types", asked)
	}
}
