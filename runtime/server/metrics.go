package server

import (
	"slices"

	"apigen.dev/runtime/internal/access/meter"
	"apigen.dev/runtime/internal/http/traffic"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are the metrics of a server, with kube-apiserver's names and labels if it has them.
type metrics struct {
	registry *prometheus.Registry
	requests *traffic.Metrics
	storage  *prometheus.HistogramVec
	failures *prometheus.CounterVec
	attempts *meter.Attempts
	// impersonation counts requests that act for others.
	impersonation *meter.Impersonation
	// table returns what the server serves.
	table func() *table
}

// resourceName has the labels of a resource. Only served resources have labels, because clients could create any number
// of time series with other names.
type resourceName struct{ group, version, resource string }

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
		storage: histograms("etcd_request_duration_seconds",
			"Duration of requests to storage, by operation; of watches until they begin.", storageLabels...),
		failures: counters("etcd_request_errors_total",
			"Requests to storage that failed, except for conflicts of optimistic writes.", storageLabels...),
		attempts: meter.NewAttempts(), impersonation: meter.NewImpersonation(),
	}
	m.requests = traffic.New(m.registry, m.serves)
	m.registry.MustRegister(m.storage, m.failures, collect(m.collectResources),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m.attempts, m.impersonation)
	m.registry.MustRegister(config.Metrics...)
	if maintainer, ok := config.Backend.(storage.Maintainer); ok {
		m.registry.MustRegister(collectSpace(maintainer))
	}
	return m
}

// knownVersion is what metrics know of a version of a resource.
type knownVersion struct {
	traffic.Version
	subresources []string // "" is the resource itself
}

// addKnown adds a resource to those whose requests are counted under their names.
func addKnown(known map[resourceName]knownVersion, info *verb.Info) {
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
		known[resourceName{info.Group, version.Name, info.Names.Plural}] = knownVersion{
			traffic.Version{Deprecated: version.Deprecated != "", Removed: version.Removed}, names,
		}
	}
}

// forget drops the series of a resource.
func (m *metrics) forget(info *verb.Info) {
	m.requests.Forget(info.Group, info.Names.Plural)
}

// serves returns what is known of the version of a request, and false if the server doesn't serve its resource or its
// subresource.
func (m *metrics) serves(i *request.Info) (traffic.Version, bool) {
	known := m.table().known[resourceName{i.Group, i.Version, i.Resource}]
	return known.Version, slices.Contains(known.subresources, i.Subresource)
}
