package flow

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/flow/queue"
	"k8s.io/apiserver/pkg/util/flowcontrol/debug"
	fq "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/eventclock"
	"k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/queueset"
	"k8s.io/apiserver/pkg/util/flowcontrol/metrics"
	"k8s.io/apiserver/pkg/util/flowcontrol/request"
)

// clock is a clock of both machines. It stands still but in pass.
type clock struct {
	now    time.Time
	events []event // in the order of their times
}

type event struct {
	at time.Time
	do func(time.Time)
}

func (c *clock) Now() time.Time                                     { return c.now }
func (c *clock) Since(t time.Time) time.Duration                    { return c.now.Sub(t) }
func (c *clock) Sleep(time.Duration)                                { panic("nobody sleeps") }
func (c *clock) AfterFunc(d time.Duration, f func())                { c.at(c.now.Add(d), func(time.Time) { f() }) }
func (c *clock) EventAfterTime(f eventclock.EventFunc, t time.Time) { c.at(t, f) }
func (c *clock) EventAfterDuration(f eventclock.EventFunc, d time.Duration) {
	c.at(c.now.Add(d), f)
}

func (c *clock) at(t time.Time, f func(time.Time)) {
	c.events = append(c.events, event{t, f})
	slices.SortStableFunc(c.events, func(a, b event) int { return a.at.Compare(b.at) })
}

func (c *clock) pass(d time.Duration) {
	for end := c.now.Add(d); ; {
		if len(c.events) == 0 || c.events[0].at.After(end) {
			c.now = end
			return
		}
		next := c.events[0]
		c.events, c.now = c.events[1:], next.at
		next.do(next.at)
	}
}

// pair is the two machines.
type pair struct {
	*testing.T
	ours          *queue.Set
	theirs        fq.QueueSet
	ourClock      clock
	theirClock    clock
	ourConfig     queue.Config
	theirConfig   fq.QueuingConfig
	flow          queue.Flow
	inside        []*visit
	names, denied int
	seats         int
	folded        bool
	log           []string
}

// visit is a request in both machines.
type visit struct {
	name   string
	ours   queue.Ticket
	theirs fq.Request
	cancel context.CancelFunc
}

func newPair(t *testing.T, config queue.Config) *pair {
	p := &pair{T: t, ourConfig: config, theirConfig: fq.QueuingConfig{Name: t.Name(), DesiredNumQueues: config.Queues,
		QueueLengthLimit: config.Length, HandSize: config.Hand}}
	p.ourClock.now, p.theirClock.now = time.Unix(0, 0), time.Unix(0, 0)
	p.ours = queue.New(&p.ourClock, config)
	labels := []string{t.Name()}
	completer, err := queueset.NewQueueSetFactory(&p.theirClock).BeginConstruction(p.theirConfig,
		metrics.RatioedGaugeVecPhasedElementPair(metrics.PriorityLevelConcurrencyGaugeVec, 1, 1, labels),
		metrics.PriorityLevelExecutionSeatsGaugeVec.NewForLabelValuesSafe(0, 1, labels),
		fq.NewNamedIntegrator(&p.theirClock, t.Name()))
	if err != nil {
		t.Fatal(err)
	}
	p.theirs = completer.Complete(fq.DispatchingConfig{ConcurrencyLimit: 0, ConcurrencyDenominator: 1})
	return p
}

func (p *pair) limit(n int) {
	p.seats = n
	p.log = append(p.log, fmt.Sprint("limit ", n))
	p.ours.Configure(p.ourConfig, n, max(n, 1))
	completer, err := p.theirs.BeginConfigChange(p.theirConfig)
	if err != nil {
		p.Fatal(err)
	}
	completer.Complete(fq.DispatchingConfig{ConcurrencyLimit: n, ConcurrencyDenominator: max(n, 1)})
}

func (p *pair) pass(d time.Duration) {
	p.log = append(p.log, "pass "+d.String())
	p.ourClock.pass(d)
	p.theirClock.pass(d)
}

func (p *pair) enter(hash uint64, e queue.Estimate) {
	p.names++
	p.log = append(p.log, fmt.Sprintf("enter %d %d %+v", p.names, hash, e))
	v := &visit{name: fmt.Sprint(p.names)}
	ctx, cancel := context.WithCancel(p.Context())
	v.cancel = cancel
	err := p.ours.Enter(&v.ours, queue.Arrival{Flow: &p.flow, Hash: hash, Distinguisher: v.name, Estimate: e})
	v.theirs, _ = p.theirs.StartRequest(ctx, &request.WorkEstimate{InitialSeats: uint64(e.Seats),
		FinalSeats: uint64(e.Final), AdditionalLatency: e.Latency}, hash, v.name, "schema", "", "", nil)
	if (err == nil) != (v.theirs != nil) {
		p.Fatalf("request %s: ours %v, theirs is let in: %t", v.name, err, v.theirs != nil)
	}
	if err != nil {
		p.denied++
		cancel()
		return
	}
	p.folded = p.folded || e.Final > 1
	p.inside = append(p.inside, v)
}

// end ends a request: one that executes leaves, and one that waits gives up.
func (p *pair) end(at int) {
	v := p.inside[at]
	p.log = append(p.log, "end "+v.name)
	p.inside = slices.Delete(p.inside, at, at+1)
	ended, cancel := context.WithCancel(p.Context())
	cancel()
	executes := v.ours.Wait(ended) == nil
	if !executes {
		v.cancel()
	}
	executed := false
	v.theirs.Finish(func() { executed = true })
	v.cancel()
	if executes {
		v.ours.Leave()
	} else {
		p.limit(p.seats) // theirs dispatches those that waited behind it only then
	}
	if executes != executed {
		p.Fatalf("request %s executes: ours %t, theirs %t", v.name, executes, executed)
	}
}

// compare holds the state of ours against theirs: who waits where, who executes, seats, and virtual times.
func (p *pair) compare(step int) {
	ours, theirs := p.ours.Dump(), p.theirs.Dump(false)
	sums := [][2]int{{ours.Waiting, theirs.Waiting}, {ours.Executing, theirs.Executing},
		{ours.Seats, theirs.SeatsInUse}, {ours.Rejected, theirs.Rejected}, {ours.TimedOut, theirs.Cancelled}}
	// Theirs loses count of the seats that are waited for where it reduces the final seats of a request.
	if !p.folded {
		sums = append(sums, [2]int{ours.WaitingSeats, theirs.SeatsWaiting})
	}
	for i, sum := range sums {
		if sum[0] != sum[1] {
			p.Log(strings.Join(p.log, "\n"))
			p.Fatalf("step %d: sum %d is %d, theirs %d", step, i, sum[0], sum[1])
		}
	}
	for i := range max(len(ours.Queues), len(theirs.Queues)) {
		our, their := ours.Queues[i], theirs.Queues[i]
		const format = "%s wait, %s execute on %d seats, for %d, %d at most, %s"
		text := fmt.Sprintf(format, names(our.Waiting), sorted(names(our.Executing)), our.Seats, our.InitialSeats,
			our.MaxSeats, our.Work)
		want := fmt.Sprintf(format, theirNames(their.Requests), sorted(theirNames(their.RequestsExecuting)),
			their.SeatsInUse, their.QueueSum.InitialSeatsSum, their.QueueSum.MaxSeatsSum, their.QueueSum.TotalWorkSum)
		if text != want {
			p.Fatalf("step %d, queue %d:\n%s, theirs\n%s", step, i, text, want)
		}
		if len(our.Waiting)+len(our.Executing) > 0 && our.Next.String() != their.NextDispatchR {
			p.Log(strings.Join(p.log[max(0, len(p.log)-14):], "\n"))
			p.Fatalf("step %d, queue %d: next at %s, theirs at %s", step, i, our.Next, their.NextDispatchR)
		}
	}
	if got, want := sorted(names(ours.Unqueued)), sorted(theirNames(theirs.QueuelessExecutingRequests)); !slices.Equal(
		got, want) {
		p.Fatalf("step %d: without queue %v, theirs %v", step, got, want)
	}
}

func names(all []queue.RequestDump) []string {
	out := make([]string, len(all))
	for i, r := range all {
		out[i] = r.Distinguisher
	}
	return out
}

func theirNames(all []debug.RequestDump) []string {
	out := make([]string, len(all))
	for i, r := range all {
		out[i] = r.FlowDistinguisher
	}
	return out
}

func sorted(all []string) []string {
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return all
}

// TestQueues: through random scenarios, both machines have the same state after each step. So they dispatch the same
// requests in the same order, at the same times.
func TestQueues(t *testing.T) {
	metrics.Register()
	seeds, steps := uint64(4), 500
	if os.Getenv("APIGEN_LONG") != "" {
		seeds, steps = 40, 1500
	}
	for name, config := range map[string]queue.Config{
		"one queue": {Queues: 1, Length: 5, Hand: 1}, "four queues": {Queues: 4, Length: 8, Hand: 1},
		"hands": {Queues: 16, Length: 6, Hand: 4}, "kube-apiserver's": {Queues: 128, Length: 50, Hand: 6},
		"reject": {},
	} {
		t.Run(name, func(t *testing.T) {
			rejected := false
			for seed := range seeds {
				random := rand.New(rand.NewPCG(seed, 7))
				p := newPair(t, config)
				p.limit(1 + random.IntN(12))
				flows := 1 + random.IntN(8)
				for step := range steps {
					switch n := random.IntN(100); {
					case n < 50:
						e := queue.Estimate{Seats: 1 + random.IntN(4)}
						if random.IntN(3) == 0 {
							e.Final, e.Latency = random.IntN(15), time.Duration(random.IntN(9000))*time.Microsecond
						}
						p.enter(uint64(random.IntN(flows))*0x9e3779b97f4a7c15>>4, e)
					case n < 80 && len(p.inside) > 0:
						p.end(random.IntN(len(p.inside)))
					case n < 98:
						p.pass(time.Duration(random.IntN(5000)) * time.Microsecond)
					default:
						p.limit(1 + random.IntN(12))
					}
					p.compare(step)
				}
				for len(p.inside) > 0 {
					p.end(0)
				}
				p.pass(time.Hour)
				p.compare(-1)
				rejected = rejected || p.denied > 0
			}
			if !rejected && config.Length < 10 {
				t.Error("no request was rejected")
			}
		})
	}
}
