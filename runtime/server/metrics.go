package server

import (
	"net/http"
	"slices"
	"strconv"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/filter"
	"apigen.dev/runtime/storage"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are the metrics of a server, with kube-apiserver's names and labels if it has them.
type metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	storage   *prometheus.HistogramVec
	failures  *prometheus.CounterVec
	attempts  *attempts
	// table returns what the server serves.
	table func() *table
}

// resourceName has the labels of a resource. Only served resources have labels, because clients could create any number
// of time series with other names.
type resourceName struct{ group, version, resource string }

var resourceLabels = []string{"verb", "group", "version", "resource", "subresource"}

func newMetrics(config Config) *metrics {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histograms := func(name, help string, labels ...string) *prometheus.HistogramVec {
		seconds := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: seconds}, labels)
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: counters("apiserver_request_total", "Requests, by verb, resource and status code of the answer.",
			append([]string{"code"}, resourceLabels...)...),
		durations: histograms("apiserver_request_duration_seconds", "Duration of requests, except for watches.",
			resourceLabels...),
		storage: histograms("etcd_request_duration_seconds",
			"Duration of requests to storage, by operation; of watches until they begin.", storageLabels...),
		failures: counters("etcd_request_errors_total",
			"Requests to storage that failed, except for conflicts of optimistic writes.", storageLabels...),
	}
	m.registry.MustRegister(m.requests, m.durations, m.storage, m.failures, collect(m.collectResources),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.attempts = newAttempts(m.registry)
	m.registry.MustRegister(config.Metrics...)
	if maintainer, ok := config.Backend.(storage.Maintainer); ok {
		m.registry.MustRegister(collectSpace(maintainer))
	}
	return m
}

// addKnown adds a resource to those whose requests are counted under their names.
func addKnown(known map[resourceName][]string, info *api.Info) {
	for _, version := range info.Versions {
		if version.Unserved {
			continue
		}
		names := []string{""}
		for i := range info.Subresources {
			names = append(names, info.Subresources[i].Name)
		}
		for i := range info.Extensions {
			names = append(names, info.Extensions[i].Name)
		}
		known[resourceName{info.Group, version.Name, info.Names.Plural}] = names
	}
}

// forget drops the series of a resource.
func (m *metrics) forget(info *api.Info) {
	labels := prometheus.Labels{"group": info.Group, "resource": info.Names.Plural}
	m.requests.DeletePartialMatch(labels)
	m.durations.DeletePartialMatch(labels)
}

// observe counts one request. A request for a resource that isn't served has the verb other.
func (m *metrics) observe(o filter.Observation) {
	labels := [5]string{"other", "", "", "", ""}
	known := m.table().known
	if i := o.Info; i != nil && slices.Contains(known[resourceName{i.Group, i.Version, i.Resource}], i.Subresource) {
		labels = [5]string{i.Verb, i.Group, i.Version, i.Resource, i.Subresource}
	}
	m.requests.WithLabelValues(strconv.Itoa(o.Code), labels[0], labels[1], labels[2], labels[3], labels[4]).Inc()
	if labels[0] == "other" || !o.Info.LongRunning {
		m.durations.WithLabelValues(labels[:]...).Observe(o.Duration.Seconds())
	}
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
