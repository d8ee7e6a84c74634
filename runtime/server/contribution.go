package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/http/filter"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Contribution is what a feature adds to a server: every field may be empty. The contributions of several features are
// merged, whatever their order; of some things a server has one, and two features that bring it are an error.
type Contribution struct {
	// Hooks run beside the server's requests.
	Hooks []Hook
	// Metrics are in /metrics, beside the server's own.
	Metrics []prometheus.Collector
	// Observers are called with each request after it was answered. They must not wait.
	Observers []func(filter.Observation)

	// Authentication finds the user of a request; its zero value authenticates nobody. Certificates of several features
	// are asked in turn, and their Tokens; there is one FrontProxy, and one Anonymous. If Anonymous is nil, everybody
	// may ask for health checks, and nothing else, without credentials.
	Authentication auth.Authentication
	// OwnFrontProxy is the FrontProxy of a server for which nobody brings another one.
	OwnFrontProxy auth.Authenticator
	// Modes are the modes of authorization that the server has, by their names in kube-apiserver's
	// --authorization-mode, beside AlwaysAllow and AlwaysDeny. The command makes Authorizer of those that its flags
	// name.
	Modes map[string]auth.Authorizer
	// AuthorizerOf makes Authorizer of Modes instead of --authorization-mode, if it isn't nil: a feature that reads who
	// decides from a file sets it.
	AuthorizerOf func(modes map[string]auth.Authorizer) (auth.Authorizer, error)
	// Authorizer decides what users may do who are not in system:masters, whom the server allows everything; nil allows
	// authenticated users to read discovery.
	Authorizer auth.Authorizer
	// Issuer signs tokens of service accounts; nil signs none. Audiences are those of tokens for this server.
	Issuer    auth.TokenIssuer
	Audiences []string
	// Guard refuses requests before they are authenticated, such as those that come back to the server that sent them;
	// nil refuses none.
	Guard filter.Filter
	// Admission are the plug-ins that each write passes, in any order: the server arranges them.
	Admission []admission.Plugin
	// Auditor records requests; nil records none. A hook runs what its sink needs.
	Auditor *trail.Auditor
	// Tracer makes spans of requests; nil makes none.
	Tracer filter.Tracer
	// Fairness makes the filter that bounds the requests in progress instead of MaxReads and MaxWrites; nil leaves it
	// to these. size returns the number of objects of a resource, and the sum of their sizes in bytes, or false if the
	// server doesn't know them; it is safe for concurrent use.
	Fairness func(size func(group, resource string) (objects, bytes int64, known bool)) filter.Filter

	// DynamicAPIs are what the server serves beside Groups, and what changes while it runs; nil for nothing. Features
	// share them: one that finds them in Config contributes the same.
	DynamicAPIs *DynamicAPIs
	// AfterWrite holds functions by resource. The server calls one after it has stored a write of the resource, and
	// before it answers the client, with the revision of the write.
	AfterWrite map[schema.GroupResource]func(ctx context.Context, revision int64)
	// TimeToLive says of resources how long their objects live after each write, in place of what their strategies say;
	// 0 means no limit.
	TimeToLive map[schema.GroupResource]time.Duration
	// ServingCertificate sets GetCertificate of the server's TLS in place of what is there.
	ServingCertificate func(*tls.Config)
	// Paths are handlers of documents beside the API, which answer GET and HEAD and are in the index at "/". The
	// Authorizer decides who may read them. Unlisted are such handlers that are not in the index.
	Paths, Unlisted map[string]http.Handler
	// Scraped returns the handler of /metrics, which may also answer DELETE if Profiling is true; nil only reads.
	Scraped func(prometheus.Gatherer) http.Handler

	// Check is called once all contributions are merged: a feature that depends on what others bring looks at config
	// there, so that the order of features doesn't matter. Its error ends the start.
	Check func(config *Config) error
}

// Services returns the address (host:port) where a service of a cluster listens, for a server that is outside of the
// cluster's network. Requests call it concurrently.
type Services func(ctx context.Context, namespace, name string, port int32) (address string, err error)

// FrontProxyInForce returns the authenticator of users whom a proxy names: nil if the server believes no proxy.
func (c *Contribution) FrontProxyInForce() auth.Authenticator {
	if c.Authentication.FrontProxy != nil {
		return c.Authentication.FrontProxy
	}
	return c.OwnFrontProxy
}

// Use configures a feature, and adds its contribution to the configuration.
func (c *Config) Use(ctx context.Context, feature Feature) error {
	contribution, err := feature.Configure(ctx, c)
	if err != nil {
		return err
	}
	return c.add(fmt.Sprintf("%T", feature), contribution)
}

// add merges what somebody contributes, or returns what another one has brought before.
func (c *Config) add(from string, more Contribution) error {
	m := merger{config: c, from: from}
	has := &c.Contribution
	has.Hooks = append(has.Hooks, more.Hooks...)
	has.Metrics = append(has.Metrics, more.Metrics...)
	has.Observers = append(has.Observers, more.Observers...)
	has.Admission = append(has.Admission, more.Admission...)
	in, moreIn := &has.Authentication, more.Authentication
	in.Tokens, in.Certificates = append(in.Tokens, moreIn.Tokens...), inTurn(in.Certificates, moreIn.Certificates)
	if moreIn.FrontProxy != nil && m.first("a front proxy that is believed", in.FrontProxy != nil) {
		in.FrontProxy = moreIn.FrontProxy
	}
	if moreIn.Anonymous != nil && m.first("who may be anonymous", in.Anonymous != nil) {
		in.Anonymous = moreIn.Anonymous
	}
	if more.OwnFrontProxy != nil && m.first("the server's own front proxy", has.OwnFrontProxy != nil) {
		has.OwnFrontProxy = more.OwnFrontProxy
	}
	if more.AuthorizerOf != nil && m.first("an authorizer of the modes", has.AuthorizerOf != nil) {
		has.AuthorizerOf = more.AuthorizerOf
	}
	if more.Authorizer != nil && m.first("an authorizer", has.Authorizer != nil) {
		has.Authorizer = more.Authorizer
	}
	if more.Issuer != nil && m.first("who signs tokens", has.Issuer != nil) {
		has.Issuer = more.Issuer
	}
	if len(more.Audiences) > 0 && m.first("the audiences of tokens", len(has.Audiences) > 0) {
		has.Audiences = more.Audiences
	}
	if more.Guard != nil && m.first("a guard of requests", has.Guard != nil) {
		has.Guard = more.Guard
	}
	if more.Auditor != nil && m.first("an auditor", has.Auditor != nil) {
		has.Auditor = more.Auditor
	}
	if more.Tracer != nil && m.first("a tracer", has.Tracer != nil) {
		has.Tracer = more.Tracer
	}
	if more.Fairness != nil && m.first("what bounds requests in progress", has.Fairness != nil) {
		has.Fairness = more.Fairness
	}
	if apis := more.DynamicAPIs; apis != nil && apis != has.DynamicAPIs &&
		m.first("DynamicAPIs of its own", has.DynamicAPIs != nil) {
		has.DynamicAPIs = apis
	}
	if more.ServingCertificate != nil && m.first("the serving certificate", has.ServingCertificate != nil) {
		has.ServingCertificate = more.ServingCertificate
	}
	if more.Scraped != nil && m.first("the handler of /metrics", has.Scraped != nil) {
		has.Scraped = more.Scraped
	}
	union(&m, &has.Modes, more.Modes, "the authorization mode %s")
	union(&m, &has.AfterWrite, more.AfterWrite, "what follows a write of %s")
	union(&m, &has.TimeToLive, more.TimeToLive, "how long %s live")
	union(&m, &has.Paths, more.Paths, "a handler of %s")
	union(&m, &has.Unlisted, more.Unlisted, "a handler of %s")
	if more.Check != nil {
		c.checks = append(c.checks, more.Check)
	}
	return errors.Join(m.conflicts...)
}

// merger adds the contribution of one to those of others.
type merger struct {
	config    *Config
	from      string
	conflicts []error
}

// first reports whether nobody else has brought a thing of which a server has one. taken reports whether the
// configuration has it already.
func (m *merger) first(thing string, taken bool) bool {
	if other, brought := m.config.contributors[thing]; taken || brought {
		other = cmp.Or(other, "the configuration")
		m.conflicts = append(m.conflicts,
			fmt.Errorf("%s and %s both bring %s: leave one of them out", other, m.from, thing))
		return false
	}
	if m.config.contributors == nil {
		m.config.contributors = map[string]string{}
	}
	m.config.contributors[thing] = m.from
	return true
}

// union adds things that have names.
func union[K comparable, V any](m *merger, all *map[K]V, more map[K]V, thing string) {
	for name, value := range more {
		if _, taken := (*all)[name]; !m.first(fmt.Sprintf(thing, fmt.Sprint(name)), taken) {
			continue
		}
		if *all == nil {
			*all = map[K]V{}
		}
		(*all)[name] = value
	}
}

// complete lets features look at what all of them have brought.
func (c *Config) complete() error {
	if c.ServingCertificate != nil {
		c.TLS = cmp.Or(c.TLS, &tls.Config{MinVersion: tls.VersionTLS12}).Clone()
		c.ServingCertificate(c.TLS)
	}
	checks := c.checks
	if c.Check != nil {
		checks = append(slices.Clone(checks), c.Check)
	}
	for _, check := range checks {
		if err := check(c); err != nil {
			return err
		}
	}
	return nil
}

// inTurn asks several authenticators for the user of a certificate; either may be nil.
func inTurn(first, second auth.Authenticator) auth.Authenticator {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return either{first, second}
}

type either [2]auth.Authenticator

// Authenticate implements auth.Authenticator.
func (e either) Authenticate(r *http.Request) (*auth.User, error) {
	var failures []error
	for _, authenticator := range e {
		user, err := authenticator.Authenticate(r)
		if err == nil && user != nil {
			return user, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}
