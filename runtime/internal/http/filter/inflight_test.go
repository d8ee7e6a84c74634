package filter

import (
	"fmt"
	"testing"
)

// TestPlacesOfOneUser: one user has half of the places, system:masters have all.
func TestPlacesOfOneUser(t *testing.T) {
	p := newPlaces(5)
	for i, c := range []struct {
		user   string
		master bool
		want   bool
	}{
		{"bob", false, true}, {"bob", false, true}, {"bob", false, true}, {"bob", false, false},
		{"bob", true, true}, {"eve", false, true}, {"eve", false, false}, {"admin", true, false},
	} {
		if got := p.enter(c.user, c.master); got != c.want {
			t.Errorf("%d: %s entered: %v", i, c.user, got)
		}
	}
	p.leave("eve")
	for range 4 {
		p.leave("bob")
	}
	if p.free != 5 || len(p.held) != 0 {
		t.Errorf("%d are free, held: %v", p.free, p.held)
	}
}

// TestPlacesCostNothing: a place takes no memory of its own.
func TestPlacesCostNothing(t *testing.T) {
	p := newPlaces(4)
	if n := testing.AllocsPerRun(100, func() {
		if p.enter("bob", false) {
			p.leave("bob")
		}
	}); n > 0 {
		t.Error(n, "allocations")
	}
}

func BenchmarkPlaces(b *testing.B) {
	for _, users := range []int{0, 100} {
		b.Run(fmt.Sprint(users), func(b *testing.B) {
			p := newPlaces(400)
			for i := range users {
				p.enter(fmt.Sprint(i), false)
			}
			b.ReportAllocs()
			for b.Loop() {
				p.enter("bob", false)
				p.leave("bob")
			}
		})
	}
}
