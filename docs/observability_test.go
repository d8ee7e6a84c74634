package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestDashboard: every query of the dashboard and of the alerts asks for metrics that a server exposes, if it has the
// troubles that they are about, by labels that these have.
func TestDashboard(t *testing.T) {
	exposed := exposedBy(exposition(t) + troubledMetrics(t))
	for what, query := range queries(t) {
		if err := exposed.check(query); err != nil {
			t.Errorf("%s: %s\n%v", what, query, err)
		}
	}
}

// TestWrongQueries: the check finds what the dashboard must not have.
func TestWrongQueries(t *testing.T) {
	exposed := exposedBy("# HELP a_total x\na_total{code=\"2}{\",verb=\"GET\"} 1\nb_bucket{le=\"1\"} 2\nc 3\n")
	for query, want := range map[string]string{
		`sum by (verb) (rate(a_total{job="x",code=~"5.."}[5m])) / ignoring (verb) c`: "",
		`histogram_quantile(0.99, sum by (le) (rate(b_bucket[5m]))) > 1e3`:           "",
		`c - time() < 14 * 86400 and on (instance) up{job="x"} == 1`:                 "",
		`rate(d_total[5m])`:               "no metric d_total",
		`a_total{resource="x"}`:           "a_total has no label resource",
		`sum by (resource) (a_total)`:     "no metric of the query has the label resource",
		`sum (rate(a_total[5m])) / total`: "no metric total",
		`1 + 1`:                           "no metric",
	} {
		err := exposed.check(query)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}
}

// queries returns the expressions of the dashboard and of the alerts.
func queries(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	var alerts struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	text, err := os.ReadFile("observability/dashboard.json")
	if err == nil {
		err = json.Unmarshal(text, &dashboard)
	}
	if err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile("observability/alerts.yaml"); err == nil {
		err = yaml.Unmarshal(text, &alerts)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, panel := range dashboard.Panels {
		for i, target := range panel.Targets {
			all[fmt.Sprintf("panel %q, query %d", panel.Title, i)] = target.Expr
		}
	}
	for _, group := range alerts.Groups {
		for _, rule := range group.Rules {
			all[fmt.Sprintf("alert %s", rule.Alert)] = rule.Expr
		}
	}
	if len(dashboard.Panels) == 0 || len(alerts.Groups) == 0 {
		t.Fatal("there is no dashboard, or there are no alerts")
	}
	return all
}

// metricSet has the labels of metrics.
type metricSet map[string][]string

// prometheusOwn are the labels that Prometheus itself adds.
var prometheusOwn = []string{"job", "instance"}

var (
	quoted = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	sample = regexp.MustCompile(`(?m)^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? `)
	named  = regexp.MustCompile(`([a-zA-Z_]\w*)\s*[=!]`)
	// grouping is a list of labels, and term a name with a selector, a call or a number.
	grouping = regexp.MustCompile(`\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	within   = regexp.MustCompile(`\[[^\]]*\]`)
	term     = regexp.MustCompile(`[\w:.]+\s*(\{[^}]*\}|\()?`)
	number   = regexp.MustCompile(`^[\d.]`)
)

var keywords = []string{"and", "or", "unless", "bool", "group_left", "group_right", "offset"}

func exposedBy(text string) metricSet {
	all := metricSet{"up": nil}
	for _, found := range sample.FindAllStringSubmatch(quoted.ReplaceAllString(text, `""`), -1) {
		for _, name := range named.FindAllStringSubmatch(found[2], -1) {
			all[found[1]] = append(all[found[1]], name[1])
		}
		all[found[1]] = append(all[found[1]], prometheusOwn...)
	}
	all["up"] = prometheusOwn
	return all
}

// check returns what a query asks for that there isn't.
func (m metricSet) check(query string) error {
	query = within.ReplaceAllString(quoted.ReplaceAllString(query, `""`), "")
	var grouped, known []string
	for _, found := range grouping.FindAllStringSubmatch(query, -1) {
		grouped = append(grouped, strings.FieldsFunc(found[2], func(r rune) bool { return r == ',' || r == ' ' })...)
	}
	metrics := 0
	for _, found := range term.FindAllStringSubmatch(grouping.ReplaceAllString(query, ""), -1) {
		name := strings.TrimSpace(strings.TrimSuffix(found[0], found[1]))
		if found[1] == "(" || number.MatchString(name) || slices.Contains(keywords, name) {
			continue
		}
		labels, ok := m[name]
		if !ok {
			return fmt.Errorf("there is no metric %s", name)
		}
		metrics++
		known = append(known, labels...)
		for _, selected := range named.FindAllStringSubmatch(found[1], -1) {
			if !slices.Contains(labels, selected[1]) {
				return fmt.Errorf("%s has no label %s", name, selected[1])
			}
		}
	}
	for _, name := range grouped {
		if !slices.Contains(known, name) {
			return fmt.Errorf("no metric of the query has the label %s", name)
		}
	}
	if metrics == 0 {
		return fmt.Errorf("the query asks for no metric")
	}
	return nil
}
