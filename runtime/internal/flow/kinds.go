package flow

import (
	"sync"
	"time"

	"apigen.dev/runtime/internal/flow/queue"
	"apigen.dev/runtime/internal/request"
	"github.com/prometheus/client_golang/prometheus"
)

// readsAndWrites counts the waiting and the executing requests of all levels, reads and writes apart.
type readsAndWrites struct {
	mu     sync.Mutex
	count  [2][2]int // waiting and executing, of reads and of writes
	dwells [2][2]*queue.Dwell
	// second is the Unix time of the second that counts, highest are the largest counts in it, and highestBefore those
	// in the second before.
	second                 int64
	highest, highestBefore [2][2]int
}

// The values of the labels of readsAndWrites.
var (
	phases = [2]string{"waiting", "executing"}
	kinds  = [2]string{"readOnly", "mutating"}
)

func newReadsAndWrites(now time.Time) *readsAndWrites {
	r := &readsAndWrites{second: now.Unix()}
	bounds := []float64{0, .001, .01, .1, .2, .3, .4, .5, .6, .7, .8, .9, .95, .99, 1}
	for phase := range r.dwells {
		for kind := range r.dwells[phase] {
			r.dwells[phase][kind] = queue.NewDwell(now, bounds)
		}
	}
	return r
}

func (r *readsAndWrites) relate(now time.Time, places, seats int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind := range kinds {
		r.dwells[0][kind].Of(now, float64(places))
		r.dwells[1][kind].Of(now, float64(seats))
	}
}

func (r *readsAndWrites) add(now time.Time, phase int, info *request.Info, delta int) {
	kind := 1
	switch info.Verb {
	case "get", "list", "watch", "head", "options":
		kind = 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.roll(now)
	r.count[phase][kind] += delta
	r.highest[phase][kind] = max(r.highest[phase][kind], r.count[phase][kind])
	r.dwells[phase][kind].Set(now, float64(r.count[phase][kind]))
}

// roll begins another second if one has passed. A time may be a little older than the one before it.
func (r *readsAndWrites) roll(now time.Time) {
	second := now.Unix()
	if second == r.second || second == r.second-1 {
		return
	}
	r.highestBefore = r.highest
	if second > r.second+1 {
		r.highestBefore = r.count // nothing has changed in the second before
	}
	r.highest, r.second = r.count, second
}

// peaks are the metrics of the phases, which kube-apiserver also has where fairness is off.
var peaks = [2]struct{ name, help string }{
	{"apiserver_current_inqueue_requests", "Most requests that waited at once in the last second."},
	{"apiserver_current_inflight_requests", "Most requests that executed at once in the last second."},
}

func (r *readsAndWrites) collect(out chan<- prometheus.Metric, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.roll(now)
	for phase, name := range phases {
		for kind, of := range kinds {
			s := series{out, []string{"phase", "request_kind"}, []string{name, of}}
			measured := r.dwells[phase][kind].Histogram(now)
			s.histogram("read_vs_write_current_requests",
				"Nanoseconds, by the number of requests, in parts of their bound.", measured)
			desc := prometheus.NewDesc(peaks[phase].name, peaks[phase].help, []string{"request_kind"}, nil)
			most := max(r.highest[phase][kind], r.highestBefore[phase][kind])
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(most), of)
		}
	}
}
