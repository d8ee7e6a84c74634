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
		"generator", "generator/compat", "generator/dev", "generator/fromcrd", "generator/marker", "generator/scaffold",
		"generator/emit", "generator/load", "generator/staging",
	},

	"generator": {
		"generator/compat", "generator/diag", "generator/emit/...", "generator/load", "generator/model",
		"generator/plan", "generator/resolve", "generator/verify",
	},
	"generator/compat": {"generator/model", "generator/schema"},
	"generator/dev":    {"generator", "generator/compat", "generator/model"},
	"generator/diag":   {},
	"generator/emit":   {"generator/diag", "generator/model", "generator/plan"},
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
	"generator/emit/roundtrip": {"generator/emit", "generator/emit/gocode", "generator/model", "generator/plan"},
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
	"generator/plan/expression": {"generator/model", "generator/schema", "generator/spelling", "runtime/cel"},
	"generator/plan/hook": {
		"generator/diag", "generator/model", "generator/plan/contextual", "generator/spelling",
	},
	"generator/plan/serving": {"generator/diag", "generator/model", "generator/schema"},
	"generator/resolve": {
		"generator/diag", "generator/judge", "generator/load", "generator/marker", "generator/model",
	},
	"generator/schema":   {"generator/model"},
	"generator/fromcrd":  {"generator/model", "generator/spelling"},
	"generator/scaffold": {"generator/model", "generator/staging", "templates"},
	"generator/spelling": {},
	"generator/staging":  {},
	"generator/verify":   {"generator/diag", "generator/emit", "generator/load", "generator/model"},
	"templates":          {},

	"generator/emit/applyconfig": {
		"generator/emit", "generator/emit/layout", "generator/model", "generator/plan", "generator/plan/clientset",
		"generator/spelling",
	},
	"generator/emit/clients":   {"generator/emit", "generator/emit/layout", "generator/plan/clientset"},
	"generator/emit/informers": {"generator/emit", "generator/emit/layout", "generator/plan/clientset"},
	"generator/emit/layout": {
		"generator/emit", "generator/model", "generator/plan", "generator/plan/clientset", "templates",
	},
	"generator/emit/listers": {"generator/emit", "generator/emit/layout", "generator/plan/clientset"},

	"runtime/api":                        {},
	"runtime/btree":                      {},
	"runtime/cel":                        {},
	"runtime/crdjson":                    {},
	"runtime/jsonpath":                   {},
	"runtime/structural":                 {"runtime/cel"},
	"runtime/storage":                    {},
	"runtime/storage/storagetest":        {"runtime/storage"},
	"runtime/storage/memory":             {"runtime/btree", "runtime/storage"},
	"runtime/storage/compactor":          {"runtime/storage"},
	"runtime/storage/etcd":               {"runtime/reload", "runtime/storage"},
	"runtime/storage/etcd/etcdtest":      {},
	"runtime/storage/etcd/etcdtest/etcd": {},
	"runtime/storage/embedded":           {"runtime/storage", "runtime/storage/etcd"},
	"runtime/roundtrip":                  {},
	"runtime/wire":                       {},
	"runtime/cache":                      {"runtime/api", "runtime/btree", "runtime/storage", "runtime/timing"},
	"runtime/ownership":                  {"runtime/api"},
	"runtime/reach":                      {},
	"runtime/rendition":                  {"runtime/api", "runtime/wire"},
	"runtime/patch":                      {"runtime/api", "runtime/rendition"},
	"runtime/codec":                      {"runtime/api", "runtime/patch", "runtime/rendition", "runtime/wire"},
	"runtime/metadata":                   {"runtime/api"},
	"runtime/cel/policy":                 {"runtime/auth", "runtime/cel", "runtime/request"},
	"runtime/admission":                  {"runtime/api", "runtime/audit", "runtime/auth", "runtime/timing"},
	"runtime/admission/hub":              {"runtime/admission", "runtime/api", "runtime/codec"},
	"runtime/admission/plugins": {
		"runtime/admission", "runtime/api", "runtime/auth", "runtime/metadata", "runtime/reach", "runtime/registry",
		"runtime/request", "runtime/server",
	},
	"runtime/admission/podsecurity": {
		"runtime/admission", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/admission/quota": {
		"runtime/admission", "runtime/auth", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/admission/lifecycle": {
		"runtime/admission", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/admission/match": {
		"runtime/admission", "runtime/auth", "runtime/cel/policy", "runtime/reach", "runtime/request",
	},
	"runtime/admission/policy": {
		"runtime/admission", "runtime/admission/manifest", "runtime/admission/match", "runtime/api",
		"runtime/builtin/admissionregistration/v1", "runtime/cel", "runtime/cel/policy", "runtime/patch",
		"runtime/reach", "runtime/registry", "runtime/reload", "runtime/server",
	},
	"runtime/admission/manifest": {"runtime/reload"},
	"runtime/admission/webhook": {
		"runtime/admission", "runtime/admission/manifest", "runtime/admission/match", "runtime/api", "runtime/auth",
		"runtime/builtin/admissionregistration/v1", "runtime/cel/policy", "runtime/kubeconfig", "runtime/patch",
		"runtime/reach", "runtime/registry", "runtime/reload", "runtime/review", "runtime/server",
	},
	"runtime/review": {},
	"runtime/subresource": {
		"runtime/admission", "runtime/admission/hub", "runtime/api", "runtime/auth", "runtime/codec",
		"runtime/metadata", "runtime/ownership",
		"runtime/patch", "runtime/reach", "runtime/rendition", "runtime/request", "runtime/store", "runtime/wire",
	},
	"runtime/store": {
		"runtime/api", "runtime/cache", "runtime/rendition", "runtime/storage", "runtime/wire",
	},
	"runtime/objects": {
		"runtime/api", "runtime/metadata", "runtime/reach", "runtime/rendition",
	},
	"runtime/registry": {
		"runtime/admission", "runtime/admission/hub", "runtime/api", "runtime/auth", "runtime/cache", "runtime/codec",
		"runtime/metadata", "runtime/objects", "runtime/ownership",
		"runtime/patch", "runtime/rendition", "runtime/storage", "runtime/store", "runtime/subresource",
	},
	"runtime/collector":   {"runtime/api", "runtime/objects", "runtime/registry"},
	"runtime/request":     {},
	"runtime/negotiation": {"runtime/api"},
	"runtime/encoder":     {"runtime/api", "runtime/wire"},
	"runtime/respond":     {"runtime/api", "runtime/audit", "runtime/encoder", "runtime/negotiation", "runtime/wire"},
	"runtime/discovery": {
		"runtime/api", "runtime/encoder", "runtime/negotiation", "runtime/openapi", "runtime/request",
		"runtime/respond", "runtime/wire",
	},
	"runtime/openapi": {},
	"runtime/endpoint": {
		"runtime/api", "runtime/audit", "runtime/codec", "runtime/discovery", "runtime/encoder", "runtime/negotiation",
		"runtime/reach", "runtime/registry", "runtime/rendition", "runtime/request", "runtime/respond", "runtime/store",
		"runtime/subresource", "runtime/wire",
	},
	"runtime/auth":      {"runtime/request"},
	"runtime/auth/rbac": {"runtime/api", "runtime/auth", "runtime/reach", "runtime/request"},
	"runtime/flow": {
		"runtime/auth", "runtime/flow/class", "runtime/flow/cost", "runtime/flow/queue", "runtime/flow/share",
		"runtime/request",
	},
	"runtime/flow/class": {"runtime/auth", "runtime/request"},
	"runtime/flow/cost":  {"runtime/flow/queue", "runtime/request"},
	"runtime/flow/queue": {},
	"runtime/flow/share": {},
	"runtime/health":     {"runtime/auth", "runtime/storage"},
	"runtime/gather":     {},
	"runtime/scrape":     {},
	"runtime/traffic":    {"runtime/filter", "runtime/request", "runtime/timing"},
	"runtime/tracing": {
		"runtime/filter", "runtime/registry", "runtime/request", "runtime/server", "runtime/timing",
	},
	"runtime/observability": {
		"runtime/filter", "runtime/registry", "runtime/scrape", "runtime/server", "runtime/timing", "runtime/zpages",
	},
	"runtime/timing": {},
	"runtime/filter": {
		"runtime/audit", "runtime/auth", "runtime/flow", "runtime/flow/cost", "runtime/request", "runtime/respond",
		"runtime/timing",
	},
	"runtime/seal":          {},
	"runtime/audit":         {"runtime/auth", "runtime/request"},
	"runtime/audit/backend": {"runtime/audit"},
	"runtime/audit/feature": {
		"runtime/audit", "runtime/audit/backend", "runtime/audit/policy", "runtime/kubeconfig", "runtime/registry",
		"runtime/server",
	},
	"runtime/audit/policy": {"runtime/audit", "runtime/auth"},
	"runtime/auth/node": {
		"runtime/auth", "runtime/auth/rbac", "runtime/reach", "runtime/request", "runtime/server",
	},
	"runtime/auth/oidc": {
		"runtime/auth", "runtime/auth/meter", "runtime/auth/tokencache", "runtime/cel", "runtime/registry",
		"runtime/reload", "runtime/server",
	},
	"runtime/auth/serviceaccount": {
		"runtime/audit", "runtime/auth", "runtime/auth/meter", "runtime/auth/tokencache", "runtime/reach",
		"runtime/registry", "runtime/reload", "runtime/server",
	},
	"runtime/auth/meter":      {"runtime/auth"},
	"runtime/auth/tokencache": {"runtime/audit", "runtime/auth", "runtime/auth/meter"},
	"runtime/reload":          {},
	"runtime/kubeconfig":      {"runtime/reload"},
	"runtime/auth/chain": {
		"runtime/auth", "runtime/auth/meter", "runtime/auth/webhook", "runtime/cel", "runtime/kubeconfig",
		"runtime/registry", "runtime/reload", "runtime/server",
	},
	"runtime/auth/delegated": {
		"runtime/auth", "runtime/auth/frontproxy", "runtime/auth/meter", "runtime/auth/webhook", "runtime/certs",
		"runtime/kubeconfig", "runtime/registry", "runtime/server",
	},
	"runtime/auth/frontproxy": {
		"runtime/auth", "runtime/certs", "runtime/registry", "runtime/reload", "runtime/server",
	},
	"runtime/auth/webhook": {
		"runtime/auth", "runtime/auth/meter", "runtime/auth/tokencache", "runtime/kubeconfig", "runtime/registry",
		"runtime/request", "runtime/review", "runtime/server",
	},
	"runtime/zpages":    {"runtime/negotiation", "runtime/respond"},
	"runtime/leader":    {"runtime/reach"},
	"runtime/loopback":  {},
	"runtime/proxy":     {"runtime/auth", "runtime/certs", "runtime/request"},
	"runtime/services":  {"runtime/proxy", "runtime/registry", "runtime/server"},
	"runtime/apigroups": {"runtime/api", "runtime/discovery", "runtime/endpoint", "runtime/registry"},
	"runtime/dynamic": {
		"runtime/api", "runtime/cel", "runtime/codec", "runtime/crdjson", "runtime/jsonpath", "runtime/registry",
		"runtime/request", "runtime/structural", "runtime/subresource",
	},
	"runtime/server": {
		"runtime/admission", "runtime/api", "runtime/apigroups", "runtime/audit", "runtime/auth",
		"runtime/auth/meter", "runtime/cache", "runtime/certs",
		"runtime/collector",
		"runtime/endpoint", "runtime/filter", "runtime/gather", "runtime/health", "runtime/kubeconfig",
		"runtime/loopback", "runtime/objects",
		"runtime/ownership", "runtime/reach", "runtime/registry", "runtime/reload", "runtime/request",
		"runtime/respond", "runtime/seal",
		"runtime/storage", "runtime/storage/compactor", "runtime/storage/etcd", "runtime/store", "runtime/timing",
		"runtime/traffic", "runtime/zpages",
	},
	"runtime/builtin": {
		"runtime/admission/...", "runtime/auth/serviceaccount", "runtime/builtin/...", "runtime/observability",
		"runtime/server", "runtime/services",
	},
	"runtime/builtin/admissionregistration": {
		"runtime/builtin/admissionregistration/wiring", "runtime/server",
	},
	"runtime/builtin/admissionregistration/v1": {
		"runtime/auth", "runtime/cel/policy", "runtime/reach", "runtime/request",
	},
	"runtime/builtin/admissionregistration/wiring": {
		"runtime/api", "runtime/builtin/admissionregistration/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/apiextensions": {
		"runtime/builtin/apiextensions/v1", "runtime/builtin/apiextensions/wiring", "runtime/dynamic",
		"runtime/kubeconfig", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/apiextensions/v1": {
		"runtime/builtin/admissionregistration/v1", "runtime/cel", "runtime/jsonpath", "runtime/structural",
	},
	"runtime/builtin/apiextensions/wiring": {
		"runtime/api", "runtime/builtin/apiextensions/v1", "runtime/codec", "runtime/crdjson", "runtime/registry",
	},
	"runtime/builtin/apiregistration": {
		"runtime/api", "runtime/auth", "runtime/auth/frontproxy", "runtime/builtin/apiregistration/v1",
		"runtime/builtin/apiregistration/wiring", "runtime/certs", "runtime/discovery", "runtime/proxy",
		"runtime/reach", "runtime/registry", "runtime/reload", "runtime/respond", "runtime/server",
	},
	"runtime/builtin/apiregistration/v1": {},
	"runtime/builtin/apiregistration/wiring": {
		"runtime/api", "runtime/builtin/apiregistration/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/certificates":    {"runtime/builtin/certificates/wiring", "runtime/server"},
	"runtime/builtin/certificates/v1": {"runtime/auth"},
	"runtime/builtin/certificates/wiring": {
		"runtime/api", "runtime/builtin/certificates/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/authentication":    {"runtime/auth", "runtime/builtin/authentication/wiring", "runtime/server"},
	"runtime/builtin/authentication/v1": {},
	"runtime/builtin/authentication/wiring": {
		"runtime/api", "runtime/builtin/authentication/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/authorization": {
		"runtime/auth", "runtime/builtin/authorization/wiring", "runtime/request", "runtime/server",
	},
	"runtime/builtin/authorization/v1": {},
	"runtime/builtin/authorization/wiring": {
		"runtime/api", "runtime/builtin/authorization/v1", "runtime/codec", "runtime/registry",
	},
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
	"runtime/builtin/events":    {"runtime/builtin/events/wiring", "runtime/server"},
	"runtime/builtin/events/v1": {"runtime/builtin/core/v1"},
	"runtime/builtin/events/wiring": {
		"runtime/api", "runtime/builtin/core/v1", "runtime/builtin/events/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/flowcontrol": {
		"runtime/builtin/flowcontrol/preset", "runtime/builtin/flowcontrol/wiring", "runtime/filter",
		"runtime/flow/...", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/flowcontrol/preset": {},
	"runtime/builtin/flowcontrol/v1":     {"runtime/builtin/flowcontrol/preset", "runtime/flow/queue"},
	"runtime/builtin/flowcontrol/wiring": {
		"runtime/api", "runtime/builtin/flowcontrol/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/trust": {"runtime/auth/frontproxy", "runtime/reach", "runtime/server"},
	"runtime/builtin/rbac": {
		"runtime/api", "runtime/auth", "runtime/auth/rbac", "runtime/builtin/rbac/wiring", "runtime/registry",
		"runtime/server",
	},
	"runtime/builtin/rbac/v1": {"runtime/auth", "runtime/auth/rbac"},
	"runtime/builtin/rbac/wiring": {
		"runtime/api", "runtime/builtin/rbac/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/certs":         {"runtime/auth", "runtime/reload"},
	"runtime/certs/cluster": {"runtime/kubeconfig", "runtime/registry", "runtime/server"},
	"runtime/apitest": {
		"runtime/auth", "runtime/registry", "runtime/server", "runtime/storage", "runtime/storage/memory",
	},
}

// holders is the table of who may import what of others: a path prefix, and the packages that may.
var holders = map[string][]string{
	"golang.org/x/tools":         {"generator/load"},
	"k8s.io/gengo":               {"generator/marker"},
	"github.com/dave/jennifer":   {"generator/emit/..."},
	"go.etcd.io":                 {"runtime/storage/embedded", "runtime/storage/etcd/..."},
	"github.com/google/cel-go":   {"runtime/cel", "runtime/cel/policy"},
	"github.com/gobuffalo/flect": {"generator/model"},
	"github.com/spf13": {
		"cmd/apigen", "runtime/admission/...", "runtime/audit/feature", "runtime/auth/...",
		"runtime/builtin/apiextensions", "runtime/builtin/apiregistration", "runtime/builtin/core",
		"runtime/builtin/flowcontrol", "runtime/certs/cluster", "runtime/observability", "runtime/server",
		"runtime/services", "runtime/tracing",
	},
	"github.com/coreos/go-oidc":        {"runtime/auth/oidc"},
	"github.com/go-jose/go-jose":       {"runtime/auth/oidc"},
	"gopkg.in/natefinch/lumberjack.v2": {"runtime/audit/feature"},
	"golang.org/x/crypto":              {"runtime/seal"},
	"golang.org/x/net":                 {"runtime/endpoint"},
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
	return dir == "." || strings.HasPrefix(dir, "examples/") || strings.Contains(dir, "/internal/")
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
		if !strings.HasPrefix(dir, "generator/emit") || strings.Contains(dir, "/internal/") {
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
	const compiler, size, growth = "go1.26", 16_142_717, 70_000
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
