package snippets

import (
	"apigen.dev/runtime/builtin/admissionregistration"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/builtin/apiregistration"
	"apigen.dev/runtime/builtin/auditlog"
	"apigen.dev/runtime/builtin/authentication"
	"apigen.dev/runtime/builtin/authorization"
	"apigen.dev/runtime/builtin/authorizationconfig"
	"apigen.dev/runtime/builtin/certificates"
	"apigen.dev/runtime/builtin/cluster"
	"apigen.dev/runtime/builtin/clusterauthenticationtrust"
	"apigen.dev/runtime/builtin/coordination"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/builtin/delegated"
	"apigen.dev/runtime/builtin/events"
	"apigen.dev/runtime/builtin/flowcontrol"
	"apigen.dev/runtime/builtin/frontproxy"
	"apigen.dev/runtime/builtin/lifecycle"
	"apigen.dev/runtime/builtin/node"
	"apigen.dev/runtime/builtin/observability"
	"apigen.dev/runtime/builtin/oidc"
	"apigen.dev/runtime/builtin/plugins"
	"apigen.dev/runtime/builtin/podsecurity"
	"apigen.dev/runtime/builtin/policy"
	"apigen.dev/runtime/builtin/quota"
	"apigen.dev/runtime/builtin/rbac"
	"apigen.dev/runtime/builtin/serviceaccount"
	"apigen.dev/runtime/builtin/services"
	"apigen.dev/runtime/builtin/tracing"
	"apigen.dev/runtime/builtin/webhook"
	"apigen.dev/runtime/builtin/webhookauth"
	"apigen.dev/runtime/server"
)

// Everything has every feature once. No server needs them all.
var Everything = server.Program{
	Name: "shop",

	Features: []server.Feature{
		&services.Feature{},
		&core.Feature{},
		&serviceaccount.Feature{},
		&events.Feature{},
		&certificates.Feature{},
		&coordination.Feature{},
		&flowcontrol.Feature{},
		&authentication.Feature{},
		&authorization.Feature{},
		&rbac.Feature{},
		&clusterauthenticationtrust.Feature{},
		&admissionregistration.Feature{},
		&lifecycle.Feature{},
		&plugins.Feature{},
		&podsecurity.Feature{},
		&policy.Feature{},
		&webhook.Feature{},
		&quota.Feature{},
		&observability.Feature{},
		&apiextensions.Feature{},
		&apiregistration.Feature{},
		&auditlog.Feature{},
		&authorizationconfig.Feature{},
		&cluster.Feature{},
		&delegated.Feature{},
		&frontproxy.Feature{},
		&node.Feature{},
		&oidc.Feature{},
		&tracing.Feature{},
		&webhookauth.Authentication{},
		&webhookauth.Authorization{},
	},
}
