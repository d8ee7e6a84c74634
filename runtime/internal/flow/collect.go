package flow

import (
	"apigen.dev/runtime/internal/flow/queue"
	"github.com/prometheus/client_golang/prometheus"
)

// Describe implements prometheus.Collector. It describes none: the series depend on the configuration.
func (c *Controller) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *Controller) Collect(out chan<- prometheus.Metric) {
	for _, vector := range c.metrics.vectors() {
		vector.Collect(out)
	}
	c.metrics.requests.collect(out, c.clock.Now())
	c.mu.Lock()
	defer c.mu.Unlock()
	series{out: out}.gauge("seat_fair_frac",
		"Part of its target that each priority level gets that runs into no bound.", c.frac)
	for _, l := range c.state.Load().levels {
		of := series{out, []string{levelLabel}, []string{l.Name}}
		of.limits(l)
		of.stats(l.set.Stats())
	}
	for key, s := range c.sources {
		series{out, []string{levelLabel, schemaLabel}, key[:]}.flow(s.claim.set.FlowStats(&s.Flow))
	}
}

// series sends metrics with the same labels.
type series struct {
	out            chan<- prometheus.Metric
	labels, values []string
}

func (s series) with(label, value string) series {
	return series{s.out, append(s.labels[:len(s.labels):len(s.labels)], label),
		append(s.values[:len(s.values):len(s.values)], value)}
}

func (s series) desc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(prefix+name, help, s.labels, nil)
}

func (s series) gauge(name, help string, value float64) {
	s.out <- prometheus.MustNewConstMetric(s.desc(name, help), prometheus.GaugeValue, value, s.values...)
}

func (s series) counter(name, help string, value int) {
	s.out <- prometheus.MustNewConstMetric(s.desc(name, help), prometheus.CounterValue, float64(value), s.values...)
}

func (s series) histogram(name, help string, h queue.Histogram) {
	s.out <- prometheus.MustNewConstHistogram(s.desc(name, help), h.Count, h.Sum, h.Buckets, s.values...)
}

// limits sends what a level has, and why. The Controller is locked.
func (s series) limits(l *level) {
	s.gauge("nominal_limit_seats", "Seats of the priority level by its shares.", float64(l.limits.Nominal))
	s.gauge("lower_limit_seats", "Seats that the priority level doesn't lend.", float64(l.limits.Min))
	s.gauge("upper_limit_seats", "Seats up to which the priority level borrows.", float64(l.limits.Max))
	s.gauge("current_limit_seats", "Seats that the priority level has now.", float64(l.current))
	s.gauge("demand_seats_high_watermark", "Most seats in demand in the last period.", float64(l.demand.HighWatermark))
	s.gauge("demand_seats_average", "Average of the seats in demand in the last period.", l.demand.Average)
	s.gauge("demand_seats_stdev", "Standard deviation of the seats in demand in the last period.", l.demand.Deviation)
	s.gauge("demand_seats_smoothed", "Seats in demand, over all periods.", l.demand.Smoothed)
	s.gauge("target_seats", "Seats that the priority level should have if there were enough.", l.target)
}

// stats sends what happens in the queues of a level.
func (s series) stats(now queue.Stats) {
	s.gauge("current_r", "Virtual time of the queues.", now.R)
	s.gauge("dispatch_r", "Virtual time of the latest dispatch.", now.Latest.R)
	s.gauge("latest_s", "Virtual time at which the request of the latest dispatch begins.", now.Latest.Begin)
	const bounds = "Bounds, over the queues, of the virtual time at which the oldest request begins"
	s.with("bound", "min").gauge("next_s_bounds", bounds+".", now.Latest.Min)
	s.with("bound", "max").gauge("next_s_bounds", bounds+".", now.Latest.Max)
	const discounted = bounds + ", less the work in progress."
	s.with("bound", "min").gauge("next_discounted_s_bounds", discounted, now.Latest.MinDiscounted)
	s.with("bound", "max").gauge("next_discounted_s_bounds", discounted, now.Latest.MaxDiscounted)
	s.with("phase", phases[1]).histogram("priority_level_seat_utilization",
		"Nanoseconds, by the part of the seats that is in use.", now.Seats)
	s.histogram("demand_seats", "Nanoseconds, by the seats in demand, in parts of those that there are.", now.Demand)
	const requests = "Nanoseconds, by the number of requests, in parts of their bound."
	s.with("phase", phases[0]).histogram("priority_level_request_utilization", requests, now.Waiting)
	s.with("phase", phases[1]).histogram("priority_level_request_utilization", requests, now.Executing)
}

// flow sends the counts of a schema in a level.
func (s series) flow(now queue.FlowStats) {
	s.gauge("current_inqueue_requests", "Requests that wait.", float64(now.Waiting))
	s.gauge("current_inqueue_seats", "Seats for which requests wait.", float64(now.WaitingSeats))
	s.gauge("current_executing_requests", "Requests that execute; of watches, those that begin.",
		float64(now.Executing))
	s.gauge("current_executing_seats", "Seats in use.", float64(now.ExecutingSeats))
	s.counter("dispatched_requests_total", "Requests that executed.", now.Dispatched)
	s.counter("request_dispatch_no_accommodation_total",
		"Times that the next request waited for more seats than there were.", now.Unaccommodated)
	for reason, n := range now.Rejected {
		s.with("reason", string(reason)).counter("rejected_requests_total", "Requests that were rejected.", n)
	}
}
