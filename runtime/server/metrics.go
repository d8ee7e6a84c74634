package server

import (
	"slices"

	"apigen.dev/runtime/internal/access/meter"
	"apigen.dev/runtime/internal/http/traffic"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/state/stats"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are the metrics of a server, with kube-apiserver's names and labels if it has them.
type metrics struct {
	registry *prometheus.Registry
	requests *traffic.Metrics
	storage  *stats.Storage
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
	m := &metrics{
		registry: prometheus.NewRegistry(),
		storage:  stats.NewStorage(),
		attempts: meter.NewAttempts(), impersonation: meter.NewImpersonation(),
	}
	m.requests = traffic.New(m.registry, m.serves)
	m.registry.MustRegister(m.storage, stats.Resources(func() []verb.Handle { return m.table().handles }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m.attempts, m.impersonation)
	m.registry.MustRegister(config.Metrics...)
	if maintainer, ok := config.Backend.(storage.Maintainer); ok {
		m.registry.MustRegister(stats.Space(maintainer))
	}
	return m
}

// collectLargeAnswers sends how many large answers the server writes, and how many wait for their turn.
func (s *Server) collectLargeAnswers(out *stats.Series) {
	writing, waiting := s.api.LargeAnswers()
	for state, n := range map[string]int{"writing": writing, "waiting": waiting} {
		out.With("state", state).Gauge("apigen_large_answers",
			"Answers of several pieces, such as long lists, that are written, and that wait for their turn.", int64(n))
	}
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
