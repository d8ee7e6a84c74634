package emit

import (
	"testing"

	"apigen.dev/generator/model"
)

// TestReach: what a type holds is found through any other, and types that hold themselves end.
func TestReach(t *testing.T) {
	gold, stone := &model.Type{Name: "Gold"}, &model.Type{Name: "Stone"}
	chest, sack, shelf := &model.Type{Name: "Chest"}, &model.Type{Name: "Sack"}, &model.Type{Name: "Shelf"}
	inside := map[*model.Type][]*model.Type{
		chest: {stone, shelf, gold},
		shelf: {shelf, sack},
		sack:  {shelf, stone},
	}
	asked := 0
	reach := NewReach(
		func(x *model.Type) bool { asked++; return x == gold },
		func(x *model.Type) []*model.Type { return inside[x] },
	)
	for _, c := range []struct {
		from *model.Type
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
