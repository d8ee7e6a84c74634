// Package plugins has the admission plug-ins of kube-apiserver that stand alone: each looks at one write, and at
// objects that the server holds. Each has the name, the words and the exceptions that it has in kube-apiserver 1.36. A
// plug-in for a kind that a server doesn't serve never runs there.
//
// It may know packages admission, api, auth, metadata, reach, registry, request and server.
package plugins

import (
	"context"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// Feature brings the plug-ins of this package into a server.
type Feature struct {
	tolerations tolerationSeconds
}

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (f *Feature) AddFlags(flags *pflag.FlagSet) { f.tolerations.addFlags(flags) }

// Configure implements server.Feature.
func (f *Feature) Configure(context.Context, *server.Config) (server.Contribution, error) {
	return server.Contribution{Admission: []admission.Plugin{
		limitRanges(), serviceAccounts(), nodeRestriction(), priorities(), f.tolerations.plugin(), ownerReferences(),
		certificateApproval(), certificateSigning(), certificateSubjects(),
	}}, nil
}

// allowed asks the server's authorizer whether a user may do something with a resource.
func allowed(ctx context.Context, user *auth.User, info request.Info) (bool, string, error) {
	authorizer := auth.AccessFrom(ctx).Authorizer
	if authorizer == nil {
		return false, "the server has no authorizer", nil
	}
	info.IsResource = true
	decision, reason, err := authorizer.Authorize(ctx, auth.Attributes{User: user, Info: &info})
	return decision == auth.Allow, reason, err
}
