package podsecurity

import (
	"strconv"
	"strings"

	"apigen.dev/runtime/admission"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/pod-security-admission/api"
)

// newest is the release of Kubernetes whose standards this package has.
var newest = api.MajorMinorVersion(1, 37)

// metrics are kube-apiserver's metrics of the plug-in.
type metrics struct{ evaluations, exemptions, errors *prometheus.CounterVec }

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		labels = append(labels, "request_operation", "resource", "subresource")
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "pod_security_" + name, Help: help}, labels)
	}
	return &metrics{
		evaluations: counter("evaluations_total",
			"Pods that were held against the level of a mode; of the modes audit and warn, those that it would refuse.",
			"decision", "policy_level", "policy_version", "mode"),
		exemptions: counter("exemptions_total", "Pods that were exempt."),
		errors: counter("errors_total",
			"Errors that kept the server from an evaluation, or from one by the labels of the namespace.", "fatal"),
	}
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.evaluations, m.exemptions, m.errors}
}

// evaluated counts an evaluation. Versions that don't exist yet have one name, because namespaces may name any.
func (m *metrics) evaluated(a *admission.Attributes, mode string, at api.LevelVersion, allowed bool) {
	version := at.Version.String()
	switch {
	case at.Version.Latest() || at.Level == api.LevelPrivileged:
		version = "latest"
	case newest.Older(at.Version):
		version = "future"
	}
	decision := "deny"
	if allowed {
		decision = "allow"
	}
	labels := []string{decision, string(at.Level), version, mode}
	m.evaluations.WithLabelValues(append(labels, labelsOfWrite(a)...)...).Inc()
}

func (m *metrics) exempted(a *admission.Attributes) {
	m.exemptions.WithLabelValues(labelsOfWrite(a)...).Inc()
}

func (m *metrics) failed(a *admission.Attributes, fatal bool) {
	m.errors.WithLabelValues(append([]string{strconv.FormatBool(fatal)}, labelsOfWrite(a)...)...).Inc()
}

// labelsOfWrite returns the operation, the sort of resource and the subresource of a write.
func labelsOfWrite(a *admission.Attributes) []string {
	resource := "controller"
	if a.Resource.Group == "" && a.Resource.Resource == "pods" {
		resource = "pod"
	}
	return []string{strings.ToLower(string(a.Operation)), resource, a.Subresource}
}
