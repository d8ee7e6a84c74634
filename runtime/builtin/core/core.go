// Package core serves the kinds of the core group that every server can use: config maps, events, limit ranges,
// namespaces, resource quotas, secrets and service accounts. It may know the packages that serve groups.
package core

import (
	"context"
	"time"

	"apigen.dev/runtime/builtin/core/wiring"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Feature serves config maps, events, limit ranges, namespaces, resource quotas, secrets and service accounts of the
// core group. What acts on them are features of their own: builtin/lifecycle empties namespaces, builtin/quota
// keeps quotas.
type Feature struct {
	// eventTTL is how long events live after their last change.
	eventTTL time.Duration
}

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return []registry.Group{wiring.Group()} }

// AddFlags implements server.Feature.
func (f *Feature) AddFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&f.eventTTL, "event-ttl", time.Hour,
		"how long events live after their last change; 0 is for ever")
}

// Configure implements server.Feature.
func (f *Feature) Configure(context.Context, *server.Config) (server.Contribution, error) {
	lives := map[schema.GroupResource]time.Duration{}
	for _, group := range []string{"", "events.k8s.io"} { // one store
		lives[schema.GroupResource{Group: group, Resource: "events"}] = f.eventTTL
	}
	return server.Contribution{TimeToLive: lives}, nil
}
