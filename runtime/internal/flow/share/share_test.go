package share

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDivide(t *testing.T) {
	none, half := 0, 50
	for _, row := range []struct {
		name  string
		seats int
		level []Level
		want  []Limits
	}{
		{"by shares, rounded up", 10, []Level{{Shares: 1}, {Shares: 2}}, []Limits{{4, 4, 14}, {7, 7, 17}}},
		{"with lending and bounds", 600,
			[]Level{{Shares: 1, Lendable: 33, Borrowing: &half}, {Shares: 1, Borrowing: &none}},
			[]Limits{{300, 201, 450}, {300, 300, 300}}},
		{"down to the last seat", 2, []Level{{Shares: 1, Lendable: 90}, {Shares: 1, Lendable: 100}},
			[]Limits{{1, 1, 3}, {1, 0, 3}}},
		{"without shares", 600, []Level{{Exempt: true}}, []Limits{{0, 0, 600}}},
	} {
		if got := Divide(row.seats, row.level); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
	if n := (Limits{Nominal: 100, Min: 10}).Initial(); n != 55 {
		t.Errorf("a new level has %d", n)
	}
}

// TestDemandFallsSlowly: the smoothed demand rises at once, and has fallen to half after five minutes.
func TestDemandFallsSlowly(t *testing.T) {
	d := Demand{}.Next(10, 90, 10, 120)
	if d.Smoothed != 100 || d.HighWatermark != 120 {
		t.Errorf("%+v", d)
	}
	for range 30 {
		d = d.Next(10, 0, 0, 0)
	}
	if d.Smoothed < 49 || d.Smoothed > 51 {
		t.Errorf("after five minutes: %.1f", d.Smoothed)
	}
	if same := d.Next(0, 7, 7, 3); same.Smoothed != d.Smoothed || same.HighWatermark != 3 {
		t.Errorf("after no time: %+v", same)
	}
}

func TestBorrow(t *testing.T) {
	level := func(nominal, least, most, high int, smoothed float64) Claim {
		return Claim{Limits: Limits{nominal, least, most}, Demand: Demand{HighWatermark: high, Smoothed: smoothed}}
	}
	exempt := func(used int) Claim { return Claim{Exempt: true, Demand: Demand{HighWatermark: used}} }
	for _, row := range []struct {
		name   string
		claims []Claim
		want   []int
	}{
		{"nobody wants any", []Claim{level(50, 10, 150, 0, 0), level(50, 10, 150, 0, 0)}, []int{50, 50}},
		{"one lends to the other", []Claim{level(50, 10, 150, 0, 0), level(50, 10, 150, 200, 200)}, []int{10, 90}},
		{"a bound of borrowing", []Claim{level(50, 10, 150, 0, 0), level(50, 10, 60, 200, 200)}, []int{40, 60}},
		{"nothing is lent of what is used", []Claim{level(50, 10, 150, 50, 40), level(50, 10, 150, 200, 200)},
			[]int{50, 50}},
		{"exempt requests take from all", []Claim{level(50, 10, 150, 50, 50), level(50, 10, 150, 50, 50), exempt(40)},
			[]int{30, 30, 40}},
		{"down to the minimum", []Claim{level(50, 10, 150, 50, 50), level(50, 10, 150, 50, 50), exempt(500)},
			[]int{10, 10, 500}},
		{"exempt requests alone", []Claim{exempt(3)}, []int{3}},
	} {
		if got, _ := Borrow(row.claims); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

// TestAllocateIsFair: the sum is the total where the bounds allow it, nobody leaves a bound, and who is within the
// bounds gets the fraction.
func TestAllocateIsFair(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var parties []Range
		var low, high float64
		for range 1 + random.IntN(8) {
			r := Range{Low: float64(random.IntN(20))}
			r.High, r.Target = r.Low+float64(random.IntN(40)), r.Low+float64(random.IntN(30))
			parties = append(parties, r)
			low, high = low+r.Low, high+r.High
		}
		total := float64(random.IntN(300))
		all, fraction := Allocate(total, parties)
		var sum float64
		for i, got := range all {
			r := parties[i]
			sum += got
			free := got > r.Low && got < r.High
			if got < r.Low || got > r.High || free && math.Abs(got-fraction*max(r.Target, leastTarget)) > 1e-6 {
				t.Fatalf("%v of %v: %v gets %f at %f", total, parties, r, got, fraction)
			}
		}
		if want := max(low, min(high, total)); math.Abs(sum-want) > 1e-6 {
			t.Fatalf("%v of %v: the sum is %f, want %f", total, parties, sum, want)
		}
	}
}
