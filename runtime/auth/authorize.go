package auth

import (
	"context"
	"errors"
	"slices"
	"strings"

	"apigen.dev/runtime/internal/request"
)

// Info is what a request asks for: a verb, and a resource or a path.
type Info = request.Info

// Attributes are what an authorizer decides on: a user, and what the user asks for. The Info comes from an HTTP
// request, or from code that asks for a permission without one, such as impersonation. Both are immutable.
type Attributes struct {
	User *User
	*Info
}

// Decision is the answer of an authorizer.
type Decision int

// With NoOpinion the next authorizer decides. If no authorizer has an opinion, the server denies the request.
const (
	NoOpinion Decision = iota
	Allow
	Deny
)

// Authorizer decides whether a user may do something. The server shows the reason to the user.
type Authorizer interface {
	Authorize(ctx context.Context, a Attributes) (decision Decision, reason string, err error)
}

// Union asks authorizers in order, and returns the first decision that is Allow or Deny. If none decides, it returns
// NoOpinion with the reasons and the errors of all of them.
type Union []Authorizer

// Authorize implements Authorizer.
func (u Union) Authorize(ctx context.Context, a Attributes) (Decision, string, error) {
	var reasons []string
	var failures []error
	for _, authorizer := range u {
		decision, reason, err := authorizer.Authorize(ctx, a)
		if decision != NoOpinion {
			return decision, reason, err
		}
		if reason != "" {
			reasons = append(reasons, reason)
		}
		if err != nil {
			failures = append(failures, err)
		}
	}
	return NoOpinion, strings.Join(reasons, "\n"), errors.Join(failures...)
}

// Always is an authorizer with one decision for everything: the modes AlwaysAllow and AlwaysDeny.
type Always Decision

// Authorize implements Authorizer.
func (d Always) Authorize(context.Context, Attributes) (Decision, string, error) {
	return Decision(d), "", nil
}

// Paths is an authorizer that allows every user the paths in the list, as --authorization-always-allow-paths says. A
// path
// that ends in * stands for all that begin so. It has no opinion on other paths, nor on resources.
type Paths []string

// Authorize implements Authorizer.
func (p Paths) Authorize(_ context.Context, a Attributes) (Decision, string, error) {
	if a.IsResource {
		return NoOpinion, "", nil
	}
	for _, path := range p {
		begin, tree := strings.CutSuffix(path, "*")
		if a.Path == path || tree && strings.HasPrefix(a.Path, begin) {
			return Allow, "", nil
		}
	}
	return NoOpinion, "", nil
}

// RuleResolver is implemented by authorizers that can list what a user may do in a namespace, for
// SelfSubjectRulesReviews. complete is false if the authorizer may allow more than the rules say; err tells why, and
// the rules hold nevertheless.
type RuleResolver interface {
	RulesFor(ctx context.Context, user *User, namespace string) (rules Rules, complete bool, err error)
}

// Rules are permissions, as a SelfSubjectRulesReview lists them.
type Rules struct {
	Resources    []ResourceRule
	NonResources []NonResourceRule
}

// ResourceRule allows verbs on resources. The word * stands for all verbs, groups or resources; no names stand for all
// names.
type ResourceRule struct {
	Verbs, Groups, Resources, Names []string
}

// NonResourceRule allows verbs on paths that name no resource. A path may end in *.
type NonResourceRule struct {
	Verbs, Paths []string
}

// RulesFor implements RuleResolver: it joins the rules of all authorizers of the union that list some, and is complete
// if all of them are.
func (u Union) RulesFor(ctx context.Context, user *User, namespace string) (Rules, bool, error) {
	var all Rules
	var failures []error
	complete := true
	for _, authorizer := range u {
		resolver, ok := authorizer.(RuleResolver)
		if !ok {
			complete = false
			continue
		}
		rules, whole, err := resolver.RulesFor(ctx, user, namespace)
		all.Resources = append(all.Resources, rules.Resources...)
		all.NonResources = append(all.NonResources, rules.NonResources...)
		complete = complete && whole
		failures = append(failures, err)
	}
	return all, complete, errors.Join(failures...)
}

// MastersOnly allows the group system:masters everything, and has no opinion on other users, whom the server therefore
// denies everything that no other authorizer allows.
type MastersOnly struct{}

// Authorize implements Authorizer.
func (MastersOnly) Authorize(_ context.Context, a Attributes) (Decision, string, error) {
	if a.User != nil && slices.Contains(a.User.Groups, Masters) {
		return Allow, "", nil
	}
	return NoOpinion, "", nil
}

// Discovery allows authenticated users to read the documents of discovery, OpenAPI and the version, as kube-apiserver
// does. It has no opinion on anything else.
type Discovery struct{}

// discoveryPaths are the paths of the documents. A path that ends in a slash stands for all paths below it.
var discoveryPaths = []string{"/api", "/api/", "/apis", "/apis/", "/openapi", "/openapi/", "/version", "/version/"}

// Authorize implements Authorizer.
func (Discovery) Authorize(_ context.Context, a Attributes) (Decision, string, error) {
	authenticated := a.User != nil && slices.Contains(a.User.Groups, Authenticated)
	known := slices.ContainsFunc(discoveryPaths, func(path string) bool {
		return a.Path == path || strings.HasSuffix(path, "/") && strings.HasPrefix(a.Path, path)
	})
	if authenticated && !a.IsResource && a.Verb == "get" && known {
		return Allow, "", nil
	}
	return NoOpinion, "", nil
}
