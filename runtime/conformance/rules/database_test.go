package rules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// interval is the time between two scrapes, as kube-prometheus has it.
const interval = 30 * time.Second

// target are the labels that kube-prometheus' ServiceMonitor of kube-apiserver gives to all samples.
var target = map[string]string{
	"job": "apiserver", "instance": "192.0.2.1:6443",
	"namespace": "default", "service": "kubernetes", "endpoint": "https",
}

// database has the samples of one server, and answers Prometheus' engine.
type database struct {
	*testing.T
	engine *promql.Engine
	series map[string]*promql.Series // by their labels
	named  map[string][]string       // the labels of the series of a metric
	now    time.Time                 // of the last scrape
}

func newDatabase(t *testing.T) *database {
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 10_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute,
		Parser: parser.NewParser(parser.Options{}),
	})
	t.Cleanup(func() { _ = engine.Close() })
	return &database{
		T: t, engine: engine, series: map[string]*promql.Series{}, named: map[string][]string{}, now: time.Now(),
	}
}

// scrape adds what a server exposes, an interval after the last scrape.
func (d *database) scrape(text string) {
	d.Helper()
	d.scrapeAt(d.now.Add(interval), text)
}

// scrapeAt adds what a server exposes. Labels that are the target's, too, get another name, as in Prometheus.
func (d *database) scrapeAt(now time.Time, text string) {
	d.Helper()
	d.now = now
	p := textparse.NewPromParser([]byte(text), labels.NewSymbolTable(), false)
	for {
		entry, err := p.Next()
		switch {
		case errors.Is(err, io.EOF):
			d.expose(labels.FromStrings(labels.MetricName, "up"), 1)
			return
		case err != nil:
			d.Fatalf("the metrics can't be parsed: %v", err)
		case entry != textparse.EntrySeries:
			continue
		}
		_, _, value := p.Series()
		var of labels.Labels
		p.Labels(&of)
		d.expose(of, value)
	}
}

// expose adds a sample that a server exposes.
func (d *database) expose(of labels.Labels, value float64) {
	d.Helper()
	b := labels.NewBuilder(of)
	for name := range target {
		if own := of.Get(name); own != "" {
			b.Set("exported_"+name, own)
		}
	}
	d.add(b.Labels(), target, value)
}

// add adds a sample of now, with further labels.
func (d *database) add(of labels.Labels, further map[string]string, value float64) {
	d.Helper()
	builder := labels.NewBuilder(of)
	for name, value := range further {
		builder.Set(name, value)
	}
	of = builder.Labels()
	key := of.String()
	if d.series[key] == nil {
		d.series[key] = &promql.Series{Metric: of}
		d.named[of.Get(labels.MetricName)] = append(d.named[of.Get(labels.MetricName)], key)
	}
	s, t := d.series[key], d.now.UnixMilli()
	if n := len(s.Floats); n > 0 && s.Floats[n-1].T == t {
		d.Fatalf("%s has two samples at one time", key)
	}
	s.Floats = append(s.Floats, promql.FPoint{T: t, F: value})
}

// set returns a copy in which all samples of a metric have a value.
func (d *database) set(metric string, value float64) *database {
	d.Helper()
	return d.changed(metric, func(of promql.Series) {
		for i := range of.Floats {
			of.Floats[i].F = value
		}
	})
}

// grow returns a copy in which the last samples of a metric are larger.
func (d *database) grow(metric string, by func(of labels.Labels) float64) *database {
	d.Helper()
	return d.changed(metric, func(of promql.Series) { of.Floats[len(of.Floats)-1].F += by(of.Metric) })
}

// drop returns a copy without a metric.
func (d *database) drop(metric string) *database {
	other := *d
	other.named = maps.Clone(d.named)
	delete(other.named, metric)
	return &other
}

func (d *database) changed(metric string, change func(of promql.Series)) *database {
	d.Helper()
	if len(d.named[metric]) == 0 {
		d.Errorf("there is no metric %s", metric)
	}
	other := *d
	other.series = maps.Clone(d.series)
	for _, key := range d.named[metric] {
		s := *d.series[key]
		s.Floats = slices.Clone(s.Floats)
		change(s)
		other.series[key] = &s
	}
	return &other
}

// query returns what a query finds now, without what is not a number, which no panel shows.
func (d *database) query(text string) (promql.Vector, error) {
	q, err := d.engine.NewInstantQuery(d.Context(), d, nil, text, d.now)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	result := q.Exec(d.Context())
	if result.Err != nil {
		return nil, result.Err
	}
	if warnings, _ := result.Warnings.AsStrings(text, 0, 0); len(warnings) > 0 {
		return nil, fmt.Errorf("warnings: %v", warnings)
	}
	vector, err := result.Vector()
	found := slices.Clone(vector) // the engine uses the vector again
	return slices.DeleteFunc(found, func(s promql.Sample) bool { return math.IsNaN(s.F) }), err
}

// queryRange returns what a query finds at steps from a time until now, without what is not a number.
func (d *database) queryRange(text string, from time.Time, step time.Duration) ([]promql.Series, error) {
	q, err := d.engine.NewRangeQuery(d.Context(), d, nil, text, from, d.now, step)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	result := q.Exec(d.Context())
	if result.Err != nil {
		return nil, result.Err
	}
	matrix, err := result.Matrix()
	var all []promql.Series
	for _, found := range matrix { // the engine uses the matrix again
		floats := slices.Clone(found.Floats)
		floats = slices.DeleteFunc(floats, func(p promql.FPoint) bool { return math.IsNaN(p.F) || math.IsInf(p.F, 0) })
		if len(floats) > 0 {
			all = append(all, promql.Series{Metric: found.Metric, Floats: floats})
		}
	}
	return all, err
}

// Querier implements storage.Queryable.
func (d *database) Querier(int64, int64) (storage.Querier, error) { return querier{d}, nil }

type querier struct{ *database }

// Select implements storage.Querier.
func (q querier) Select(
	_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher,
) storage.SeriesSet {
	found := &set{at: -1}
	named := slices.IndexFunc(matchers, func(m *labels.Matcher) bool {
		return m.Name == labels.MetricName && m.Type == labels.MatchEqual
	})
	if named < 0 {
		return storage.ErrSeriesSet(errors.New("a selection without the name of a metric is not supported"))
	}
	for _, key := range q.named[matchers[named].Value] {
		s := q.series[key]
		if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.Metric.Get(m.Name)) }) {
			found.series = append(found.series, promql.NewStorageSeries(*s))
		}
	}
	return found
}

// LabelValues implements storage.LabelQuerier, which no query needs.
func (querier) LabelValues(
	context.Context, string, *storage.LabelHints, ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	return nil, nil, errors.ErrUnsupported
}

// LabelNames implements storage.LabelQuerier, which no query needs.
func (querier) LabelNames(
	context.Context, *storage.LabelHints, ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	return nil, nil, errors.ErrUnsupported
}

// Close implements storage.LabelQuerier.
func (querier) Close() error { return nil }

// set implements storage.SeriesSet.
type set struct {
	series []storage.Series
	at     int
}

func (s *set) Next() bool                      { s.at++; return s.at < len(s.series) }
func (s *set) At() storage.Series              { return s.series[s.at] }
func (*set) Err() error                        { return nil }
func (*set) Warnings() annotations.Annotations { return nil }
