package podsecurity

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/server"
	"github.com/prometheus/client_golang/prometheus"
	apps "k8s.io/api/apps/v1"
)

// counted returns the counters of registered metrics, as NAME VALUE... of their labels in the order of the names.
func counted(t *testing.T, all []prometheus.Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(all...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := family.GetName()
			for _, label := range metric.GetLabel() {
				name += fmt.Sprintf(" %s=%s", label.GetName(), label.GetValue())
			}
			counts[name] = metric.GetCounter().GetValue()
		}
	}
	return counts
}

// TestMetrics: evaluations, exemptions and errors are counted under kube-apiserver's names, and versions that don't
// exist don't make series.
func TestMetrics(t *testing.T) {
	deployment := &apps.Deployment{}
	deployment.Spec.Template.Spec = privileged("").Spec
	run := func(configuration string, labels map[string]string, a *admission.Attributes) map[string]float64 {
		f := new(Feature)
		var config server.Config
		if err := config.Use(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if configuration != "" {
			if err := f.configure([]byte(configuration), ""); err != nil {
				t.Fatal(err)
			}
		}
		ctx := reach.WithObjects(t.Context(), namespaces{labels: labels})
		_ = config.Admission[0].Validate(ctx, a) // TestPods has what it returns
		return counted(t, config.Metrics)
	}
	const prefix = "pod-security.kubernetes.io/"
	pod := func() *admission.Attributes { return request("pods", "", privileged("p"), nil) }
	evaluated := func(decision, mode, level, version, resource string) string {
		return "pod_security_evaluations_total decision=" + decision + " mode=" + mode + " policy_level=" + level +
			" policy_version=" + version + " request_operation=create resource=" + resource + " subresource="
	}
	for name, test := range map[string]struct {
		configuration string
		labels        map[string]string
		request       *admission.Attributes
		want          []string
	}{
		"privileged": {"", nil, pod(), []string{evaluated("allow", "enforce", "privileged", "latest", "pod")}},
		"refused": {"", map[string]string{
			prefix + "enforce": "baseline", prefix + "enforce-version": "v1.30", prefix + "audit": "restricted",
			prefix + "warn": "baseline",
		}, pod(), []string{evaluated("deny", "enforce", "baseline", "v1.30", "pod"),
			evaluated("deny", "audit", "restricted", "latest", "pod")}},
		"the future": {"", map[string]string{prefix + "warn": "baseline", prefix + "warn-version": "v1.999"},
			request("deployments", "", deployment, nil),
			[]string{evaluated("deny", "warn", "baseline", "future", "controller")}},
		"exempt": {`{"kind":"PodSecurityConfiguration","exemptions":{"usernames":["u"]}}`, nil, pod(),
			[]string{"pod_security_exemptions_total request_operation=create resource=pod subresource="}},
		"bad labels": {"", map[string]string{prefix + "warn": "high"}, request("deployments", "", deployment, nil),
			[]string{"pod_security_errors_total fatal=false request_operation=create resource=controller " +
				"subresource="}},
	} {
		got := run(test.configuration, test.labels, test.request)
		for _, want := range test.want {
			if got[want] != 1 {
				t.Errorf("%s: %s is counted %g times", name, want, got[want])
			}
		}
		// Labels that mean nothing are as restricted ones, in each mode.
		if len(got) != len(test.want) && name != "bad labels" {
			t.Errorf("%s: %s", name, strings.Join(slices.Sorted(maps.Keys(got)), "\n"))
		}
	}
}
