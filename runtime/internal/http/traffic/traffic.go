// Package traffic measures requests, under kube-apiserver's names, labels and buckets.
//
// It may know packages filter, request and timing.
package traffic

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"apigen.dev/runtime/internal/http/filter"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/timing"
	"github.com/prometheus/client_golang/prometheus"
)

// component is the value of the label component: who answered.
const component = "apiserver"

// other is the verb of requests for what isn't served.
const other = "other"

var (
	resourceLabels = []string{"verb", "group", "version", "resource", "subresource", "scope", "component"}
	seconds        = []float64{
		.005, .025, .05, .1, .2, .4, .6, .8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
	}
)

// Metrics are the metrics of requests. They are safe for concurrent use.
type Metrics struct {
	known                 func(*request.Info) (Version, bool)
	requests, terminated  *prometheus.CounterVec
	deprecated            *prometheus.GaugeVec
	durations, objectives *prometheus.HistogramVec
	sizes                 *prometheus.HistogramVec
	series                sync.Map // of name to *series
	watches               watches
}

// Version is what metrics tell of the version of a resource.
type Version struct {
	Deprecated bool
	// Removed is the release that no longer has the deprecated version; empty if nobody knows it yet.
	Removed string
}

// name has the labels of a request. Only served resources have names, because clients could create any number of time
// series with others.
type name struct {
	verb, dryRun, group, version, resource, subresource, scope string
	code                                                       int
	longRunning, terminated                                    bool
}

// series are the time series of one name. The fields are nil where requests of the name are not measured so.
type series struct {
	count, terminated         prometheus.Counter
	duration, objective, size prometheus.Observer
}

// New returns the metrics. known reports whether the server serves the resource and the subresource of a request, and
// in what sort of version.
func New(registry prometheus.Registerer, known func(*request.Info) (Version, bool)) *Metrics {
	dry := append([]string{"dry_run"}, resourceLabels...)
	histogram := func(name, help string, buckets []float64, labels []string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	m := &Metrics{
		known: known,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_total", Help: "Requests, by verb, resource, scope and status code of the answer.",
		}, append([]string{"code"}, dry...)),
		terminated: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_request_terminations_total",
			Help: "Requests that the server gave up, because too many were in progress or their time was over.",
		}, append([]string{"code"}, resourceLabels...)),
		deprecated: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_requested_deprecated_apis",
			Help: "1 for each deprecated version that clients asked for, with the release that removes it.",
		}, []string{"group", "version", "resource", "subresource", "removed_release"}),
		durations: histogram("apiserver_request_duration_seconds", "Duration of requests, except for watches.", seconds,
			dry),
		objectives: histogram("apiserver_request_sli_duration_seconds",
			"Duration of requests without the time in admission, where webhooks are asked, and in fair queues, except "+
				"for watches.",
			seconds[2:], resourceLabels),
		sizes: histogram("apiserver_response_sizes",
			"Sizes of the answers to GET and LIST in bytes, as they were sent.",
			prometheus.ExponentialBuckets(1000, 10, 7), resourceLabels),
	}
	registry.MustRegister(m.requests, m.terminated, m.deprecated, m.durations, m.objectives, m.sizes)
	m.watches = newWatches(registry)
	return m
}

// Observe counts one request. A request for what isn't served has the verb other.
func (m *Metrics) Observe(o filter.Observation) {
	key := name{verb: other, code: o.Code}
	if o.Info != nil {
		if version, served := m.known(o.Info); served {
			key = nameOf(o.Request, o.Info)
			key.code = o.Code
			m.observeVersion(version, o)
		}
	}
	key.terminated = o.Terminated
	found, ok := m.series.Load(key)
	if !ok {
		found, _ = m.series.LoadOrStore(key, m.newSeries(key))
	}
	s := found.(*series)
	s.count.Inc()
	if s.terminated != nil {
		s.terminated.Inc()
	}
	if key.longRunning {
		return
	}
	s.duration.Observe(o.Duration.Seconds())
	record := timing.From(o.Request.Context())
	excused := record.Spent(timing.Admission) + record.Spent(timing.Queue)
	s.objective.Observe(max(o.Duration-excused, 0).Seconds())
	if s.size != nil {
		s.size.Observe(float64(o.Bytes))
	}
}

// refusedEarly are codes with which filters refuse requests before the version matters.
var refusedEarly = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests}

func (m *Metrics) observeVersion(version Version, o filter.Observation) {
	if i := o.Info; version.Deprecated && i.IsResource && !slices.Contains(refusedEarly, o.Code) {
		m.deprecated.WithLabelValues(i.Group, i.Version, i.Resource, i.Subresource, version.Removed).Set(1)
	}
}

func (m *Metrics) newSeries(n name) *series {
	labels := []string{n.verb, n.group, n.version, n.resource, n.subresource, n.scope, component}
	dry := append([]string{n.dryRun}, labels...)
	code := strconv.Itoa(n.code)
	s := &series{count: m.requests.WithLabelValues(append([]string{code}, dry...)...)}
	if n.terminated {
		s.terminated = m.terminated.WithLabelValues(append([]string{code}, labels...)...)
	}
	if n.longRunning {
		return s
	}
	s.duration, s.objective = m.durations.WithLabelValues(dry...), m.objectives.WithLabelValues(labels...)
	if n.verb == http.MethodGet || n.verb == "LIST" {
		s.size = m.sizes.WithLabelValues(labels...)
	}
	return s
}

// Forget drops the series of a resource that is no longer served.
func (m *Metrics) Forget(group, resource string) {
	m.series.Range(func(key, _ any) bool {
		if n := key.(name); n.group == group && n.resource == resource {
			m.series.Delete(key)
		}
		return true
	})
	m.watches.forget(group, resource)
	labels := prometheus.Labels{"group": group, "resource": resource}
	m.requests.DeletePartialMatch(labels)
	m.terminated.DeletePartialMatch(labels)
	m.deprecated.DeletePartialMatch(labels)
	for _, histogram := range []*prometheus.HistogramVec{m.durations, m.objectives, m.sizes} {
		histogram.DeletePartialMatch(labels)
	}
}

func nameOf(r *http.Request, i *request.Info) name {
	n := name{
		verb: verbOf(r, i), group: i.Group, version: i.Version, resource: i.Resource,
		subresource: i.Subresource, scope: scopeOf(i), longRunning: i.LongRunning,
	}
	if strings.Contains(r.URL.RawQuery, "dryRun") {
		n.dryRun = dryRunOf(r.URL.Query()["dryRun"])
	}
	return n
}

func scopeOf(i *request.Info) string {
	switch {
	case i.Name != "" || i.Verb == "create":
		return "resource"
	case i.Namespace != "":
		return "namespace"
	}
	return "cluster"
}

// verbs are kube-apiserver's names of verbs in metrics.
var verbs = map[string]string{
	"get": http.MethodGet, "list": "LIST", "watch": "WATCH", "create": http.MethodPost, "update": http.MethodPut,
	"patch": http.MethodPatch, "delete": http.MethodDelete, "deletecollection": http.MethodDelete,
}

// connections are the subresources whose requests have the verb CONNECT.
var connections = []string{"attach", "exec", "log", "portforward", "proxy"}

const applyType = "application/apply-patch+yaml"

func verbOf(r *http.Request, i *request.Info) string {
	verb := verbs[i.Verb]
	switch {
	case slices.Contains(connections, i.Subresource):
		return "CONNECT"
	case verb == http.MethodPatch && r.Header.Get("Content-Type") == applyType:
		return "APPLY"
	case verb == "":
		return other
	}
	return verb
}

func dryRunOf(values []string) string {
	for _, value := range values {
		if value != "All" {
			return "invalid"
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "All"
}
