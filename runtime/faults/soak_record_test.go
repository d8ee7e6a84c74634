package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/internal/testbed/plot"
)

// record is what a soak saw.
type record struct {
	begin time.Time
	seed  uint64
	meter *meter

	mu               sync.Mutex // guards samples, marks and counts
	samples          []sample
	rests            []sample    // written by the soak's own goroutine
	marks            []plot.Mark // times of trouble, and of rest, which have no name
	counts           map[string]int
	verdicts         []finding
	troubled, rested lags
}

// sample is the state of one process at one time.
type sample struct {
	at      time.Duration
	replica int
	rest    int                // which; 0 is none
	born    float64            // when its process started
	values  map[string]float64 // by the names of measures
}

// measures are what is sampled: the sum of families of metrics, and the bound of its growth. Watches of caches have
// none, since watches move from storage to caches: a leak of watches is one of goroutines, too. What caches keep has
// none either: it grows until its budget is used up, which takes longer than a run.
var measures = []struct {
	title    string
	families []string
	scale    float64
	bound    bound
}{
	{heap, []string{"go_memstats_heap_alloc_bytes"}, 1 << 20, bound{0.10, 4}},
	{resident, []string{"process_resident_memory_bytes"}, 1 << 20, bound{0.15, 24}},
	{kept, []string{"apigen_watch_cache_window_bytes", "apigen_watch_cache_rendition_bytes"}, 1 << 20, bound{}},
	{goroutines, []string{"go_goroutines"}, 1, bound{0.02, 15}},
	{"file descriptors", []string{"process_open_fds"}, 1, bound{0.05, 8}},
	{watched, []string{"apigen_watch_cache_watchers"}, 1, bound{}},
}

// The titles of measures that are judged together.
const (
	heap       = "live heap, MiB"
	resident   = "resident memory, MiB"
	kept       = "what caches keep of the past and in other forms, MiB"
	goroutines = "goroutines"
	watched    = "watches of caches"
)

const requests = "apiserver_request_total"

type finding struct {
	Subject, Text string
	OK            bool
}

func (r *record) now() time.Duration { return time.Since(r.begin) }

func (r *record) count(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.counts[what]++
}

// mark does something and notes when.
func (r *record) mark(name string, do func()) {
	m := plot.Mark{Name: name, Begin: r.now()}
	do()
	m.End = r.now()
	r.mu.Lock()
	r.marks = append(r.marks, m)
	r.mu.Unlock()
	if name != "" {
		r.count(name)
	}
}

func (r *record) verdict(subject string, ok bool, text string) {
	r.verdicts = append(r.verdicts, finding{subject, text, ok})
}

// take samples a replica, if it answers in time.
func (r *record) take(ctx context.Context, patience time.Duration, i int, one *replica) (sample, bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	all, err := scrape(ctx, one)
	if err != nil {
		return sample{}, false
	}
	s := sample{at: r.now(), replica: i, born: all["process_start_time_seconds"], values: map[string]float64{}}
	for name, value := range all {
		family, _, _ := strings.Cut(name, "{")
		if family == requests {
			s.values[requests] += value
		}
		for _, m := range measures {
			if slices.Contains(m.families, family) {
				s.values[m.title] += value / m.scale
			}
		}
	}
	return s, true
}

// sample samples the replicas and the clients, until it is stopped.
func (s *soak) sample() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	every := func(do func()) {
		working.Go(func() {
			tick := time.NewTicker(s.every)
			defer tick.Stop()
			for ctx.Err() == nil {
				select {
				case <-tick.C:
					do()
				case <-ctx.Done():
				}
			}
		})
	}
	every(func() { s.record.meter.close(s.record.now()) })
	for i, one := range s.replicas {
		every(func() {
			if taken, ok := s.record.take(ctx, s.every, i, one); ok {
				s.record.mu.Lock()
				s.record.samples = append(s.record.samples, taken)
				s.record.mu.Unlock()
			}
		})
	}
	stop = sync.OnceFunc(func() { cancel(); working.Wait() })
	s.t.Cleanup(stop)
	return stop
}

// meter counts what clients' requests come to, and how long they take, by intervals.
type meter struct {
	mu        sync.Mutex
	outcomes  map[string]int
	open      []time.Duration // of requests that were answered
	failed    int
	intervals []interval
}

// interval ends at a time.
type interval struct {
	at               time.Duration
	answered, failed int
	p50, p99         time.Duration
}

func newMeter() *meter { return &meter{outcomes: map[string]int{}} }

func (m *meter) note(outcome string, success bool, took time.Duration) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outcomes[outcome]++
	if success {
		m.open = append(m.open, took)
	} else {
		m.failed++
	}
}

func (m *meter) close(at time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.intervals = append(m.intervals, interval{at, len(m.open), m.failed, part(m.open, 0.5), part(m.open, 0.99)})
	m.open, m.failed = nil, 0
}

// part is a quantile.
func part(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return all[int(q*float64(len(all)-1))]
}

// lags are how long changes of access took to hold: at the replica that answered, and at the other.
type lags [2][]time.Duration

func (l *lags) note(i int, lag time.Duration) { l[i] = append(l[i], lag) }

func (l *lags) String() string {
	return fmt.Sprintf("%d changes of access; at the replica that answered, half within %s, all within %s; at the "+
		"other, half within %s, 99%% within %s, all within %s", len(l[0]), brief(part(l[0], 0.5)), brief(part(l[0], 1)),
		brief(part(l[1], 0.5)), brief(part(l[1], 0.99)), brief(part(l[1], 1)))
}

func brief(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// summarize logs the record, and fails where it holds too little.
func (r *record) summarize(t *testing.T) {
	t.Helper()
	for _, v := range r.verdicts {
		t.Logf("%s: %s", v.Subject, v.Text)
	}
	t.Logf("%v", r.counts)
	t.Logf("under trouble: %s", &r.troubled)
	t.Logf("at rest: %s", &r.rested)
	if len(r.samples) < 10 || len(r.rests) == 0 || len(r.rested[1]) == 0 ||
		r.counts["definitions created, changed and deleted"] == 0 {
		t.Errorf("too little happened: %d samples, %d at rest, %v", len(r.samples), len(r.rests), r.counts)
	}
}
