package meter

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// Reviews has the metrics of the webhooks that decide what users may do.
type Reviews struct {
	collectors
	evaluations, failOpen, conditionErrors, exclusions *prometheus.CounterVec
	durations, conditions                              *prometheus.HistogramVec
}

// NewReviews makes the metrics.
func NewReviews() *Reviews {
	const prefix = "apiserver_authorization_"
	r := &Reviews{
		evaluations: counters(prefix+"webhook_evaluations_total",
			"Questions to webhooks that decide what users may do.", "name", "result"),
		durations: histograms(prefix+"webhook_duration_seconds",
			"Duration of questions to webhooks that decide what users may do.", prometheus.DefBuckets,
			"name", "result"),
		failOpen: counters(prefix+"webhook_evaluations_fail_open_total",
			"Requests on which a webhook had no opinion since it could not be asked.", "name", "result"),
		conditionErrors: counters(prefix+"match_condition_evaluation_errors_total",
			"Requests for which a match condition of a webhook failed.", "type", "name"),
		exclusions: counters(prefix+"match_condition_exclusions_total",
			"Requests that match conditions kept from a webhook.", "type", "name"),
		conditions: histograms(prefix+"match_condition_evaluation_seconds",
			"Duration of the evaluation of a webhook's match conditions.",
			[]float64{0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25}, "type", "name"),
	}
	r.collectors = collectors{
		r.evaluations, r.durations, r.failOpen, r.conditionErrors, r.exclusions, r.conditions,
	}
	return r
}

// Evaluated counts a question to a webhook, which ended with err. ctx is that of the request, without the bound of the
// question. Nothing happens on nil.
func (r *Reviews) Evaluated(ctx context.Context, name string, took time.Duration, err error) {
	if r == nil {
		return
	}
	result := resultOf(ctx, err)
	r.evaluations.WithLabelValues(name, result).Inc()
	r.durations.WithLabelValues(name, result).Observe(took.Seconds())
}

// FailedOpen counts a request on which a webhook has no opinion, since it could not be asked. It counts no request that
// ended meanwhile. Nothing happens on nil.
func (r *Reviews) FailedOpen(ctx context.Context, name string, err error) {
	if r != nil && ctx.Err() == nil {
		r.failOpen.WithLabelValues(name, resultOf(ctx, err)).Inc()
	}
}

// Matched counts an evaluation of the match conditions of a webhook: whether one of them failed, and whether one of
// them kept the request from the webhook. Nothing happens on nil.
func (r *Reviews) Matched(name string, took time.Duration, failed, excluded bool) {
	if r == nil {
		return
	}
	const kind = "Webhook"
	r.conditions.WithLabelValues(kind, name).Observe(took.Seconds())
	if failed {
		r.conditionErrors.WithLabelValues(kind, name).Inc()
	}
	if excluded {
		r.exclusions.WithLabelValues(kind, name).Inc()
	}
}

// resultOf is how kube-apiserver's metrics call the outcome of a question.
func resultOf(ctx context.Context, err error) string {
	switch {
	case err == nil:
		return success
	case ctx.Err() != nil:
		return "canceled"
	case utilnet.IsTimeout(err), errors.Is(err, context.DeadlineExceeded), apierrors.IsTimeout(err):
		return "timeout"
	}
	return failed
}

// Delegated has the metrics of the questions to the cluster whose guest a server is.
type Delegated struct {
	collectors
	authentication, authorization requests
}

// NewDelegated makes the metrics.
func NewDelegated() *Delegated {
	d := &Delegated{}
	for to, names := range map[*requests][2]string{
		&d.authentication: {"authn", "who users are"}, &d.authorization: {"authz", "what users may do"},
	} {
		*to = requests{
			counters("apiserver_delegated_"+names[0]+"_request_total",
				"Requests that ask the cluster "+names[1]+", by the code of the answer.", "code"),
			histograms("apiserver_delegated_"+names[0]+"_request_duration_seconds",
				"Duration of requests that ask the cluster "+names[1]+", by the code of the answer.",
				[]float64{0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10}, "code"),
		}
		d.collectors = append(d.collectors, to.count, to.duration)
	}
	return d
}

// Authentication measures the requests that ask the cluster who users are.
func (d *Delegated) Authentication(of http.RoundTripper) http.RoundTripper {
	return counted{of, d.authentication}
}

// Authorization measures the requests that ask the cluster what users may do.
func (d *Delegated) Authorization(of http.RoundTripper) http.RoundTripper {
	return counted{of, d.authorization}
}

type requests struct {
	count    *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// counted counts the requests that it sends.
type counted struct {
	http.RoundTripper
	requests
}

// RoundTrip implements http.RoundTripper.
func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	begin, code := time.Now(), "<error>"
	response, err := c.RoundTripper.RoundTrip(r)
	if err == nil {
		code = strconv.Itoa(response.StatusCode)
	}
	c.count.WithLabelValues(code).Inc()
	c.duration.WithLabelValues(code).Observe(time.Since(begin).Seconds())
	return response, err
}

// CloseIdleConnections lets http.Client close connections.
func (c counted) CloseIdleConnections() {
	if closer, ok := c.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}
