package apigen

// floors is the table of who may import whom, of our own packages: a package may import those of its line and nobody
// else of ours. "x/..." means x and all below it. A package that is not in the table fails the test: whoever adds one
// decides here on which floor it stands.
var floors = map[string][]string{
	"cmd/apigen": {"generator/command"},

	"generator/command": {
		"generator", "generator/internal/against", "generator/internal/compat", "generator/internal/dev",
		"generator/internal/folder", "generator/internal/fromcrd", "generator/internal/marker",
		"generator/internal/product", "generator/internal/report", "generator/internal/scaffold",
		"generator/internal/served", "generator/internal/staging",
	},

	"generator": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/emit/layout",
		"generator/internal/emit/rules", "generator/internal/folder", "generator/internal/input",
		"generator/internal/load", "generator/internal/model", "generator/internal/output", "generator/internal/plan",
		"generator/internal/product", "generator/internal/program", "generator/internal/verify",
	},
	"generator/internal/against": {
		"generator/internal/compat", "generator/internal/diag", "generator/internal/emit/rules",
		"generator/internal/folder", "generator/internal/load", "generator/internal/output",
		"generator/internal/product", "generator/internal/program", "generator/internal/report",
	},
	"generator/internal/compat": {"generator/internal/model", "generator/internal/schema"},
	"generator/internal/dev": {
		"generator", "generator/internal/compat", "generator/internal/folder", "generator/internal/input",
		"generator/internal/model", "generator/internal/report",
	},
	"generator/internal/diag": {},
	"generator/internal/emit": {
		"generator/internal/diag", "generator/internal/model", "generator/internal/plan",
	},
	"generator/internal/emit/applyconfig": {
		"generator/internal/emit", "generator/internal/emit/layout", "generator/internal/model",
		"generator/internal/plan", "generator/internal/plan/clientset", "generator/internal/spelling",
	},
	"generator/internal/emit/clients": {
		"generator/internal/emit", "generator/internal/emit/layout", "generator/internal/plan/clientset",
	},
	"generator/internal/emit/conversion": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/emit/gocode",
		"generator/internal/model", "generator/internal/plan", "generator/internal/spelling",
	},
	"generator/internal/emit/crd": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/model", "generator/internal/plan",
		"generator/internal/plan/hook", "generator/internal/schema",
	},
	"generator/internal/emit/deepcopy": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/emit/gocode",
		"generator/internal/model", "generator/internal/plan",
	},
	"generator/internal/emit/defaults": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/emit/gocode",
		"generator/internal/model", "generator/internal/plan", "generator/internal/plan/defaulter",
		"generator/internal/spelling",
	},
	"generator/internal/emit/emittest": {
		"generator/internal/emit", "generator/internal/load", "generator/internal/loadtest", "generator/internal/model",
		"generator/internal/plan", "generator/internal/program",
	},
	"generator/internal/emit/gocode": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/model", "generator/internal/plan",
	},
	"generator/internal/emit/groups": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/emit/gocode",
		"generator/internal/model", "generator/internal/plan",
	},
	"generator/internal/emit/informers": {
		"generator/internal/emit", "generator/internal/emit/layout", "generator/internal/plan/clientset",
	},
	"generator/internal/emit/layout": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/model", "generator/internal/plan",
		"generator/internal/plan/clientset", "templates",
	},
	"generator/internal/emit/listers": {
		"generator/internal/emit", "generator/internal/emit/layout", "generator/internal/plan/clientset",
	},
	"generator/internal/emit/openapi": {
		"generator/internal/emit", "generator/internal/emit/gocode", "generator/internal/model",
		"generator/internal/plan", "generator/internal/plan/document", "generator/internal/spelling",
	},
	"generator/internal/emit/reference": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/model", "generator/internal/plan",
		"generator/internal/schema", "templates",
	},
	"generator/internal/emit/register": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/emit/gocode",
		"generator/internal/model", "generator/internal/plan", "generator/internal/plan/registration",
	},
	"generator/internal/emit/roundtrip": {
		"generator/internal/emit", "generator/internal/emit/gocode", "generator/internal/model",
		"generator/internal/plan",
	},
	"generator/internal/emit/rules": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/emit/gocode",
		"generator/internal/model", "generator/internal/plan", "generator/internal/plan/expression",
		"generator/internal/spelling", "runtime/cel",
	},
	"generator/internal/emit/validation": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/emit/gocode",
		"generator/internal/model", "generator/internal/plan", "generator/internal/plan/check",
		"generator/internal/schema",
	},
	"generator/internal/emit/wiring": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/emit/gocode",
		"generator/internal/model", "generator/internal/plan", "generator/internal/plan/check",
		"generator/internal/plan/contextual", "generator/internal/plan/hook", "generator/internal/plan/serving",
		"generator/internal/schema", "generator/internal/spelling",
	},
	"generator/internal/folder":  {},
	"generator/internal/fromcrd": {"generator/internal/model", "generator/internal/spelling"},
	"generator/internal/input":   {},
	"generator/internal/judge": {
		"generator/internal/diag", "generator/internal/model", "generator/internal/spelling",
	},
	"generator/internal/load": {
		"generator/internal/diag", "generator/internal/folder", "generator/internal/marker", "generator/internal/model",
		"generator/internal/staging",
	},
	"generator/internal/loadtest": {
		"generator/internal/load", "generator/internal/model", "generator/internal/program",
	},
	"generator/internal/marker": {
		"generator/internal/diag", "generator/internal/model", "generator/internal/spelling",
	},
	"generator/internal/model":  {},
	"generator/internal/output": {"generator/internal/emit", "generator/internal/folder"},
	"generator/internal/plan": {
		"generator/internal/diag", "generator/internal/model", "generator/internal/plan/check",
		"generator/internal/plan/clientset", "generator/internal/plan/contextual",
		"generator/internal/plan/defaulter", "generator/internal/plan/document", "generator/internal/plan/expression",
		"generator/internal/plan/hook", "generator/internal/plan/registration", "generator/internal/plan/serving",
		"generator/internal/schema", "generator/internal/spelling",
	},
	"generator/internal/plan/check": {
		"generator/internal/diag", "generator/internal/model", "generator/internal/schema",
	},
	"generator/internal/plan/clientset": {
		"generator/internal/diag", "generator/internal/model", "generator/internal/spelling",
	},
	"generator/internal/plan/contextual": {"generator/internal/model"},
	"generator/internal/plan/defaulter":  {"generator/internal/model"},
	"generator/internal/plan/document": {
		"generator/internal/model", "generator/internal/schema", "generator/internal/spelling",
	},
	"generator/internal/plan/expression": {
		"generator/internal/model", "generator/internal/schema", "generator/internal/spelling", "runtime/cel",
	},
	"generator/internal/plan/hook": {
		"generator/internal/diag", "generator/internal/model", "generator/internal/plan/contextual",
		"generator/internal/spelling",
	},
	"generator/internal/plan/registration": {"generator/internal/diag", "generator/internal/model"},
	"generator/internal/plan/serving": {
		"generator/internal/diag", "generator/internal/model", "generator/internal/schema",
	},
	"generator/internal/product": {"generator/internal/emit/..."},
	"generator/internal/program": {
		"generator/internal/diag", "generator/internal/judge", "generator/internal/load", "generator/internal/model",
		"generator/internal/resolve",
	},
	"generator/internal/report": {
		"generator/internal/diag", "generator/internal/folder", "generator/internal/output",
		"generator/internal/verify",
	},
	"generator/internal/resolve": {
		"generator/internal/diag", "generator/internal/load", "generator/internal/marker", "generator/internal/model",
	},
	"generator/internal/scaffold": {
		"generator/internal/model", "generator/internal/staging", "templates",
	},
	"generator/internal/schema": {"generator/internal/model"},
	"generator/internal/served": {
		"generator/internal/diag", "generator/internal/load", "generator/internal/model", "generator/internal/product",
		"generator/internal/program",
	},
	"generator/internal/spelling": {},
	"generator/internal/staging":  {},
	"generator/internal/verify": {
		"generator/internal/diag", "generator/internal/emit", "generator/internal/load", "generator/internal/model",
	},

	"templates": {},

	"runtime/admission": {"runtime/api", "runtime/auth", "runtime/internal/audit/trail", "runtime/internal/timing"},
	"runtime/api":       {"runtime/internal/cell", "runtime/internal/deflate", "runtime/internal/jsondoc"},
	"runtime/apitest": {
		"runtime/auth", "runtime/registry", "runtime/server", "runtime/storage", "runtime/storage/memory",
	},
	"runtime/audit": {"runtime/auth", "runtime/internal/audit/trail", "runtime/internal/request"},
	"runtime/auth":  {"runtime/internal/request"},
	"runtime/builtin": {
		"runtime/admission/...", "runtime/builtin/...", "runtime/builtin/observability",
		"runtime/builtin/serviceaccount", "runtime/builtin/services", "runtime/server",
	},
	"runtime/builtin/admissionregistration": {
		"runtime/builtin/admissionregistration/wiring", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/admissionregistration/v1": {
		"runtime/auth", "runtime/internal/access/policy", "runtime/internal/request", "runtime/reach",
	},
	"runtime/builtin/admissionregistration/wiring": {
		"runtime/api", "runtime/builtin/admissionregistration/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/apiextensions": {
		"runtime/builtin/apiextensions/v1", "runtime/builtin/apiextensions/wiring", "runtime/internal/custom/dynamic",
		"runtime/internal/host/kubeconfig", "runtime/internal/typedclient", "runtime/internal/verb", "runtime/reach",
		"runtime/registry", "runtime/server", "runtime/storage",
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
		"runtime/internal/http/proxy", "runtime/internal/http/respond", "runtime/internal/jsondoc",
		"runtime/internal/reload", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/apiregistration/v1": {},
	"runtime/builtin/apiregistration/wiring": {
		"runtime/api", "runtime/builtin/apiregistration/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/auditlog": {
		"runtime/internal/audit/backend", "runtime/internal/audit/policy", "runtime/internal/audit/trail",
		"runtime/internal/host/kubeconfig", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/authentication": {
		"runtime/auth", "runtime/builtin/authentication/wiring", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/authentication/v1": {},
	"runtime/builtin/authentication/wiring": {
		"runtime/api", "runtime/builtin/authentication/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/authorization": {
		"runtime/auth", "runtime/builtin/authorization/wiring", "runtime/internal/request", "runtime/registry",
		"runtime/server",
	},
	"runtime/builtin/authorization/v1": {},
	"runtime/builtin/authorization/wiring": {
		"runtime/api", "runtime/builtin/authorization/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/authorizationconfig": {
		"runtime/auth", "runtime/builtin/webhookauth", "runtime/cel", "runtime/internal/access/meter",
		"runtime/internal/host/kubeconfig", "runtime/internal/reload", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/certificates":    {"runtime/builtin/certificates/wiring", "runtime/registry", "runtime/server"},
	"runtime/builtin/certificates/v1": {"runtime/auth"},
	"runtime/builtin/certificates/wiring": {
		"runtime/api", "runtime/builtin/certificates/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/cluster":         {"runtime/internal/host/kubeconfig", "runtime/registry", "runtime/server"},
	"runtime/builtin/coordination":    {"runtime/builtin/coordination/wiring", "runtime/registry", "runtime/server"},
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
	"runtime/builtin/events":    {"runtime/builtin/events/wiring", "runtime/registry", "runtime/server"},
	"runtime/builtin/events/v1": {"runtime/builtin/core/v1"},
	"runtime/builtin/events/wiring": {
		"runtime/api", "runtime/builtin/core/v1", "runtime/builtin/events/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/flowcontrol": {
		"runtime/builtin/flowcontrol/preset", "runtime/builtin/flowcontrol/v1", "runtime/builtin/flowcontrol/wiring",
		"runtime/internal/flow/...", "runtime/internal/http/apigroups", "runtime/internal/http/filter",
		"runtime/internal/reload", "runtime/reach", "runtime/registry", "runtime/server",
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
		"runtime/admission", "runtime/api", "runtime/auth", "runtime/builtin/certificates/v1",
		"runtime/internal/object/metadata", "runtime/internal/request", "runtime/reach", "runtime/registry",
		"runtime/server",
	},
	"runtime/builtin/podsecurity": {
		"runtime/admission", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/policy": {
		"runtime/admission", "runtime/builtin/admissionregistration/v1", "runtime/cel",
		"runtime/internal/access/manifest", "runtime/internal/access/match", "runtime/internal/access/policy",
		"runtime/internal/object/patch", "runtime/internal/reload", "runtime/internal/verb", "runtime/reach",
		"runtime/registry", "runtime/server",
	},
	"runtime/builtin/quota": {
		"runtime/admission", "runtime/auth", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/rbac": {
		"runtime/auth", "runtime/builtin/rbac/wiring", "runtime/internal/access/rbac", "runtime/internal/verb",
		"runtime/registry", "runtime/server",
	},
	"runtime/builtin/rbac/v1": {"runtime/auth", "runtime/internal/access/rbac"},
	"runtime/builtin/rbac/wiring": {
		"runtime/api", "runtime/builtin/rbac/v1", "runtime/codec", "runtime/registry",
	},
	"runtime/builtin/serviceaccount": {
		"runtime/auth", "runtime/internal/access/meter", "runtime/internal/access/tokencache",
		"runtime/internal/audit/trail", "runtime/internal/reload", "runtime/reach", "runtime/registry",
		"runtime/server",
	},
	"runtime/builtin/services": {"runtime/internal/http/proxy", "runtime/registry", "runtime/server"},
	"runtime/builtin/tracing": {
		"runtime/internal/http/filter", "runtime/internal/request", "runtime/internal/timing", "runtime/registry",
		"runtime/server",
	},
	"runtime/builtin/clusterauthenticationtrust": {"runtime/builtin/frontproxy", "runtime/reach", "runtime/server"},
	"runtime/builtin/webhook": {
		"runtime/admission", "runtime/auth", "runtime/builtin/admissionregistration/v1",
		"runtime/internal/access/manifest", "runtime/internal/access/match", "runtime/internal/access/policy",
		"runtime/internal/host/kubeconfig", "runtime/internal/object/patch", "runtime/internal/reload",
		"runtime/internal/review", "runtime/internal/verb", "runtime/reach", "runtime/registry", "runtime/server",
	},
	"runtime/builtin/webhookauth": {
		"runtime/auth", "runtime/internal/access/meter", "runtime/internal/access/tokencache",
		"runtime/internal/host/kubeconfig", "runtime/internal/request", "runtime/internal/review", "runtime/registry",
		"runtime/server",
	},
	"runtime/cel": {
		"runtime/internal/correlation", "runtime/internal/object/fault", "runtime/internal/object/omission",
		"runtime/reach",
	},
	"runtime/codec": {
		"runtime/api", "runtime/internal/object/fault", "runtime/internal/object/omission",
		"runtime/internal/object/patch", "runtime/internal/object/rendition", "runtime/internal/object/wire",
		"runtime/internal/verb",
	},
	"runtime/internal/access/manifest": {"runtime/internal/reload"},
	"runtime/internal/access/match": {
		"runtime/admission", "runtime/auth", "runtime/internal/access/policy", "runtime/internal/request",
		"runtime/reach",
	},
	"runtime/internal/access/meter":  {"runtime/admission", "runtime/auth"},
	"runtime/internal/access/policy": {"runtime/auth", "runtime/cel", "runtime/internal/request"},
	"runtime/internal/access/rbac": {
		"runtime/auth", "runtime/internal/request", "runtime/internal/verb", "runtime/reach",
	},
	"runtime/internal/access/tokencache": {
		"runtime/auth", "runtime/internal/access/meter", "runtime/internal/audit/trail",
	},
	"runtime/internal/audit/backend":    {"runtime/internal/audit/trail"},
	"runtime/internal/audit/policy":     {"runtime/auth", "runtime/internal/audit/trail"},
	"runtime/internal/audit/trail":      {"runtime/auth", "runtime/internal/request"},
	"runtime/internal/btree":            {},
	"runtime/internal/cell":             {},
	"runtime/internal/collector":        {"runtime/api", "runtime/internal/typedclient", "runtime/internal/verb"},
	"runtime/internal/correlation":      {},
	"runtime/internal/custom/agreement": {},
	"runtime/internal/custom/agreement/trial": {
		"runtime/api", "runtime/internal/custom/dynamic", "runtime/internal/jsondoc",
		"runtime/internal/object/ownership", "runtime/internal/verb", "runtime/registry", "runtime/storage/memory",
	},
	"runtime/internal/custom/agreement/v1": {},
	"runtime/internal/custom/agreement/wiring": {
		"runtime/api", "runtime/cel", "runtime/codec", "runtime/internal/custom/agreement/v1", "runtime/registry",
	},
	"runtime/internal/custom/crdjson": {},
	"runtime/internal/custom/dynamic": {
		"runtime/api", "runtime/cel", "runtime/codec", "runtime/internal/custom/crdjson",
		"runtime/internal/custom/structural", "runtime/internal/jsondoc", "runtime/internal/jsonpath",
		"runtime/internal/request", "runtime/registry", "runtime/subresource",
	},
	"runtime/internal/custom/structural": {"runtime/cel", "runtime/internal/correlation"},
	"runtime/internal/deflate":           {},
	"runtime/internal/etcdtest":          {},
	"runtime/internal/etcdtest/etcd":     {},
	"runtime/internal/flow": {
		"runtime/auth", "runtime/internal/flow/class", "runtime/internal/flow/cost", "runtime/internal/flow/queue",
		"runtime/internal/flow/share", "runtime/internal/request",
	},
	"runtime/internal/flow/class":      {"runtime/auth", "runtime/internal/request"},
	"runtime/internal/flow/cost":       {"runtime/internal/flow/queue", "runtime/internal/request"},
	"runtime/internal/flow/queue":      {},
	"runtime/internal/flow/share":      {},
	"runtime/internal/host/certs":      {"runtime/auth", "runtime/internal/reload"},
	"runtime/internal/host/encryption": {},
	"runtime/internal/host/footprint":  {},
	"runtime/internal/host/kubeconfig": {"runtime/internal/reload", "runtime/internal/timing"},
	"runtime/internal/host/logging":    {},
	"runtime/internal/host/release":    {},
	"runtime/internal/http/apigroups": {
		"runtime/api", "runtime/internal/http/discovery", "runtime/internal/http/endpoint", "runtime/internal/jsondoc",
		"runtime/internal/verb", "runtime/registry",
	},
	"runtime/internal/http/discovery": {
		"runtime/api", "runtime/internal/http/encoder", "runtime/internal/http/negotiation",
		"runtime/internal/http/openapi", "runtime/internal/http/respond", "runtime/internal/jsondoc",
		"runtime/internal/object/wire", "runtime/internal/request", "runtime/internal/verb",
	},
	"runtime/internal/http/encoder": {
		"runtime/api", "runtime/internal/deflate", "runtime/internal/object/rendition", "runtime/internal/object/wire",
		"runtime/internal/verb",
	},
	"runtime/internal/http/endpoint": {
		"runtime/api", "runtime/internal/audit/trail", "runtime/internal/deflate", "runtime/internal/http/discovery",
		"runtime/internal/http/encoder", "runtime/internal/http/headroom", "runtime/internal/http/negotiation",
		"runtime/internal/http/respond", "runtime/internal/object/rendition", "runtime/internal/object/wire",
		"runtime/internal/request", "runtime/internal/state/store", "runtime/internal/verb", "runtime/reach",
		"runtime/registry",
	},
	"runtime/internal/http/filter": {
		"runtime/auth", "runtime/internal/audit/trail", "runtime/internal/flow", "runtime/internal/flow/cost",
		"runtime/internal/http/respond", "runtime/internal/request", "runtime/internal/timing",
	},
	"runtime/internal/http/gather":      {},
	"runtime/internal/http/headroom":    {"runtime/internal/state/stats"},
	"runtime/internal/http/health":      {"runtime/auth", "runtime/storage"},
	"runtime/internal/http/loopback":    {},
	"runtime/internal/http/negotiation": {"runtime/internal/verb"},
	"runtime/internal/http/openapi":     {},
	"runtime/internal/http/proxy": {
		"runtime/auth", "runtime/internal/host/certs", "runtime/internal/request", "runtime/internal/timing",
	},
	"runtime/internal/http/respond": {
		"runtime/internal/audit/trail", "runtime/internal/deflate", "runtime/internal/http/encoder",
		"runtime/internal/http/negotiation", "runtime/internal/jsondoc", "runtime/internal/object/wire",
	},
	"runtime/internal/http/scrape": {},
	"runtime/internal/http/traffic": {
		"runtime/internal/http/filter", "runtime/internal/request", "runtime/internal/timing",
	},
	"runtime/internal/http/zpages": {
		"runtime/internal/http/negotiation", "runtime/internal/http/respond",
	},
	"runtime/internal/versioned":        {"runtime/admission", "runtime/api", "runtime/codec", "runtime/internal/verb"},
	"runtime/internal/jsondoc":          {"runtime/internal/deflate"},
	"runtime/internal/jsonpath":         {},
	"runtime/internal/object/metadata":  {"runtime/api", "runtime/internal/verb"},
	"runtime/internal/object/fault":     {},
	"runtime/internal/object/ownership": {"runtime/api", "runtime/internal/object/omission"},
	"runtime/internal/object/omission":  {"runtime/internal/object/fault", "runtime/internal/object/rendition"},
	"runtime/internal/object/patch":     {"runtime/internal/object/rendition", "runtime/internal/verb"},
	"runtime/internal/object/rendition": {
		"runtime/api", "runtime/internal/cell", "runtime/internal/object/wire", "runtime/internal/verb",
	},
	"runtime/internal/object/wire": {},
	"runtime/internal/typedclient": {
		"runtime/api", "runtime/internal/object/metadata", "runtime/internal/object/rendition", "runtime/internal/verb",
		"runtime/reach",
	},
	"runtime/internal/reload":  {},
	"runtime/internal/request": {},
	"runtime/internal/review":  {},
	"runtime/internal/state/cache": {
		"runtime/internal/btree", "runtime/internal/deflate", "runtime/internal/timing", "runtime/internal/verb",
		"runtime/storage",
	},
	"runtime/internal/state/compactor": {"runtime/storage"},
	"runtime/internal/state/stats": {
		"runtime/internal/state/cache", "runtime/internal/state/store", "runtime/internal/timing",
		"runtime/internal/verb", "runtime/storage",
	},
	"runtime/internal/state/store": {
		"runtime/api", "runtime/internal/deflate", "runtime/internal/object/rendition", "runtime/internal/object/wire",
		"runtime/internal/state/cache", "runtime/internal/verb", "runtime/storage",
	},
	"runtime/internal/timing": {},
	"runtime/internal/verb":   {"runtime/api", "runtime/internal/deflate"},
	"runtime/leader":          {"runtime/reach"},
	"runtime/reach":           {"runtime/internal/request", "runtime/internal/verb"},
	"runtime/registry": {
		"runtime/admission", "runtime/api", "runtime/auth", "runtime/codec", "runtime/internal/versioned",
		"runtime/internal/object/metadata", "runtime/internal/object/ownership", "runtime/internal/object/patch",
		"runtime/internal/object/rendition", "runtime/internal/typedclient", "runtime/internal/request",
		"runtime/internal/state/cache", "runtime/internal/state/store", "runtime/internal/verb", "runtime/reach",
		"runtime/storage", "runtime/subresource",
	},
	"runtime/roundtrip": {},
	"runtime/server": {
		"runtime/admission", "runtime/api", "runtime/auth", "runtime/internal/access/meter",
		"runtime/internal/audit/trail", "runtime/internal/collector", "runtime/internal/host/certs",
		"runtime/internal/host/encryption", "runtime/internal/host/footprint", "runtime/internal/host/kubeconfig",
		"runtime/internal/host/logging",
		"runtime/internal/host/release", "runtime/internal/http/apigroups",
		"runtime/internal/http/endpoint", "runtime/internal/http/filter",
		"runtime/internal/http/gather", "runtime/internal/http/headroom", "runtime/internal/http/health",
		"runtime/internal/http/loopback", "runtime/internal/http/respond", "runtime/internal/http/traffic",
		"runtime/internal/http/zpages", "runtime/internal/object/ownership", "runtime/internal/typedclient",
		"runtime/internal/reload", "runtime/internal/request",
		"runtime/internal/state/cache", "runtime/internal/state/compactor", "runtime/internal/state/stats",
		"runtime/internal/state/store", "runtime/internal/timing", "runtime/internal/verb", "runtime/reach",
		"runtime/registry", "runtime/storage", "runtime/storage/etcd",
	},
	"runtime/storage":             {},
	"runtime/storage/embedded":    {"runtime/storage", "runtime/storage/etcd"},
	"runtime/storage/etcd":        {"runtime/internal/reload", "runtime/storage"},
	"runtime/storage/memory":      {"runtime/internal/btree", "runtime/storage"},
	"runtime/storage/storagetest": {"runtime/storage"},
	"runtime/subresource": {
		"runtime/admission", "runtime/api", "runtime/auth", "runtime/codec", "runtime/internal/versioned",
		"runtime/internal/object/metadata", "runtime/internal/object/ownership", "runtime/internal/object/patch",
		"runtime/internal/object/rendition", "runtime/internal/object/wire", "runtime/internal/request",
		"runtime/internal/state/store", "runtime/internal/verb", "runtime/reach",
	},
}

// holders is the table of who may import what of others: a path prefix, and the packages that may.
var holders = map[string][]string{
	"golang.org/x/tools":       {"generator/internal/load"},
	"k8s.io/gengo":             {"generator/internal/marker"},
	"github.com/dave/jennifer": {"generator/internal/emit/..."},
	"go.etcd.io": {
		"runtime/internal/etcdtest/...", "runtime/storage/embedded", "runtime/storage/etcd/...",
	},
	"github.com/google/cel-go":         {"runtime/cel", "runtime/internal/access/policy"},
	"github.com/gobuffalo/flect":       {"generator/internal/model"},
	"github.com/spf13":                 {"generator/command", "runtime/builtin/...", "runtime/server"},
	"github.com/coreos/go-oidc":        {"runtime/builtin/oidc"},
	"github.com/go-jose/go-jose":       {"runtime/builtin/oidc"},
	"gopkg.in/natefinch/lumberjack.v2": {"runtime/builtin/auditlog"},
	"golang.org/x/crypto":              {"runtime/internal/host/encryption"},
	"golang.org/x/net":                 {"runtime/internal/http/endpoint"},
	"github.com/google/gnostic-models": {},
	"k8s.io/apiserver":                 {},
	"k8s.io/client-go":                 {},
	"k8s.io/kube-aggregator":           {},
	"k8s.io/kubernetes":                {},
	"sigs.k8s.io/controller-runtime":   {},
}
