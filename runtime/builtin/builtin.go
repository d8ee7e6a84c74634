// Package builtin lists the features of a server that governs itself: the groups of the packages below it, and what
// acts on their objects. A main that wants some of them alone names those packages, and links nothing of the others.
package builtin

import (
	"apigen.dev/runtime/builtin/admissionregistration"
	"apigen.dev/runtime/builtin/authentication"
	"apigen.dev/runtime/builtin/authorization"
	"apigen.dev/runtime/builtin/certificates"
	"apigen.dev/runtime/builtin/clusterauthenticationtrust"
	"apigen.dev/runtime/builtin/coordination"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/builtin/events"
	"apigen.dev/runtime/builtin/flowcontrol"
	"apigen.dev/runtime/builtin/lifecycle"
	"apigen.dev/runtime/builtin/observability"
	"apigen.dev/runtime/builtin/plugins"
	"apigen.dev/runtime/builtin/podsecurity"
	"apigen.dev/runtime/builtin/policy"
	"apigen.dev/runtime/builtin/quota"
	"apigen.dev/runtime/builtin/rbac"
	"apigen.dev/runtime/builtin/serviceaccount"
	"apigen.dev/runtime/builtin/services"
	"apigen.dev/runtime/builtin/webhook"
	"apigen.dev/runtime/server"
)

// Standalone returns the features of a server that stands on its own, with no cluster behind it: who may do what, who
// may change what is written, namespaces with a life, and what operators look at. Each call returns new values, since
// the flags of a Program are parsed into them.
func Standalone() []server.Feature {
	return []server.Feature{
		&services.Feature{}, // before all that call services
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
	}
}
