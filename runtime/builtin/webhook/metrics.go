package webhook

import (
	"context"
	"errors"
	"strconv"
	"time"

	"apigen.dev/runtime/admission"
	"github.com/prometheus/client_golang/prometheus"
)

// How metrics name the two kinds of webhooks.
const (
	typeAdmit      = "admit"
	typeValidating = "validating"
)

// metrics are kube-apiserver's metrics of webhooks.
type metrics struct {
	duration, conditions                       *prometheus.HistogramVec
	requests, rejections, failOpen, exclusions *prometheus.CounterVec
}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "apiserver_admission_" + name, Help: help}, labels)
	}
	return &metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "apiserver_admission_webhook_admission_duration_seconds", Help: "Duration of calls of webhooks.",
			Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25},
		}, []string{"name", "type", "operation", "rejected"}),
		conditions: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "apiserver_admission_match_condition_evaluation_seconds",
			Help:    "Duration of the evaluation of the match conditions of a webhook.",
			Buckets: []float64{0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25},
		}, []string{"name", "kind", "type", "operation"}),
		requests: counter("webhook_request_total", "Calls of webhooks, with the code of the answer.",
			"name", "type", "operation", "code", "rejected"),
		rejections: counter("webhook_rejection_count", "Writes that webhooks refused, or that failed with a webhook.",
			"name", "type", "operation", "error_type", "rejection_code"),
		failOpen: counter("webhook_fail_open_count", "Failures of webhooks that were ignored.", "name", "type"),
		exclusions: counter("match_condition_exclusions_total", "Writes that match conditions kept from a webhook.",
			"name", "kind", "type", "operation"),
	}
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.duration, m.conditions, m.requests, m.rejections, m.failOpen, m.exclusions}
}

// conditionsHeld records the evaluation of the match conditions of a hook, which began at a time.
func (m *metrics) conditionsHeld(h *hook, stepType string, a *admission.Attributes, began time.Time, held bool) {
	labels := []string{h.Name, "webhook", stepType, string(a.Operation)}
	m.conditions.WithLabelValues(labels...).Observe(time.Since(began).Seconds())
	if !held {
		m.exclusions.WithLabelValues(labels...).Inc()
	}
}

// maxCode bounds the codes that label metrics.
const maxCode = 600

// observe records a call of a hook that ended with err.
func (m *metrics) observe(h *hook, stepType string, a *admission.Attributes, took time.Duration, err error) {
	code, errorType := int32(200), ""
	var failed *failedCall
	var refused *rejection
	switch {
	case err == nil:
	case errors.As(err, &failed):
		code = failed.code
		if !h.ignoresFailures() && !errors.Is(failed.reason, context.Canceled) {
			errorType = "calling_webhook_error"
		}
	case errors.As(err, &refused):
		code, errorType = refused.ErrStatus.Code, "no_error"
	default:
		code, errorType = 0, "apiserver_internal_error"
	}
	operation, codeText := string(a.Operation), strconv.Itoa(int(min(code, maxCode)))
	rejected := strconv.FormatBool(err != nil && (failed == nil || !h.ignoresFailures()))
	m.duration.WithLabelValues(h.Name, stepType, operation, rejected).Observe(took.Seconds())
	m.requests.WithLabelValues(h.Name, stepType, operation, codeText, rejected).Inc()
	if errorType != "" {
		m.rejections.WithLabelValues(h.Name, stepType, operation, errorType, codeText).Inc()
	}
}
