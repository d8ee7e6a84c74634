// Package builtin lists the features of a server that governs itself: the groups of the packages below it, and what
// acts on their objects. A main that wants some of them alone names those packages, and links nothing of the others.
package builtin

import (
	"apigen.dev/runtime/admission/lifecycle"
	"apigen.dev/runtime/admission/plugins"
	"apigen.dev/runtime/admission/podsecurity"
	"apigen.dev/runtime/admission/policy"
	"apigen.dev/runtime/admission/quota"
	"apigen.dev/runtime/admission/webhook"
	"apigen.dev/runtime/auth/serviceaccount"
	"apigen.dev/runtime/builtin/admissionregistration"
	"apigen.dev/runtime/builtin/authentication"
	"apigen.dev/runtime/builtin/authorization"
	"apigen.dev/runtime/builtin/certificates"
	"apigen.dev/runtime/builtin/coordination"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/builtin/events"
	"apigen.dev/runtime/builtin/flowcontrol"
	"apigen.dev/runtime/builtin/rbac"
	"apigen.dev/runtime/builtin/trust"
	"apigen.dev/runtime/observability"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/services"
)

// Standalone returns the features of a server that stands on its own, with no cluster behind it: who may do what, who
// may change what is written, namespaces with a life, and what operators look at. Each call returns new values, since
// the flags of a Program are parsed into them.
func Standalone() []server.Feature {
	return []server.Feature{
		&services.Feature{}, // before all that call services
		core.Feature(),
		&serviceaccount.Tokens{},
		events.Feature(),
		certificates.Feature(),
		coordination.Feature(),
		&flowcontrol.Feature{},
		authentication.Feature(),
		authorization.Feature(),
		rbac.Authorization{},
		trust.Feature{},
		admissionregistration.Feature(),
		&lifecycle.Feature{},
		&plugins.Feature{},
		&podsecurity.Feature{},
		&policy.Feature{},
		&webhook.Feature{},
		&quota.Feature{},
		&observability.Feature{},
	}
}
