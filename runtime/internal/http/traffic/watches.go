package traffic

import (
	"net/http"
	"sync"
	"time"

	"apigen.dev/runtime/internal/request"
	"github.com/prometheus/client_golang/prometheus"
)

// watches are the metrics of requests that last, and of what watches send.
type watches struct {
	active        *prometheus.GaugeVec
	events        *prometheus.CounterVec
	sizes, listed *prometheus.HistogramVec
	meters        *sync.Map // of name to *Watch
}

func newWatches(registry prometheus.Registerer) watches {
	resource := []string{"group", "version", "resource"}
	w := watches{
		active: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "apiserver_longrunning_requests",
			Help: "Requests in progress that last as long as their clients want, such as watches.",
		}, resourceLabels),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "apiserver_watch_events_total", Help: "Events that watches have sent, bookmarks included.",
		}, resource),
		sizes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_watch_events_sizes", Help: "Sizes of the events that watches have sent, in bytes.",
			Buckets: prometheus.ExponentialBuckets(1024, 2, 8),
		}, resource),
		listed: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_watch_list_duration_seconds",
			Help: "Time until a watch that begins with all objects has sent them, in seconds.",
			Buckets: []float64{
				.05, .1, .2, .4, .6, .8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300,
			},
		}, append(resource, "scope")),
		meters: new(sync.Map),
	}
	registry.MustRegister(w.active, w.events, w.sizes, w.listed)
	return w
}

func (w watches) forget(group, resource string) {
	w.meters.Range(func(key, _ any) bool {
		if n := key.(name); n.group == group && n.resource == resource {
			w.meters.Delete(key)
		}
		return true
	})
	labels := prometheus.Labels{"group": group, "resource": resource}
	w.active.DeletePartialMatch(labels)
	w.events.DeletePartialMatch(labels)
	w.sizes.DeletePartialMatch(labels)
	w.listed.DeletePartialMatch(labels)
}

// Begin counts a request that lasts among those in progress, until ended is called. A request for what isn't served is
// not counted.
func (m *Metrics) Begin(r *http.Request, info *request.Info) (ended func()) {
	if _, served := m.known(info); !served {
		return func() {}
	}
	n := nameOf(r, info)
	labels := []string{n.verb, n.group, n.version, n.resource, n.subresource, n.scope, component}
	active := m.watches.active.WithLabelValues(labels...)
	active.Inc()
	return active.Dec
}

// Watch measures what the watches of a resource send. It is safe for concurrent use.
type Watch struct {
	events        prometheus.Counter
	sizes, listed prometheus.Observer
}

// Watch returns what measures the watch that a request begins. The server serves its resource.
func (m *Metrics) Watch(info *request.Info) *Watch {
	key := name{group: info.Group, version: info.Version, resource: info.Resource, scope: scopeOf(info)}
	if known, ok := m.watches.meters.Load(key); ok {
		return known.(*Watch)
	}
	labels := []string{key.group, key.version, key.resource}
	made, _ := m.watches.meters.LoadOrStore(key, &Watch{
		events: m.watches.events.WithLabelValues(labels...), sizes: m.watches.sizes.WithLabelValues(labels...),
		listed: m.watches.listed.WithLabelValues(append(labels, key.scope)...),
	})
	return made.(*Watch)
}

// Event counts an event of so many bytes.
func (w *Watch) Event(bytes int) {
	w.events.Inc()
	w.sizes.Observe(float64(bytes))
}

// Listed measures how long it took to send the objects that a watch begins with.
func (w *Watch) Listed(took time.Duration) { w.listed.Observe(took.Seconds()) }
