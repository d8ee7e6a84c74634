package flow

import (
	"time"

	"apigen.dev/runtime/internal/flow/queue"
	"apigen.dev/runtime/internal/request"
	"github.com/prometheus/client_golang/prometheus"
)

// prefix begins the names of the metrics, which are kube-apiserver's, as are their labels and buckets.
const prefix = "apiserver_flowcontrol_"

// The labels of metrics.
const (
	levelLabel  = "priority_level"
	schemaLabel = "flow_schema"
)

// metrics are the histograms of requests. What a Controller or a Set counts itself is collected at a scrape.
type metrics struct {
	wait, execution, length, watches, seats *prometheus.HistogramVec
	requests                                *readsAndWrites
}

// observers are the histograms of one schema in one level.
type observers struct {
	// waited and rejected are the waiting times of requests that executed in the end, and of those that didn't.
	waited, rejected, regular, watch, length, watches, seats prometheus.Observer
}

func newMetrics(clock queue.Clock) *metrics {
	seconds := []float64{0, .005, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: buckets},
			append([]string{levelLabel, schemaLabel}, labels...))
	}
	return &metrics{
		wait: histogram("request_wait_duration_seconds",
			"How long requests waited in their queues; execute says whether they executed then.", seconds, "execute"),
		execution: histogram("request_execution_seconds",
			"How long requests executed: of a watch, until it has told the state with which it begins.", seconds,
			"type"),
		length: histogram("request_queue_length_after_enqueue",
			"Length of the queue of each request that joined one.", []float64{0, 10, 25, 50, 100, 250, 500, 1000}),
		watches: histogram("watch_count_samples", "Number of watches that see a write.",
			[]float64{0, 1, 10, 100, 1000, 10000}),
		seats: histogram("work_estimated_seats", "Number of seats that each request occupies, by its estimate.",
			[]float64{1, 2, 4, 8, 16, 32, 64, 100}),
		requests: newReadsAndWrites(clock.Now()),
	}
}

func (m *metrics) observers(level, schema string) observers {
	return observers{
		waited: m.wait.WithLabelValues(level, schema, "true"), rejected: m.wait.WithLabelValues(level, schema, "false"),
		regular: m.execution.WithLabelValues(level, schema, "regular"),
		watch:   m.execution.WithLabelValues(level, schema, "watch"),
		length:  m.length.WithLabelValues(level, schema), watches: m.watches.WithLabelValues(level, schema),
		seats: m.seats.WithLabelValues(level, schema),
	}
}

func (m *metrics) vectors() []*prometheus.HistogramVec {
	return []*prometheus.HistogramVec{m.wait, m.execution, m.length, m.watches, m.seats}
}

// forget drops the series of a schema in a level.
func (m *metrics) forget(level, schema string) {
	for _, vector := range m.vectors() {
		vector.DeletePartialMatch(prometheus.Labels{levelLabel: level, schemaLabel: schema})
	}
}

// relate sets the numbers to which the ratios of waiting and executing requests relate.
func (m *metrics) relate(now time.Time, levels []*level) {
	places, seats := 0, 0
	for _, l := range levels {
		places += l.Queues.Queues * l.Queues.Length
		seats += l.limits.Nominal
	}
	m.requests.relate(now, max(1, places), max(1, seats))
}

func (m *metrics) executing(now time.Time, info *request.Info, delta int) {
	m.requests.add(now, 1, info, delta)
}
func (m *metrics) waiting(now time.Time, info *request.Info, delta int) {
	m.requests.add(now, 0, info, delta)
}

// Waited reports whether the request had to wait in a queue. It is for the time after Enter returned.
func (v *Visit) Waited() bool { return v.ticket.Waited() }
