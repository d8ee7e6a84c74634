// Package apigen has no code of its own: this directory holds the test of the house's floors.
package apigen

import (
	"bytes"
	"debug/elf"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const module = "apigen.dev"

// floors is the table of who may import whom, of our own packages: a package may import those of its line and nobody
// else of ours. "x/..." means x and all below it. A package that is not in the table fails the test: whoever adds one
// decides here on which floor it stands.
var floors = map[string][]string{
	"cmd/apigen": {
		"generator", "generator/compat", "generator/dev", "generator/emit", "generator/fromcrd", "generator/load",
		"generator/marker", "generator/scaffold", "generator/staging",
	},

	"generator": {
		"generator/compat", "generator/diag", "generator/emit/...", "generator/load", "generator/model",
		"generator/plan", "generator/resolve", "generator/verify",
	},
	"generator/compat": {"generator/model", "generator/schema"},
	"generator/dev":    {"generator", "generator/compat", "generator/model"},
	"generator/diag":   {},
	"generator/emit":   {"generator/diag", "generator/model", "generator/plan"},
	"generator/emit/applyconfig": {
		"generator/emit", "generator/emit/layout", "generator/model", "generator/plan", "generator/plan/clientset",
		"generator/spelling",
	},
	"generator/emit/clients": {"generator/emit", "generator/emit/layout", "generator/plan/clientset"},
	"generator/emit/conversion": {
		"generator/diag", "generator/emit", "generator/emit/gocode", "generator/model", "generator/plan",
		"generator/spelling",
	},
	"generator/emit/crd": {
		"generator/diag", "generator/emit", "generator/model", "generator/plan", "generator/plan/hook",
		"generator/schema",
	},
	"generator/emit/deepcopy": {
		"generator/diag", "generator/emit", "generator/emit/gocode", "generator/model", "generator/plan",
	},
	"generator/emit/defaults": {
		"generator/diag", "generator/emit", "generator/emit/gocode", "generator/model", "generator/plan",
		"generator/spelling",
	},
	"generator/emit/emittest": {
		"generator/emit", "generator/load", "generator/loadtest", "generator/model", "generator/plan",
		"generator/resolve",
	},
	"generator/emit/gocode": {"generator/diag", "generator/emit", "generator/model", "generator/plan"},
	"generator/emit/groups": {
		"generator/diag", "generator/emit", "generator/emit/gocode", "generator/model", "generator/plan",
	},
	"generator/emit/informers": {"generator/emit", "generator/emit/layout", "generator/plan/clientset"},
	"generator/emit/layout": {
		"generator/emit", "generator/model", "generator/plan", "generator/plan/clientset", "templates",
	},
	"generator/emit/listers": {"generator/emit", "generator/emit/layout", "generator/plan/clientset"},
	"generator/emit/openapi": {
		"generator/diag", "generator/emit", "generator/emit/gocode", "generator/model", "generator/plan",
		"generator/schema", "generator/spelling",
	},
	"generator/emit/reference": {
		"generator/diag", "generator/emit", "generator/model", "generator/plan", "generator/schema", "templates",
	},
	"generator/emit/register": {
		"generator/diag", "generator/emit", "generator/emit/gocode", "generator/model", "generator/plan",
	},
	"generator/emit/roundtrip": {
		"generator/emit", "generator/emit/gocode", "generator/model", "generator/plan",
	},
	"generator/emit/rules": {
		"generator/diag", "generator/emit", "generator/emit/gocode", "generator/model", "generator/plan",
		"generator/plan/expression", "generator/spelling", "runtime/cel",
	},
	"generator/emit/validation": {
		"generator/diag", "generator/emit", "generator/emit/gocode", "generator/model", "generator/plan",
		"generator/plan/check", "generator/schema",
	},
	"generator/emit/wiring": {
		"generator/diag", "generator/emit", "generator/emit/gocode", "generator/model", "generator/plan",
		"generator/plan/contextual", "generator/plan/hook", "generator/plan/serving", "generator/spelling",
	},
	"generator/fromcrd":  {"generator/model", "generator/spelling"},
	"generator/judge":    {"generator/diag", "generator/model", "generator/spelling"},
	"generator/load":     {"generator/diag", "generator/marker", "generator/model", "generator/staging"},
	"generator/loadtest": {"generator/load", "generator/model", "generator/resolve"},
	"generator/marker":   {"generator/diag", "generator/model", "generator/spelling"},
	"generator/model":    {},
	"generator/plan": {
		"generator/diag", "generator/model", "generator/plan/check", "generator/plan/clientset",
		"generator/plan/contextual", "generator/plan/expression", "generator/plan/hook", "generator/plan/serving",
		"generator/spelling",
	},
	"generator/plan/check":      {"generator/diag", "generator/model", "generator/schema"},
	"generator/plan/clientset":  {"generator/diag", "generator/model", "generator/spelling"},
	"generator/plan/contextual": {"generator/model"},
	"generator/plan/expression": {
		"generator/model", "generator/schema", "generator/spelling", "runtime/cel",
	},
	"generator/plan/hook": {
		"generator/diag", "generator/model", "generator/plan/contextual", "generator/spelling",
	},
	"generator/plan/serving": {"generator/diag", "generator/model", "generator/schema"},
	"generator/resolve": {
		"generator/diag", "generator/judge", "generator/load", "generator/marker", "generator/model",
	},
	"generator/scaffold": {"generator/model", "generator/staging", "templates"},
	"generator/schema":   {"generator/model"},
	"generator/spelling": {},
	"generator/staging":  {},
	"generator/verify":   {"generator/diag", "generator/emit", "generator/load", "generator/model"},

	"templates": {},

	"runtime/admission": {"runtime/api", "runtime/audit", "runtime/auth", "runtime/internal/timing"},
	"runtime/api":       {},
	"runtime/apitest": {
		"runtime/auth", "runtime/registry", "runtime/server", "runtime/storage", "runtime/storage/memory",
	},
	"runtime/audit": {"runtime/auth", "runtime/internal/request"},
	"runtime/auth":  {"runtime/internal/request"},
	"runtime/builtin": {
		"runtime/admission/...", "runtime/builtin/...", "runtime/builtin/observability",
		"runtime/builtin/serviceaccount", "runtime/builtin/services", "runtime/server",
	},
	"runtime/builtin/admissionregistration": {
		"runtime/builtin/admissionregistration/wiring", "runtime/server",
	},
	"runtime/builtin/admissionregistration/v1": {
		"runtime/auth", "runtime/internal/access/policy", "runtime/internal/request", "runtime/reach",
	},
	"runtime/builtin/admissionregistration/wiring": {
		"runtime/api", "runtime/builtin/admissionregistration/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/apiextensions": {
		"runtime/builtin/apiextensions/v1", "runtime/builtin/apiextensions/wiring", "runtime/internal/custom/dynamic",
		"runtime/internal/host/kubeconfig", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/apiextensions/v1": {
		"runtime/builtin/admissionregistration/v1", "runtime/cel", "runtime/internal/custom/structural",
		"runtime/internal/jsonpath",
	},
	"runtime/builtin/apiextensions/wiring": {
		"runtime/api", "runtime/builtin/apiextensions/v1", "runtime/codec", "runtime/internal/custom/crdjson",
		"runtime/registry",
	},
	"runtime/builtin/apiregistration": {
		"runtime/api", "runtime/auth", "runtime/builtin/apiregistration/v1", "runtime/builtin/apiregistration/wiring",
		"runtime/builtin/frontproxy", "runtime/internal/host/certs", "runtime/internal/http/discovery",
		"runtime/internal/http/proxy", "runtime/internal/http/respond", "runtime/internal/reload", "runtime/reach",
		"runtime/registry", "runtime/server",
	},
	"runtime/builtin/apiregistration/v1": {},
	"runtime/builtin/apiregistration/wiring": {
		"runtime/api", "runtime/builtin/apiregistration/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/auditlog": {
		"runtime/audit", "runtime/internal/audit/backend", "runtime/internal/audit/policy",
		"runtime/internal/host/kubeconfig", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/authentication": {
		"runtime/auth", "runtime/builtin/authentication/wiring", "runtime/server",
	},
	"runtime/builtin/authentication/v1": {},
	"runtime/builtin/authentication/wiring": {
		"runtime/api", "runtime/builtin/authentication/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/authorization": {
		"runtime/auth", "runtime/builtin/authorization/wiring", "runtime/internal/request", "runtime/server",
	},
	"runtime/builtin/authorization/v1": {},
	"runtime/builtin/authorization/wiring": {
		"runtime/api", "runtime/builtin/authorization/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/certificates":    {"runtime/builtin/certificates/wiring", "runtime/server"},
	"runtime/builtin/certificates/v1": {"runtime/auth"},
	"runtime/builtin/certificates/wiring": {
		"runtime/api", "runtime/builtin/certificates/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/chain": {
		"runtime/auth", "runtime/builtin/webhookauth", "runtime/cel", "runtime/internal/access/meter",
		"runtime/internal/host/kubeconfig", "runtime/internal/reload", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/cluster":         {"runtime/internal/host/kubeconfig", "runtime/registry", "runtime/server"},
	"runtime/builtin/coordination":    {"runtime/builtin/coordination/wiring", "runtime/server"},
	"runtime/builtin/coordination/v1": {},
	"runtime/builtin/coordination/wiring": {
		"runtime/api", "runtime/builtin/coordination/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/core":    {"runtime/builtin/core/wiring", "runtime/registry", "runtime/server"},
	"runtime/builtin/core/v1": {"runtime/auth", "runtime/reach"},
	"runtime/builtin/core/wiring": {
		"runtime/api", "runtime/builtin/authentication/v1", "runtime/builtin/core/v1", "runtime/codec",
		"runtime/registry", "runtime/subresource",
	},
	"runtime/builtin/delegated": {
		"runtime/auth", "runtime/builtin/frontproxy", "runtime/builtin/webhookauth", "runtime/internal/access/meter",
		"runtime/internal/host/certs", "runtime/internal/host/kubeconfig", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/events":    {"runtime/builtin/events/wiring", "runtime/server"},
	"runtime/builtin/events/v1": {"runtime/builtin/core/v1"},
	"runtime/builtin/events/wiring": {
		"runtime/api", "runtime/builtin/core/v1", "runtime/builtin/events/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/flowcontrol": {
		"runtime/builtin/flowcontrol/preset", "runtime/builtin/flowcontrol/wiring", "runtime/internal/flow/...",
		"runtime/internal/http/filter", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/flowcontrol/preset": {},
	"runtime/builtin/flowcontrol/v1": {
		"runtime/builtin/flowcontrol/preset", "runtime/internal/flow/queue",
	},
	"runtime/builtin/flowcontrol/wiring": {
		"runtime/api", "runtime/builtin/flowcontrol/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/frontproxy": {
		"runtime/auth", "runtime/internal/host/certs", "runtime/internal/reload", "runtime/registry",
		"runtime/server",
	},
	"runtime/builtin/lifecycle": {
		"runtime/admission", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/node": {
		"runtime/auth", "runtime/internal/access/rbac", "runtime/internal/request", "runtime/reach", "runtime/server",
	},
	"runtime/builtin/observability": {
		"runtime/internal/http/filter", "runtime/internal/http/scrape", "runtime/internal/http/zpages",
		"runtime/internal/timing", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/oidc": {
		"runtime/auth", "runtime/cel", "runtime/internal/access/meter", "runtime/internal/access/tokencache",
		"runtime/internal/reload", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/plugins": {
		"runtime/admission", "runtime/api", "runtime/auth", "runtime/internal/object/metadata",
		"runtime/internal/request", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/podsecurity": {
		"runtime/admission", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/policy": {
		"runtime/admission", "runtime/api", "runtime/builtin/admissionregistration/v1", "runtime/cel",
		"runtime/internal/access/manifest", "runtime/internal/access/match", "runtime/internal/access/policy",
		"runtime/internal/object/patch", "runtime/internal/reload", "runtime/reach", "runtime/registry",
		"runtime/server",
	},
	"runtime/builtin/quota": {
		"runtime/admission", "runtime/auth", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/rbac": {
		"runtime/api", "runtime/auth", "runtime/builtin/rbac/wiring", "runtime/internal/access/rbac",
		"runtime/registry", "runtime/server",
	},
	"runtime/builtin/rbac/v1": {"runtime/auth", "runtime/internal/access/rbac"},
	"runtime/builtin/rbac/wiring": {
		"runtime/api", "runtime/builtin/rbac/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/serviceaccount": {
		"runtime/audit", "runtime/auth", "runtime/internal/access/meter", "runtime/internal/access/tokencache",
		"runtime/internal/reload", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/services": {"runtime/internal/http/proxy", "runtime/registry", "runtime/server"},
	"runtime/builtin/tracing": {
		"runtime/internal/http/filter", "runtime/internal/request", "runtime/internal/timing", "runtime/registry",
		"runtime/server",
	},
	"runtime/builtin/trust": {"runtime/builtin/frontproxy", "runtime/reach", "runtime/server"},
	"runtime/builtin/webhook": {
		"runtime/admission", "runtime/api", "runtime/auth", "runtime/builtin/admissionregistration/v1",
		"runtime/internal/access/manifest", "runtime/internal/access/match", "runtime/internal/access/policy",
		"runtime/internal/host/kubeconfig", "runtime/internal/object/patch", "runtime/internal/reload",
		"runtime/internal/review", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/webhookauth": {
		"runtime/auth", "runtime/internal/access/meter", "runtime/internal/access/tokencache",
		"runtime/internal/host/kubeconfig", "runtime/internal/request", "runtime/internal/review", "runtime/registry",
		"runtime/server",
	},
	"runtime/cel": {},
	"runtime/codec": {
		"runtime/api", "runtime/internal/object/patch", "runtime/internal/object/rendition",
		"runtime/internal/object/wire",
	},
	"runtime/internal/access/manifest": {"runtime/internal/reload"},
	"runtime/internal/access/match": {
		"runtime/admission", "runtime/auth", "runtime/internal/access/policy", "runtime/internal/request",
		"runtime/reach",
	},
	"runtime/internal/access/meter":  {"runtime/auth"},
	"runtime/internal/access/policy": {"runtime/auth", "runtime/cel", "runtime/internal/request"},
	"runtime/internal/access/rbac": {
		"runtime/api", "runtime/auth", "runtime/internal/request", "runtime/reach",
	},
	"runtime/internal/access/tokencache": {
		"runtime/audit", "runtime/auth", "runtime/internal/access/meter",
	},
	"runtime/internal/audit/backend":  {"runtime/audit"},
	"runtime/internal/audit/policy":   {"runtime/audit", "runtime/auth"},
	"runtime/internal/btree":          {},
	"runtime/internal/collector":      {"runtime/api", "runtime/internal/objects", "runtime/registry"},
	"runtime/internal/custom/crdjson": {},
	"runtime/internal/custom/dynamic": {
		"runtime/api", "runtime/cel", "runtime/codec", "runtime/internal/custom/crdjson",
		"runtime/internal/custom/structural", "runtime/internal/jsonpath", "runtime/internal/request",
		"runtime/registry", "runtime/subresource",
	},
	"runtime/internal/custom/structural": {"runtime/cel"},
	"runtime/internal/flow": {
		"runtime/auth", "runtime/internal/flow/class", "runtime/internal/flow/cost", "runtime/internal/flow/queue",
		"runtime/internal/flow/share", "runtime/internal/request",
	},
	"runtime/internal/flow/class":      {"runtime/auth", "runtime/internal/request"},
	"runtime/internal/flow/cost":       {"runtime/internal/flow/queue", "runtime/internal/request"},
	"runtime/internal/flow/queue":      {},
	"runtime/internal/flow/share":      {},
	"runtime/internal/host/certs":      {"runtime/auth", "runtime/internal/reload"},
	"runtime/internal/host/kubeconfig": {"runtime/internal/reload"},
	"runtime/internal/host/seal":       {},
	"runtime/internal/http/apigroups": {
		"runtime/api", "runtime/internal/http/discovery", "runtime/internal/http/endpoint", "runtime/registry",
	},
	"runtime/internal/http/discovery": {
		"runtime/api", "runtime/internal/http/encoder", "runtime/internal/http/negotiation",
		"runtime/internal/http/openapi", "runtime/internal/http/respond", "runtime/internal/object/wire",
		"runtime/internal/request",
	},
	"runtime/internal/http/encoder": {"runtime/api", "runtime/internal/object/wire"},
	"runtime/internal/http/endpoint": {
		"runtime/api", "runtime/audit", "runtime/codec", "runtime/internal/http/discovery",
		"runtime/internal/http/encoder", "runtime/internal/http/negotiation", "runtime/internal/http/respond",
		"runtime/internal/object/rendition", "runtime/internal/object/wire", "runtime/internal/request",
		"runtime/internal/state/store", "runtime/reach", "runtime/registry", "runtime/subresource",
	},
	"runtime/internal/http/filter": {
		"runtime/audit", "runtime/auth", "runtime/internal/flow", "runtime/internal/flow/cost",
		"runtime/internal/http/respond", "runtime/internal/request", "runtime/internal/timing",
	},
	"runtime/internal/http/gather":      {},
	"runtime/internal/http/health":      {"runtime/auth", "runtime/storage"},
	"runtime/internal/http/loopback":    {},
	"runtime/internal/http/negotiation": {"runtime/api"},
	"runtime/internal/http/openapi":     {},
	"runtime/internal/http/proxy": {
		"runtime/auth", "runtime/internal/host/certs", "runtime/internal/request",
	},
	"runtime/internal/http/respond": {
		"runtime/api", "runtime/audit", "runtime/internal/http/encoder", "runtime/internal/http/negotiation",
		"runtime/internal/object/wire",
	},
	"runtime/internal/http/scrape": {},
	"runtime/internal/http/traffic": {
		"runtime/internal/http/filter", "runtime/internal/request", "runtime/internal/timing",
	},
	"runtime/internal/http/zpages": {
		"runtime/internal/http/negotiation", "runtime/internal/http/respond",
	},
	"runtime/internal/hub":              {"runtime/admission", "runtime/api", "runtime/codec"},
	"runtime/internal/jsonpath":         {},
	"runtime/internal/object/metadata":  {"runtime/api"},
	"runtime/internal/object/ownership": {"runtime/api"},
	"runtime/internal/object/patch":     {"runtime/api", "runtime/internal/object/rendition"},
	"runtime/internal/object/rendition": {"runtime/api", "runtime/internal/object/wire"},
	"runtime/internal/object/wire":      {},
	"runtime/internal/objects": {
		"runtime/api", "runtime/internal/object/metadata", "runtime/internal/object/rendition", "runtime/reach",
	},
	"runtime/internal/reload":  {},
	"runtime/internal/request": {},
	"runtime/internal/review":  {},
	"runtime/internal/state/cache": {
		"runtime/api", "runtime/internal/btree", "runtime/internal/timing", "runtime/storage",
	},
	"runtime/internal/state/compactor": {"runtime/storage"},
	"runtime/internal/state/store": {
		"runtime/api", "runtime/internal/object/rendition", "runtime/internal/object/wire",
		"runtime/internal/state/cache", "runtime/storage",
	},
	"runtime/internal/timing": {},
	"runtime/leader":          {"runtime/reach"},
	"runtime/reach":           {},
	"runtime/registry": {
		"runtime/admission", "runtime/api", "runtime/auth", "runtime/codec", "runtime/internal/hub",
		"runtime/internal/object/metadata", "runtime/internal/object/ownership", "runtime/internal/object/patch",
		"runtime/internal/object/rendition", "runtime/internal/objects", "runtime/internal/state/cache",
		"runtime/internal/state/store", "runtime/storage", "runtime/subresource",
	},
	"runtime/roundtrip": {},
	"runtime/server": {
		"runtime/admission", "runtime/api", "runtime/audit", "runtime/auth", "runtime/internal/access/meter",
		"runtime/internal/collector", "runtime/internal/host/certs", "runtime/internal/host/kubeconfig",
		"runtime/internal/host/seal", "runtime/internal/http/apigroups", "runtime/internal/http/endpoint",
		"runtime/internal/http/filter", "runtime/internal/http/gather", "runtime/internal/http/health",
		"runtime/internal/http/loopback", "runtime/internal/http/respond", "runtime/internal/http/traffic",
		"runtime/internal/http/zpages", "runtime/internal/object/ownership", "runtime/internal/objects",
		"runtime/internal/reload", "runtime/internal/request", "runtime/internal/state/cache",
		"runtime/internal/state/compactor", "runtime/internal/state/store", "runtime/internal/timing",
		"runtime/reach", "runtime/registry", "runtime/storage", "runtime/storage/etcd",
	},
	"runtime/storage":                    {},
	"runtime/storage/embedded":           {"runtime/storage", "runtime/storage/etcd"},
	"runtime/storage/etcd":               {"runtime/internal/reload", "runtime/storage"},
	"runtime/storage/etcd/etcdtest":      {},
	"runtime/storage/etcd/etcdtest/etcd": {},
	"runtime/storage/memory":             {"runtime/internal/btree", "runtime/storage"},
	"runtime/storage/storagetest":        {"runtime/storage"},
	"runtime/subresource": {
		"runtime/admission", "runtime/api", "runtime/auth", "runtime/codec", "runtime/internal/hub",
		"runtime/internal/object/metadata", "runtime/internal/object/ownership", "runtime/internal/object/patch",
		"runtime/internal/object/rendition", "runtime/internal/object/wire", "runtime/internal/request",
		"runtime/internal/state/store", "runtime/reach",
	},
}

// holders is the table of who may import what of others: a path prefix, and the packages that may.
var holders = map[string][]string{
	"golang.org/x/tools":               {"generator/load"},
	"k8s.io/gengo":                     {"generator/marker"},
	"github.com/dave/jennifer":         {"generator/emit/..."},
	"go.etcd.io":                       {"runtime/storage/embedded", "runtime/storage/etcd/..."},
	"github.com/google/cel-go":         {"runtime/cel", "runtime/internal/access/policy"},
	"github.com/gobuffalo/flect":       {"generator/model"},
	"github.com/spf13":                 {"cmd/apigen", "runtime/builtin/...", "runtime/server"},
	"github.com/coreos/go-oidc":        {"runtime/builtin/oidc"},
	"github.com/go-jose/go-jose":       {"runtime/builtin/oidc"},
	"gopkg.in/natefinch/lumberjack.v2": {"runtime/builtin/auditlog"},
	"golang.org/x/crypto":              {"runtime/internal/host/seal"},
	"golang.org/x/net":                 {"runtime/internal/http/endpoint"},
	"github.com/google/gnostic-models": {},
	"k8s.io/apiserver":                 {},
	"k8s.io/client-go":                 {},
	"k8s.io/kube-aggregator":           {},
	"k8s.io/kubernetes":                {},
	"sigs.k8s.io/controller-runtime":   {},
}

// TestFloors holds every package's imports, tests aside, against the two tables.
func TestFloors(t *testing.T) {
	for dir, p := range packages(t) {
		if exempt(dir) {
			continue
		}
		allowed, known := floors[dir]
		if !known {
			t.Errorf("%s stands on no floor: add it to the table", dir)
			continue
		}
		for _, imported := range p.imports {
			if own, ok := strings.CutPrefix(imported, module+"/"); ok {
				if !matches(own, allowed) {
					t.Errorf("%s imports %s, which the floors forbid", dir, own)
				}
				continue
			}
			for prefix, may := range holders {
				if (imported == prefix || strings.HasPrefix(imported, prefix+"/")) && !matches(dir, may) {
					t.Errorf("%s imports %s, which only %v may", dir, imported, may)
				}
			}
		}
	}
}

// exempt tells the packages that the table does not list: examples, fixtures, and this directory.
func exempt(dir string) bool {
	return dir == "." || strings.HasPrefix(dir, "examples/") || strings.HasPrefix(dir, "docs/") ||
		dir == "runtime/internal/shop" || dir == "runtime/internal/testbed" ||
		strings.HasPrefix(dir, "generator/emit/") && strings.Contains(dir, "/internal/")
}

// TestFoldersHaveNoCycles: the folders that a reader sees import each other in one direction, as packages do.
func TestFoldersHaveNoCycles(t *testing.T) {
	imports := map[string]map[string]string{} // by folder, the folders that it imports, each with an import
	for dir, p := range packages(t) {
		if exempt(dir) {
			continue
		}
		from := folderOf(dir)
		for _, imported := range p.imports {
			own, ok := strings.CutPrefix(imported, module+"/")
			if to := folderOf(own); ok && to != from {
				if imports[from] == nil {
					imports[from] = map[string]string{}
				}
				imports[from][to] = dir + " imports " + own
			}
		}
	}
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(folder string, way []string)
	visit = func(folder string, way []string) {
		state[folder] = open
		for to, why := range imports[folder] {
			if state[to] == open {
				t.Errorf("a cycle of folders that ends at %s:\n%s", to, strings.Join(append(way, why), "\n"))
			} else if state[to] != done {
				visit(to, append(slices.Clip(way), why))
			}
		}
		state[folder] = done
	}
	for folder := range imports {
		if state[folder] != done {
			visit(folder, nil)
		}
	}
}

// folderOf returns the folder that a package is in for a reader of the tree: the one below generator or runtime, or
// below runtime/internal.
func folderOf(dir string) string {
	elements := strings.Split(dir, "/")
	deep := 2
	if len(elements) > 2 && elements[1] == "internal" {
		deep = 3
	}
	return strings.Join(elements[:min(deep, len(elements))], "/")
}

// TestHalvesAreApart: the generator and the runtime share nothing of ours but the leaf runtime/cel.
func TestHalvesAreApart(t *testing.T) {
	for dir, p := range packages(t) {
		for _, imported := range p.imports {
			own, ok := strings.CutPrefix(imported, module+"/")
			if ok && strings.HasPrefix(dir, "runtime/") && strings.HasPrefix(own, "generator") ||
				ok && strings.HasPrefix(dir, "generator") && strings.HasPrefix(own, "runtime/") &&
					own != "runtime/cel" {
				t.Errorf("%s imports %s", dir, own)
			}
		}
	}
}

// sharedByEmitters are the packages below generator/emit that are no emitters: what files and emitters are, what prints
// Go declarations and files of clients from templates, and what tests emitters. An emitter may import them and no
// other.
var sharedByEmitters = []string{
	"generator/emit", "generator/emit/emittest", "generator/emit/gocode", "generator/emit/layout",
}

// TestEmittersAreApart: no emitter imports another one. What two of them need to know is decided in generator/plan.
func TestEmittersAreApart(t *testing.T) {
	for dir, p := range packages(t) {
		if !strings.HasPrefix(dir, "generator/emit") || exempt(dir) {
			continue
		}
		for _, imported := range p.imports {
			own, ok := strings.CutPrefix(imported, module+"/")
			if ok && strings.HasPrefix(own, "generator/emit") && !matches(own, sharedByEmitters) {
				t.Errorf("%s imports the emitter %s: decide in generator/plan what both need", dir, own)
			}
		}
	}
}

// maxLines bounds a package: a reader takes it in at a few sittings.
const maxLines = 4000

// TestPackagesAreSmall: no package has more hand-written code than maxLines.
func TestPackagesAreSmall(t *testing.T) {
	for dir, p := range packages(t) {
		if p.lines > maxLines {
			t.Errorf("%s has %d lines, more than %d: divide it along its responsibilities", dir, p.lines, maxLines)
		}
	}
}

// optional are modules that only features bring, which a main names: a server without features links none of them.
var optional = []string{
	"github.com/coreos/go-oidc", "github.com/go-jose/go-jose", "github.com/google/cel-go", "golang.org/x/oauth2",
	"go.opentelemetry.io/otel/exporters", "go.opentelemetry.io/otel/sdk", "gopkg.in/natefinch/lumberjack.v2",
	"k8s.io/api",
}

// TestLeanServer: a server links no module of a feature, and is about as large as it was before there were features.
func TestLeanServer(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./runtime/server").Output()
	if err != nil {
		t.Fatal(err)
	}
	for imported := range strings.FieldsSeq(string(out)) {
		for _, prefix := range optional {
			if imported == prefix || strings.HasPrefix(imported, prefix+"/") {
				t.Errorf("runtime/server links %s", imported)
			}
		}
	}
	// The size is that of the code and of the data. The tables beside them hold the paths of source files, so that they
	// depend on the folders of the module cache and of the checkout. It was measured with one compiler; others make
	// binaries of other sizes.
	const compiler, size, growth = "go1.26", 16_143_717, 70_000
	if !strings.HasPrefix(runtime.Version(), compiler+".") || runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		t.Logf("the size is not compared: it was measured with %s on linux/amd64", compiler)
		return
	}
	binary := filepath.Join(t.TempDir(), "lean")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", binary,
		"./runtime/server/testdata/lean")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := sizeOfSections(t, binary, ".text", ".rodata", ".data", ".noptrdata")
	t.Logf("%d bytes, %+d", got, int64(got)-size)
	if got > size+growth {
		t.Errorf("a server without features has %d bytes, more than %d: what grew belongs in a feature", got,
			size+growth)
	}
}

// sizeOfSections returns the sum of the sizes of a binary's sections, each of which the binary must have.
func sizeOfSections(t *testing.T, binary string, names ...string) uint64 {
	t.Helper()
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var sum uint64
	for _, name := range names {
		section := f.Section(name)
		if section == nil {
			t.Fatalf("the server's binary has no section %s", name)
		}
		sum += section.Size
	}
	return sum
}

func matches(path string, patterns []string) bool {
	for _, pattern := range patterns {
		base, tree := strings.CutSuffix(pattern, "/...")
		if path == pattern || tree && (path == base || strings.HasPrefix(path, base+"/")) {
			return true
		}
	}
	return false
}

// pkg is what the tests hold a package to.
type pkg struct {
	imports []string
	// lines counts the lines of hand-written code, tests aside.
	lines int
}

// packages returns every package of the main module, by directory, without tests.
func packages(t *testing.T) map[string]pkg {
	t.Helper()
	found := map[string]pkg{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			name := entry.Name()
			if path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || isModule(path)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		found[dir], err = found[dir].with(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// with adds a file to a package.
func (p pkg) with(path string) (pkg, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return p, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
	if err != nil {
		return p, err
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return p, err
		}
		p.imports = append(p.imports, imported)
	}
	sort.Strings(p.imports)
	if !strings.HasPrefix(filepath.Base(path), "zz_generated.") {
		p.lines += bytes.Count(text, []byte("\n"))
	}
	return p, nil
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
