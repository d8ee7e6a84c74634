package apiregistration

import (
	v1 "apigen.dev/runtime/builtin/apiregistration/v1"
	"apigen.dev/runtime/internal/http/proxy"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are those that kube-aggregator exposes, under its names.
type metrics struct {
	unavailable              *prometheus.CounterVec
	missingSAN, insecureSHA1 prometheus.Counter
}

func newMetrics() *metrics {
	flaw := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "apiserver_kube_aggregator_" + name, Help: help})
	}
	return &metrics{
		unavailable: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aggregator_unavailable_apiservice_total",
			Help: "Times that this server marked an APIService as unavailable, by its name and the reason.",
		}, []string{"name", "reason"}),
		missingSAN: flaw("x509_missing_san_total",
			"Requests to servers behind APIServices whose certificate has no subject alternative name."),
		insecureSHA1: flaw("x509_insecure_sha1_total",
			"Requests to servers behind APIServices whose certificate is signed with SHA-1."),
	}
}

// flaw counts a request to a server with a flawed certificate.
func (m *metrics) flaw(flaw proxy.Flaw) {
	switch flaw {
	case proxy.MissingSAN:
		m.missingSAN.Inc()
	case proxy.InsecureSHA1:
		m.insecureSHA1.Inc()
	}
}

// availability is the gauge of the APIServices that there are.
type availability struct{ *controller }

var availabilityOf = prometheus.NewDesc("aggregator_unavailable_apiservice",
	"1 for an APIService that is unavailable, 0 for one that is available.", []string{"name"}, nil)

// Describe implements prometheus.Collector.
func (availability) Describe(out chan<- *prometheus.Desc) { out <- availabilityOf }

// Collect implements prometheus.Collector.
func (a availability) Collect(out chan<- prometheus.Metric) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, e := range a.known {
		available := v1.IsAvailable(e.object)
		if e.remote != nil {
			available = e.remote.available.Load()
		}
		value := 1.0
		if available {
			value = 0
		}
		out <- prometheus.MustNewConstMetric(availabilityOf, prometheus.GaugeValue, value, name)
	}
}
