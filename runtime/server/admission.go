package server

import (
	"strconv"

	"apigen.dev/runtime/admission"
	"github.com/prometheus/client_golang/prometheus"
)

// plugins returns the chain of the plug-ins that run, configured. Its calls are in the metrics.
func (c *Config) plugins(m *metrics) (*admission.Chain, error) {
	if c.AdmissionConfig != "" {
		if err := admission.Configure(c.AdmissionConfig, c.Admission); err != nil {
			return nil, err
		}
	}
	arranged, err := admission.Arrange(c.Admission, c.EnableAdmission, c.DisableAdmission)
	if err != nil || len(arranged) == 0 {
		return nil, err
	}
	return admission.NewChain(arranged, m.observeAdmission()), nil
}

// observeAdmission adds the metric of plug-ins, and returns what fills it.
func (m *metrics) observeAdmission() admission.Observe {
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "apiserver_admission_controller_admission_duration_seconds",
		Help:    "Duration of calls of admission plug-ins, by name, kind of call, operation, and whether they refused.",
		Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5},
	}, []string{"name", "type", "operation", "rejected"})
	m.registry.MustRegister(durations)
	return func(p *admission.Plugin, a *admission.Attributes, mutating bool, call admission.Call) {
		step := "validate"
		if mutating {
			step = "admit"
		}
		durations.WithLabelValues(p.Name, step, string(a.Operation), strconv.FormatBool(call.Err != nil)).
			Observe(call.Duration.Seconds())
	}
}
