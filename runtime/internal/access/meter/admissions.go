package meter

import (
	"strconv"

	"apigen.dev/runtime/admission"
	"github.com/prometheus/client_golang/prometheus"
)

// Admissions has the metrics of admission: of each call of a plug-in, and of the two steps that all calls for a write
// make up. Its Observe is an admission.Observe.
type Admissions struct {
	collectors
	calls, steps *prometheus.HistogramVec
}

// NewAdmissions makes the metrics.
func NewAdmissions() *Admissions {
	buckets := []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5}
	a := &Admissions{
		calls: histograms("apiserver_admission_controller_admission_duration_seconds",
			"Duration of calls of admission plug-ins, by name, kind of call, operation, and whether they refused.",
			buckets, "name", "type", "operation", "rejected"),
		steps: histograms("apiserver_admission_step_admission_duration_seconds",
			"Duration of all calls for a write that change it, or that validate it, and whether they refused.",
			buckets, "type", "operation", "rejected"),
	}
	a.collectors = collectors{a.calls, a.steps}
	return a
}

// Observe counts a call of a plug-in, or of all if there is none.
func (a *Admissions) Observe(p *admission.Plugin, of *admission.Attributes, mutating bool, call admission.Call) {
	step, rejected := "validate", strconv.FormatBool(call.Err != nil)
	if mutating {
		step = "admit"
	}
	if p == nil {
		a.steps.WithLabelValues(step, string(of.Operation), rejected).Observe(call.Duration.Seconds())
		return
	}
	a.calls.WithLabelValues(p.Name, step, string(of.Operation), rejected).Observe(call.Duration.Seconds())
}
