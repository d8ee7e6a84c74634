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

// unlisted are metrics that the reference doesn't list, because its server has no such troubles, and those that each
// process has. runtime/conformance/rules evaluates the queries on servers that have them.
var unlisted = metricSet{
	"apiserver_admission_webhook_admission_duration_seconds_bucket": {"le", "name"},
	"apiserver_admission_webhook_fail_open_count":                   {"name"},
	"apiserver_admission_webhook_rejection_count":                   {"error_type", "name"},
	"apiserver_audit_error_total":                                   {"plugin"},
	"apiserver_audit_event_total":                                   nil,
	"apiserver_request_terminations_total":                          {"code", "verb"},
	"go_goroutines":                                                 nil,
	"process_cpu_seconds_total":                                     nil,
	"process_open_fds":                                              nil,
	"process_resident_memory_bytes":                                 nil,
}

// TestDashboard: every query of the dashboard and of the alerts asks for metrics that the reference lists, by labels
// that these have.
func TestDashboard(t *testing.T) {
	listed := listedMetrics(t)
	for name, labels := range unlisted {
		if listed[name] != nil {
			t.Errorf("the reference lists %s", name)
		}
		listed[name] = append(labels, prometheusOwn...)
	}
	for what, query := range queries(t) {
		if err := listed.check(query); err != nil {
			t.Errorf("%s: %s\n%v", what, query, err)
		}
	}
}

// listedMetrics returns the metrics of the reference.
func listedMetrics(t *testing.T) metricSet {
	t.Helper()
	page, err := os.ReadFile("reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	all := metricSet{"up": prometheusOwn}
	for _, row := range listedMetric.FindAllStringSubmatch(string(page), -1) {
		labels := append(words(row[3]), prometheusOwn...)
		if row[2] != "histogram" {
			all[row[1]] = labels
			continue
		}
		all[row[1]+"_sum"], all[row[1]+"_count"], all[row[1]+"_bucket"] = labels, labels, append(labels, "le")
	}
	return all
}

var listedMetric = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| ([\\w, ]*) \\|")

// TestWrongQueries: the check finds what the dashboard must not have.
func TestWrongQueries(t *testing.T) {
	exposed := metricSet{
		"a_total": append([]string{"code", "verb"}, prometheusOwn...), "b_bucket": {"le"}, "c": nil,
		"up": prometheusOwn,
	}
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
	named  = regexp.MustCompile(`([a-zA-Z_]\w*)\s*[=!]`)
	// grouping is a list of labels, and term a name with a selector, a call or a number.
	grouping = regexp.MustCompile(`\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	within   = regexp.MustCompile(`\[[^\]]*\]`)
	term     = regexp.MustCompile(`[\w:.]+\s*(\{[^}]*\}|\()?`)
	number   = regexp.MustCompile(`^[\d.]`)
)

var keywords = []string{"and", "or", "unless", "bool", "group_left", "group_right", "offset"}

// words returns the names of a list with commas.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// check returns what a query asks for that there isn't.
func (m metricSet) check(query string) error {
	query = within.ReplaceAllString(quoted.ReplaceAllString(query, `""`), "")
	var grouped, known []string
	for _, found := range grouping.FindAllStringSubmatch(query, -1) {
		grouped = append(grouped, words(found[2])...)
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
