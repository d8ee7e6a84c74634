package rules

import (
	"os"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"sigs.k8s.io/yaml"
)

// rule is a rule of Prometheus, which records what it finds or is an alert.
type rule struct {
	Record, Alert, Expr string
	Labels              map[string]string
}

// name returns the name of a rule, with the labels by which rules of one name differ.
func (r rule) name() string {
	name := r.Record + r.Alert
	for _, label := range []string{"verb", "long", "severity"} {
		if value := r.Labels[label]; value != "" {
			name += " " + value
		}
	}
	return name
}

// group has the rules that Prometheus evaluates one after the other.
type group struct {
	Name  string
	Rules []rule
}

// readRules returns the rules of a file, which is one of Prometheus or a PrometheusRule.
func readRules(t *testing.T, path string) []group {
	t.Helper()
	var file struct {
		Groups []group
		Spec   struct{ Groups []group }
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Unmarshal(text, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(file.Groups, file.Spec.Groups...)
}

// evaluate evaluates rules, records what they find, and returns how many samples each has found.
func (d *database) evaluate(groups []group) map[string]int {
	d.Helper()
	found := map[string]int{}
	for _, g := range groups {
		for _, r := range g.Rules {
			vector, err := d.query(r.Expr)
			if err != nil {
				d.Fatalf("%s: %v\n%s", r.name(), err, r.Expr)
			}
			found[r.name()] += len(vector)
			for _, sample := range vector {
				if r.Record != "" {
					b := labels.NewBuilder(sample.Metric).Set(labels.MetricName, r.Record)
					d.add(b.Labels(), r.Labels, sample.F)
				}
			}
		}
	}
	return found
}
