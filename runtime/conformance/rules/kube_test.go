package rules

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
)

// The verbs that kube-prometheus takes for reads and writes, and the series of requests that its objectives are about.
const (
	reads, writes = "LIST|GET", "POST|PUT|PATCH|DELETE"
	connections   = `subresource!~"proxy|attach|log|exec|portforward"`
)

// within are the seconds within which a request of a scope is answered in time. The other objective is that of writes.
var within = map[string]string{"resource|": "1", "namespace": "5", "cluster": "30"}

// kubePrometheus returns rules that ask for the same metrics and labels as kube-prometheus' rules about kube-apiserver,
// in words of our own, because no module has those and the project copies nothing. The names are theirs.
func kubePrometheus() []group {
	const (
		sli   = "apiserver_request_sli_duration_seconds"
		total = "apiserver_request_total"
	)
	var g group
	record := func(name, verb, expr string) {
		r := rule{Record: name, Expr: expr}
		if verb != "" {
			r.Labels = map[string]string{"verb": verb}
		}
		g.Rules = append(g.Rules, r)
	}
	for _, code := range []string{"2", "3", "4", "5"} {
		record("code_verb:"+total+":increase1h", "", fmt.Sprintf(
			`sum by (cluster, code, verb) (increase(%s{job="apiserver",verb=~"%s|%s",code=~"%s.."}[1h]))`,
			total, reads, writes, code))
	}
	record("code_verb:"+total+":increase30d", "", "720 * avg_over_time(code_verb:"+total+":increase1h[30d])")
	buckets, counts := "cluster_verb_scope_le:"+sli+"_bucket", "cluster_verb_scope:"+sli+"_count"
	record(buckets+":increase1h", "", "sum by (cluster, verb, scope, le) (increase("+sli+"_bucket[1h]))")
	record(buckets+":increase30d", "", "720 * avg_over_time("+buckets+":increase1h[30d])")
	for _, period := range []string{":increase1h", ":increase30d"} {
		record(counts+period, "", "sum without (le) ("+buckets+period+`{le="+Inf"})`)
	}
	for what, verbs := range map[string]string{"read": reads, "write": writes} {
		of := fmt.Sprintf(`job="apiserver",verb=~"%s"`, verbs)
		record("code:"+total+":increase30d", what,
			"sum by (cluster, code) (code_verb:"+total+`:increase30d{verb=~"`+verbs+`"})`)
		record("code_resource:"+total+":rate5m", what, "sum by (cluster, code, resource) (rate("+total+"{"+of+"}[5m]))")
		record("cluster_quantile:"+sli+":histogram_quantile", what, "histogram_quantile(0.99, sum by (cluster, le, "+
			"resource) (rate("+sli+"_bucket{"+of+","+connections+"}[5m]))) > 0")
		for _, window := range []string{"5m", "30m", "1h", "2h", "6h", "1d", "3d"} {
			rate := func(selected string) string { return "sum by (cluster) (rate(" + selected + "[" + window + "]))" }
			slow := rate(sli + "_count{" + of + "," + connections + "}")
			for scope, seconds := range objectives(what) {
				slow += " - " + rate(fmt.Sprintf(`%s_bucket{%s,%s,scope=~"%s",le=~"%s([.]0)?"}`,
					sli, of, connections, scope, seconds))
			}
			record("apiserver_request:burnrate"+window, what, fmt.Sprintf("(%s + %s) / %s", slow,
				rate(total+"{"+of+`,code=~"5.."}`), rate(total+"{"+of+"}")))
		}
		late := "sum by (cluster) (" + counts + `:increase30d{verb=~"` + verbs + `"})`
		for scope, seconds := range objectives(what) {
			late += fmt.Sprintf(` - sum by (cluster) (%s:increase30d{verb=~"%s",scope=~"%s",le=~"%s([.]0)?"})`,
				buckets, verbs, scope, seconds)
		}
		record("apiserver_request:availability30d", what, fmt.Sprintf(
			`1 - (%s + sum by (cluster) (code:%s:increase30d{verb="%s",code=~"5.."})) / `+
				`sum by (cluster) (code:%s:increase30d{verb="%s"})`, late, total, what, total, what))
	}
	record("apiserver_request:availability30d", "all", "1 - sum by (cluster) (code:"+total+
		`:increase30d{code=~"5.."}) / sum by (cluster) (code:`+total+":increase30d)")
	return []group{g, {Rules: kubeAlerts()}}
}

func objectives(what string) map[string]string {
	if what == "write" {
		return map[string]string{".*": "1"}
	}
	return within
}

// kubeAlerts returns the alerts of kubePrometheus.
func kubeAlerts() (all []rule) {
	alert := func(name, expr string, tags ...string) {
		r := rule{Alert: name, Expr: expr, Labels: map[string]string{}}
		for i := 0; i < len(tags); i += 2 {
			r.Labels[tags[i]] = tags[i+1]
		}
		all = append(all, r)
	}
	for _, w := range []struct {
		long, short, severity string
		percent               float64
	}{
		{"1h", "5m", "critical", 14.4}, {"6h", "30m", "critical", 6},
		{"1d", "2h", "warning", 3}, {"3d", "6h", "warning", 1},
	} {
		over := func(window string) string {
			return fmt.Sprintf("sum by (cluster) (apiserver_request:burnrate%s) > %g", window, w.percent/100)
		}
		alert("KubeAPIErrorBudgetBurn", over(w.long)+" and "+over(w.short), "long", w.long, "severity", w.severity)
	}
	const certificates = "apiserver_client_certificate_expiration_seconds"
	for severity, days := range map[string]int{"warning": 7, "critical": 1} {
		alert("KubeClientCertificateExpiration", fmt.Sprintf(`
			histogram_quantile(0.01, sum by (job, cluster, instance, le) (rate(%s_bucket{job="apiserver"}[5m]))) < %d
			and on (job, cluster, instance) %s_count{job="apiserver"} > 0`,
			certificates, days*24*60*60, certificates), "severity", severity)
	}
	const warning = "warning"
	alert("KubeAggregatedAPIErrors", "sum by (cluster, instance, name, reason) "+
		`(increase(aggregator_unavailable_apiservice_total{job="apiserver"}[1m])) > 0`, "severity", warning)
	alert("KubeAggregatedAPIDown", "max by (cluster, namespace, name) "+
		`(avg_over_time(aggregator_unavailable_apiservice{job="apiserver"}[10m])) > 0.15`, "severity", warning)
	alert("KubeAPIDown", `absent(up{job="apiserver"})`, "severity", "critical")
	alert("KubeAPIInstanceUnreachable", `up{job="apiserver"} < 1`, "severity", warning)
	rate := func(metric string) string { return "sum by (cluster) (rate(" + metric + `{job="apiserver"}[10m]))` }
	ended := rate("apiserver_request_terminations_total")
	alert("KubeAPITerminatedRequests",
		fmt.Sprintf("%s / (%s + %s) > 0.2", ended, ended, rate("apiserver_request_total")), "severity", warning)
	return all
}

// kubeInvented are, as invented, troubles that are not the server's but those of its clients and of Prometheus.
var kubeInvented = map[string]func(*database) *database{
	"KubeAPIDown":                     func(d *database) *database { return d.drop("up") },
	"KubeAPIInstanceUnreachable":      func(d *database) *database { return d.set("up", 0) },
	"KubeClientCertificateExpiration": expiring,
}

// expiring returns a copy in which clients have sent certificates that end within an hour.
func expiring(d *database) *database {
	d.Helper()
	const metric = "apiserver_client_certificate_expiration_seconds"
	return d.slow(metric, 1800).grow(metric+"_count", func(labels.Labels) float64 { return many(labels.EmptyLabels()) })
}

// evaluations is how often rules are evaluated, so that those that read what later ones record find it.
const evaluations = 3

// TestKubePrometheus: each of kube-prometheus' rules that records finds something on a server that has troubles; each
// alert is quiet on a calm server, and fires on one that has its trouble. The variable KUBE_PROMETHEUS names a file of
// kube-prometheus, manifests/kubernetesControlPlane-prometheusRule.yaml, whose rules are held to the same.
func TestKubePrometheus(t *testing.T) {
	t.Run("in our words", func(t *testing.T) { checkKube(t, kubePrometheus()) })
	t.Run("as they are", func(t *testing.T) {
		path := os.Getenv("KUBE_PROMETHEUS")
		if path == "" {
			t.Skip("KUBE_PROMETHEUS names no file, and no module has it")
		}
		groups := slices.DeleteFunc(readRules(t, path), func(g group) bool {
			return !strings.Contains(g.Name, "apiserver")
		})
		if theirs, ours := names(groups), names(kubePrometheus()); !slices.Equal(theirs, ours) {
			t.Errorf("the file has the rules %q, and the test %q", theirs, ours)
		}
		checkKube(t, groups)
	})
}

func checkKube(t *testing.T, groups []group) {
	t.Helper()
	quiet, loud := calm(t), troubled(t)
	var found map[string]int
	for range evaluations {
		for name, n := range quiet.evaluate(groups) {
			if strings.HasPrefix(name, "Kube") && n > 0 {
				t.Errorf("the alert %s fires on a calm server", name)
			}
		}
		found = loud.evaluate(groups)
		quiet.now, loud.now = quiet.now.Add(interval/evaluations), loud.now.Add(interval/evaluations)
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			n := found[r.name()]
			if invent := kubeInvented[r.Alert]; invent != nil {
				vector, err := invent(loud).query(r.Expr)
				if err != nil || n > 0 {
					t.Errorf("%s found %d before its trouble is invented: %v", r.name(), n, err)
				}
				n = len(vector)
			}
			if n == 0 {
				t.Errorf("%s finds nothing\n%s", r.name(), r.Expr)
			}
		}
	}
}

// period is at the end of names of rules of which the page has one row for all periods.
var period = regexp.MustCompile(`(increase|burnrate)\d+[mhd]$`)

// TestKubePrometheusIsDocumented: the page about observability has each rule in its table.
func TestKubePrometheusIsDocumented(t *testing.T) {
	page, err := os.ReadFile(docs + "observability.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range kubePrometheus() {
		for _, r := range g.Rules {
			name := "`" + period.ReplaceAllString(r.Record+r.Alert, "$1...") + "`"
			if !strings.Contains(string(page), name) {
				t.Errorf("the page lacks %s", name)
			}
		}
	}
}

// names returns the names of rules, sorted.
func names(groups []group) []string {
	all := map[string]bool{}
	for _, g := range groups {
		for _, r := range g.Rules {
			all[r.name()] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
