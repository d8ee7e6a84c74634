package meter

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Reloads has the metrics of a file of configuration that a server reads again while it runs. It is safe for concurrent
// use.
type Reloads struct {
	collectors
	count *prometheus.CounterVec
	last  *prometheus.GaugeVec
	info  *prometheus.Desc

	mu sync.Mutex // guards the following field
	// content is the hash of the content in force.
	content string
}

// NewReloads makes the metrics. what is authentication or authorization.
func NewReloads(what string) *Reloads {
	prefix, labels := "apiserver_"+what+"_config_controller_", []string{"status", server}
	r := &Reloads{
		count: counters(prefix+"automatic_reloads_total", "Times that the server read its file of "+what+" again.",
			labels...),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: prefix + "automatic_reload_last_timestamp_seconds",
			Help: "Unix time at which the server last read its file of " + what + " again.",
		}, labels),
		info: prometheus.NewDesc(prefix+"last_config_info", "1, with the hash of the file of "+what+" in force.",
			[]string{server, "hash"}, nil),
	}
	r.collectors = collectors{r.count, r.last}
	return r
}

// Loaded takes the content that the server read when it started.
func (r *Reloads) Loaded(content []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.content = hash(content)
}

// Reloaded takes the content that the server read again, or the error of that.
func (r *Reloads) Reloaded(content []byte, err error) {
	status := failure
	if err == nil {
		status = success
		r.Loaded(content)
	}
	r.count.WithLabelValues(status, "").Inc()
	r.last.WithLabelValues(status, "").Set(unix(time.Now()))
}

// Describe implements prometheus.Collector.
func (r *Reloads) Describe(out chan<- *prometheus.Desc) {
	r.collectors.Describe(out)
	out <- r.info
}

// Collect implements prometheus.Collector.
func (r *Reloads) Collect(out chan<- prometheus.Metric) {
	r.collectors.Collect(out)
	r.mu.Lock()
	defer r.mu.Unlock()
	out <- gauge(r.info, 1, "", r.content)
}
