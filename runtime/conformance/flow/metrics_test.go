package flow

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/auditlog"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	_ "k8s.io/apiserver/pkg/admission/metrics"
	manifestmetrics "k8s.io/apiserver/pkg/admission/plugin/manifest/metrics"
	_ "k8s.io/apiserver/pkg/admission/plugin/policy/mutating/metrics"
	_ "k8s.io/apiserver/pkg/admission/plugin/policy/validating/metrics"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
	authorizationmetrics "k8s.io/apiserver/pkg/authorization/metrics"
	_ "k8s.io/apiserver/pkg/cel/metrics"
	"k8s.io/apiserver/pkg/endpoints/filters"
	impersonationmetrics "k8s.io/apiserver/pkg/endpoints/filters/impersonation/metrics"
	"k8s.io/apiserver/pkg/server/mux"
	authenticationconfig "k8s.io/apiserver/pkg/server/options/authenticationconfig/metrics"
	authorizationconfig "k8s.io/apiserver/pkg/server/options/authorizationconfig/metrics"
	encryptionconfig "k8s.io/apiserver/pkg/server/options/encryptionconfig/metrics"
	"k8s.io/apiserver/pkg/server/routes"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/component-base/metrics/legacyregistry"
)

// metric is what a registry says of a metric.
type metric struct {
	kind, stability string // "" if the registry doesn't say
	// labels are sorted.
	labels []string
}

// described are the metrics of registries.
type described map[string]metric

var (
	descFormat = regexp.MustCompile(
		`^Desc{fqName: "([^"]+)", help: "(?:\[(\w+)\])?.*constLabels: {(.*)}, variableLabels: {(.*)}}$`)
	quoted    = regexp.MustCompile(`"[^"]*"`)
	labelName = regexp.MustCompile(`[a-zA-Z_]\w*`)
)

// add adds the metrics of a registry: what its collectors describe, and what they send.
func (d described) add(t *testing.T, from *prometheus.Registry) {
	t.Helper()
	for _, collector := range collectorsOf(from) {
		descs := make(chan *prometheus.Desc, 1000)
		collector.Describe(descs)
		close(descs)
		for desc := range descs {
			found := descFormat.FindStringSubmatch(desc.String())
			if found == nil {
				t.Fatalf("%s is not understood", desc)
			}
			d[found[1]] = metric{kindOf(collector), found[2], labelsOf(found[3] + "," + found[4])}
		}
	}
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		m := d[family.GetName()]
		m.kind = strings.ToLower(family.GetType().String())
		m.labels = nil
		for _, label := range family.GetMetric()[0].GetLabel() {
			m.labels = append(m.labels, label.GetName())
		}
		slices.Sort(m.labels)
		d[family.GetName()] = m
	}
}

func labelsOf(text string) []string {
	labels := labelName.FindAllString(quoted.ReplaceAllString(text, ""), -1)
	slices.Sort(labels)
	return labels
}

// collectorsOf returns the collectors of a registry, which it doesn't let anybody see.
func collectorsOf(r *prometheus.Registry) map[uint64]prometheus.Collector {
	field := reflect.ValueOf(r).Elem().FieldByName("collectorsByID")
	return *(*map[uint64]prometheus.Collector)(unsafe.Pointer(field.UnsafeAddr()))
}

// kindOf returns the type of the metrics of a collector, which the name of its Go type has.
func kindOf(c prometheus.Collector) string {
	name := strings.ToLower(fmt.Sprintf("%T", c))
	for _, kind := range []string{"counter", "gauge", "histogram", "summary"} {
		if strings.Contains(name, kind) {
			return kind
		}
	}
	return ""
}

// theirs returns the metrics of k8s.io/apiserver, after it has registered all.
func theirs(t *testing.T) described {
	t.Helper()
	routes.DefaultMetrics{}.Install(mux.NewPathRecorderMux("metrics"))
	manifestmetrics.RegisterMetrics()
	authenticatorfactory.RegisterMetrics()
	authorizerfactory.RegisterMetrics()
	authorizationcel.RegisterMetrics()
	authorizationmetrics.RegisterMetrics()
	filters.RegisterMetrics()
	impersonationmetrics.RegisterMetrics()
	authenticationconfig.RegisterMetrics()
	authorizationconfig.RegisterMetrics()
	encryptionconfig.RegisterMetrics()
	value.RegisterMetrics()
	all := described{}
	all.add(t, legacyregistry.Registerer().(*prometheus.Registry))
	return all
}

// ours returns the metrics of a standalone server that audits.
func ours(t *testing.T) described {
	t.Helper()
	var (
		registries []*prometheus.Registry
		groups     []registry.Group
	)
	features := append(builtin.Standalone(), &auditlog.Feature{})
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, feature := range features {
		feature.AddFlags(flags)
		groups = append(groups, feature.Groups()...)
	}
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	const metadata = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"
	if err := os.WriteFile(policy, []byte(metadata), 0o600); err != nil {
		t.Fatal(err)
	}
	err := flags.Parse([]string{"--audit-policy-file=" + policy, "--audit-log-path=" + policy + ".log"})
	if err != nil {
		t.Fatal(err)
	}
	s := apitest.StartWith(t, func(c *server.Config) {
		c.DataDir = t.TempDir()
		for _, feature := range features {
			if err := c.Use(t.Context(), feature); err != nil {
				t.Fatal(err)
			}
		}
		scraped := c.Scraped
		c.Scraped = func(g prometheus.Gatherer) http.Handler {
			registries = append(registries, g.(*prometheus.Registry))
			return scraped(g)
		}
	}, groups...)
	response, err := s.Client.Get(s.URL + "/api/v1/namespaces/default/configmaps")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	all := described{}
	for _, r := range registries {
		all.add(t, r)
	}
	return all
}

// absent are STABLE and BETA metrics that a standalone server doesn't have, and why; and metrics that it has otherwise.
var absent = map[string]string{
	"apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds": inFile,
	"apiserver_authentication_config_controller_automatic_reloads_total":                 inFile,
	"apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds":  inFile,
	"apiserver_authorization_config_controller_automatic_reloads_total":                  inFile,
	"apiserver_cel_compilation_duration_seconds":                                         unused,
	"apiserver_cel_evaluation_duration_seconds":                                          unused,
	"apiserver_storage_size_bytes": "the server of this test stores in memory; one on etcd has it, without a label, " +
		"because it has one etcd",
	"apiserver_validation_declarative_validation_mismatch_total": oneValidation,
	"apiserver_validation_declarative_validation_panic_total":    oneValidation,
	"apiserver_webhooks_x509_insecure_sha1_total":                oldCertificates,
	"apiserver_webhooks_x509_missing_san_total":                  oldCertificates,
	"disabled_metrics_total":                                     framework,
	"hidden_metrics_total":                                       framework,
	"kubernetes_feature_enabled":                                 "there are no feature gates",
	"registered_metrics_total":                                   framework,
}

const (
	inFile          = "a server whose configuration comes from a file has it, and this one has no such file"
	unused          = "k8s.io/apiserver registers it, and observes nothing with it"
	oneValidation   = "a kind has one validation, so there is nothing to compare or to fall back to"
	oldCertificates = "Go refuses such certificates, and the call is counted as failed"
	framework       = "it is about k8s.io/component-base, which hides metrics by their age"
)

// TestMetrics: a metric whose name k8s.io/apiserver has is of the same type and has the same labels, and each that
// k8s.io/apiserver promises to keep (STABLE and BETA) is there, except for those that the table gives a reason for.
func TestMetrics(t *testing.T) {
	here, there := ours(t), theirs(t)
	same, promises := 0, 0
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") {
			continue
		}
		want := there[name]
		promised := want.stability == "STABLE" || want.stability == "BETA"
		got, found := here[name]
		fits := found && slices.Equal(got.labels, want.labels) &&
			(got.kind == want.kind || got.kind == "" || want.kind == "")
		switch why, listed := absent[name]; {
		case listed && (fits || !found && !promised):
			t.Errorf("%s is listed as absent (%s), and is not", name, why)
		case !listed && found && !fits:
			t.Errorf("%s is a %s with the labels %v, want a %s with %v", name, got.kind, got.labels, want.kind,
				want.labels)
		case !listed && !found && promised:
			t.Errorf("there is no %s, which is %s: a %s with the labels %v", name, want.stability, want.kind,
				want.labels)
		}
		if fits {
			same++
		}
		if promised {
			promises++
		}
	}
	for name := range absent {
		if _, known := there[name]; !known {
			t.Errorf("%s is listed, and k8s.io/apiserver doesn't have it", name)
		}
	}
	if same < 60 || promises < 35 {
		t.Errorf("only %d metrics are the same, and %d are promised: are they all registered?", same, promises)
	}
	t.Logf("%d metrics are the same, and %d are promised", same, promises)
}
