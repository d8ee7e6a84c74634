package policy

import (
	"errors"
	"strings"
	"time"

	celpolicy "apigen.dev/runtime/internal/access/policy"
	"github.com/prometheus/client_golang/prometheus"
)

// checks are kube-apiserver's metrics of the checks of one kind of policy.
type checks struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newChecks(kind string, labels ...string) *checks {
	name := "apiserver_" + kind + "_admission_policy_check_"
	labels = append([]string{"policy", "policy_binding", "error_type"}, labels...)
	return &checks{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: name + "total", Help: "Checks of " + kind + " admission policies that failed or had an effect.",
		}, labels),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name + "duration_seconds", Help: "Duration of the same checks.",
			Buckets: []float64{0.0000005, 0.001, 0.01, 0.1, 1},
		}, labels),
	}
}

func (c *checks) collectors() []prometheus.Collector {
	return []prometheus.Collector{c.total, c.duration}
}

// observe counts a check of a policy with a binding that ended with err. action is what followed from it, if the
// metrics have that label.
func (c *checks) observe(policy, binding string, took time.Duration, err error, action ...string) {
	labels := append([]string{policy, binding, errorType(err)}, action...)
	c.total.WithLabelValues(labels...).Inc()
	c.duration.WithLabelValues(labels...).Observe(took.Seconds())
}

// errDenied is the error of a validation that doesn't hold, which kube-apiserver counts with the invalid ones.
var errDenied = errors.New("the validation doesn't hold")

// errorType returns kube-apiserver's name of a sort of errors.
func errorType(err error) string {
	switch {
	case err == nil:
		return "no_error"
	case errors.Is(err, celpolicy.ErrBudget):
		return "out_of_budget"
	case strings.HasPrefix(err.Error(), "compilation error"):
		return "compile_error"
	}
	return "invalid_error"
}
