// Package scrape serves metrics, and resets them.
//
// It imports nothing of ours.
package scrape

import (
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// Handler answers GET with metrics, and DELETE by resetting them, as kube-apiserver does: counters and histograms count
// from 0 again. Those that count go on as before, the handler subtracts what they had at the reset. Metrics of the
// process and of the Go runtime, whose names begin with process_ and go_, are not reset.
type Handler struct {
	gatherer prometheus.Gatherer
	get      http.Handler

	mu sync.Mutex // guards before
	// before has the metrics at the last reset, by name and labels.
	before map[string]*dto.Metric
}

// New returns the handler of the metrics that gatherer gathers. Each call of gatherer makes new values.
func New(gatherer prometheus.Gatherer) *Handler {
	h := &Handler{gatherer: gatherer}
	h.get = promhttp.HandlerFor(prometheus.GathererFunc(h.gather), promhttp.HandlerOpts{})
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodDelete {
		h.get.ServeHTTP(w, r)
		return
	}
	if err := h.reset(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, "metrics reset\n") // an error means that the client closed the connection
}

func (h *Handler) reset() error {
	families, err := h.gatherer.Gather()
	if err != nil {
		return err
	}
	before := map[string]*dto.Metric{}
	for _, family := range families {
		if !isResettable(family) {
			continue
		}
		for _, metric := range family.GetMetric() {
			before[key(family, metric)] = metric
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.before = before
	return nil
}

func (h *Handler) gather() ([]*dto.MetricFamily, error) {
	families, err := h.gatherer.Gather()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.before) == 0 {
		return families, err
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if earlier := h.before[key(family, metric)]; earlier != nil {
				subtract(metric, earlier)
			}
		}
	}
	return families, err
}

func isResettable(family *dto.MetricFamily) bool {
	kind, name := family.GetType(), family.GetName()
	return (kind == dto.MetricType_COUNTER || kind == dto.MetricType_HISTOGRAM) &&
		!strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_")
}

// key is the name and the labels of a metric, which a registry sorts.
func key(family *dto.MetricFamily, metric *dto.Metric) string {
	parts := []string{family.GetName()}
	for _, label := range metric.GetLabel() {
		parts = append(parts, label.GetName(), label.GetValue())
	}
	return strings.Join(parts, "\xff") // no UTF-8 text has this byte
}

// subtract takes what a metric had earlier from what it has now. A metric that has less now is another one: its series
// was dropped and made anew.
func subtract(now, earlier *dto.Metric) {
	if counter := now.GetCounter(); counter != nil && counter.GetValue() >= earlier.GetCounter().GetValue() {
		*counter.Value -= earlier.GetCounter().GetValue()
	}
	histogram, past := now.GetHistogram(), earlier.GetHistogram()
	if histogram == nil || histogram.GetSampleCount() < past.GetSampleCount() {
		return
	}
	*histogram.SampleCount -= past.GetSampleCount()
	*histogram.SampleSum -= past.GetSampleSum()
	for i, bucket := range histogram.GetBucket() {
		*bucket.CumulativeCount -= past.GetBucket()[i].GetCumulativeCount()
	}
}
