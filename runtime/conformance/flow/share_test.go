package flow

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	"apigen.dev/runtime/internal/flow/queue"
	"apigen.dev/runtime/internal/flow/share"
	_ "k8s.io/apiserver/pkg/util/flowcontrol" // has the function
	fq "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
)

// allocProblemItem has the layout of k8s.io/apiserver's type of that name.
type allocProblemItem struct{ target, lowerBound, upperBound float64 }

// computeConcurrencyAllocation is k8s.io/apiserver's own.
//
//go:linkname computeConcurrencyAllocation k8s.io/apiserver/pkg/util/flowcontrol.computeConcurrencyAllocation
func computeConcurrencyAllocation(requiredSum int, classes []allocProblemItem) ([]float64, float64, error)

// TestAllocation: levels get what kube-apiserver would give them.
func TestAllocation(t *testing.T) {
	random, solved := rand.New(rand.NewPCG(1, 2)), 0
	for range 20_000 {
		var ours []share.Range
		var theirs []allocProblemItem
		for range 1 + random.IntN(9) {
			r := share.Range{Low: float64(random.IntN(30))}
			r.High, r.Target = r.Low+float64(random.IntN(60)), r.Low+float64(random.IntN(40))*random.Float64()
			ours = append(ours, r)
			theirs = append(theirs, allocProblemItem{target: r.Target, lowerBound: r.Low, upperBound: r.High})
		}
		total := 1 + random.IntN(400)
		want, _, err := computeConcurrencyAllocation(total, theirs)
		if err != nil {
			continue // the bounds don't allow it
		}
		solved++
		got, _ := share.Allocate(float64(total), ours)
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-6 {
				t.Fatalf("%d of %v: %v, theirs %v", total, ours, got, want)
			}
		}
	}
	if solved < 1000 {
		t.Errorf("only %d problems have a solution", solved)
	}
}

// TestDemand: the demand of a period is that of kube-apiserver's integrator.
func TestDemand(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	ourClock, theirClock := &clock{now: time.Unix(0, 0)}, &clock{now: time.Unix(0, 0)}
	set := queue.New(ourClock, queue.Config{Exempt: true})
	theirs := fq.NewNamedIntegrator(theirClock, "")
	flow, seats := &queue.Flow{}, 0
	type ticket struct {
		queue.Ticket
		seats int
	}
	var inside []*ticket
	for step := range 5000 {
		switch {
		case random.IntN(3) == 0 && len(inside) > 0:
			inside[0].Leave()
			seats -= inside[0].seats
			inside = inside[1:]
		default:
			v := &ticket{seats: 1 + random.IntN(5)}
			arrival := queue.Arrival{Flow: flow, Estimate: queue.Estimate{Seats: v.seats}}
			if err := set.Enter(&v.Ticket, arrival); err != nil {
				t.Fatal(err)
			}
			seats += v.seats
			inside = append(inside, v)
		}
		theirs.Set(float64(seats))
		d := time.Duration(1+random.IntN(1e6)) * time.Microsecond
		ourClock.pass(d)
		theirClock.pass(d)
		if step%100 > 0 {
			continue
		}
		got, want := set.TakeDemand(), theirs.Reset()
		if math.Abs(got.Average-want.Average) > 1e-6 || math.Abs(got.Deviation-want.Deviation) > 1e-3 ||
			float64(got.Max) != want.Max || math.Abs(got.Period.Seconds()-want.Duration) > 1e-6 {
			t.Fatalf("%+v, theirs %+v", got, want)
		}
	}
}
