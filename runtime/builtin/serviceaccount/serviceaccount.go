// Package serviceaccount signs and reads tokens of service accounts in kube-apiserver's format: JSON web tokens that
// expire, are meant for audiences, and die with their account or with the object to which they are bound. It serves the
// documents by which others verify the tokens (OpenID Connect Discovery).
//
// Its signatures come from the standard library: a token's algorithm follows from the key, so that four algorithms in
// one serialization are all that it needs of JOSE.
//
// It may know packages auth, access/tokencache, reach, reload, server and trail, and Kubernetes' core/v1 types.
package serviceaccount

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/access/meter"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind is the kind of an object on which a token depends.
type Kind string

// The kinds of objects on which tokens depend.
const (
	Account Kind = "ServiceAccount"
	Secret  Kind = "Secret"
	Pod     Kind = "Pod"
	Node    Kind = "Node"
)

// Lookup finds an object. Its error says that there is none, or that it can't be read. The namespace of a Node is "".
type Lookup func(ctx context.Context, kind Kind, namespace, name string) (metav1.Object, error)

// The names of users' extra values.
const (
	extraNodeName = "authentication.kubernetes.io/node-name"
	extraNodeUID  = "authentication.kubernetes.io/node-uid"
	extraPodName  = "authentication.kubernetes.io/pod-name"
	extraPodUID   = "authentication.kubernetes.io/pod-uid"
)

// The names of users and groups.
const (
	userPrefix  = "system:serviceaccount:"
	allAccounts = "system:serviceaccounts"
)

// authority is who signs and reads tokens. It is safe for concurrent use.
type authority struct {
	// issuers are the issuers of the tokens that it reads; the first is that of the tokens that it signs.
	issuers []string
	// audiences are those of the server.
	audiences []string
	keys      atomic.Pointer[keys]
	lookup    Lookup
	metrics   *meter.Accounts
	// now is the clock.
	now func() time.Time
	lifetime
}

// AuthenticateToken implements auth.TokenAuthenticator.
func (a *authority) AuthenticateToken(
	ctx context.Context, token string, audiences []string,
) (*auth.Identity, error) {
	s, err := parse(token)
	if err != nil || !slices.Contains(a.issuers, s.issuer()) {
		return nil, nil //nolint:nilerr // a token of another form, or issuer, is another authenticator's
	}
	var c claims
	if err := decode(s.payload, &c); err != nil {
		return nil, err
	}
	if err := a.keys.Load().verify(s); err != nil {
		return nil, err
	}
	meant, err := a.meant(&c, audiences)
	if err != nil {
		return nil, err
	}
	if err := c.current(a.now()); err != nil {
		return nil, err
	}
	if err := a.alive(ctx, &c); err != nil {
		return nil, err
	}
	return &auth.Identity{
		User: c.user(), Audiences: meant, Expires: c.Expires.Add(leeway), Annotations: a.stale(&c),
	}, nil
}

// stale returns the annotation of a token that is used after it was to be replaced, in kube-apiserver's words: a token
// of a Pod that was asked for with the lifetime of mounted tokens. It counts such tokens.
func (a *authority) stale(c *claims) map[string]string {
	warn := c.Kubernetes.WarnAfter
	if warn == nil || warn.Unix() == 0 {
		return nil
	}
	now := a.now()
	late := now.After(warn.Time)
	a.metrics.Extended(late)
	if !late {
		return nil
	}
	return map[string]string{"authentication.k8s.io/stale-token": fmt.Sprintf(
		"subject: %s, seconds after warning threshold: %d", c.Subject, now.Unix()-warn.Unix())}
}

// meant returns those of the wanted audiences for which the token is. A token without audiences is for the server's.
func (a *authority) meant(c *claims, wanted []string) ([]string, error) {
	is := c.Audience
	if len(is) == 0 {
		is = a.audiences
	}
	if wanted == nil {
		wanted = a.audiences
	}
	common := is.intersect(wanted)
	if len(common) == 0 {
		return nil, fmt.Errorf("token audiences %q is invalid for the target audiences %q", []string(is), wanted)
	}
	return common, nil
}

// errDead says that the bound object of a token is gone.
var errDead = errors.New("service account token has been invalidated")

// alive reports whether the account and the bound object of a token exist.
func (a *authority) alive(ctx context.Context, c *claims) error {
	k := &c.Kubernetes
	if c.Subject != userName(k.Namespace, k.Account.Name) {
		return fmt.Errorf("the subject %q is not the service account of the claims", c.Subject)
	}
	if k.Validating != nil || k.Mutating != nil {
		return errors.New("the token is bound to a webhook, whose tokens are not for API servers")
	}
	if err := a.exists(ctx, Account, k.Namespace, &k.Account); err != nil {
		return err
	}
	switch {
	case k.Secret != nil:
		return a.exists(ctx, Secret, k.Namespace, k.Secret)
	case k.Pod != nil: // a node beside it is where the Pod runs
		return a.exists(ctx, Pod, k.Namespace, k.Pod)
	case k.Node != nil:
		return a.exists(ctx, Node, "", k.Node)
	}
	return nil
}

// exists reports whether an object exists, with the UID of a reference. An object that waits for the end of its
// deletion counts as existing for a moment.
func (a *authority) exists(ctx context.Context, kind Kind, namespace string, ref *reference) error {
	object, err := a.lookup(ctx, kind, namespace, ref.Name)
	if err != nil {
		if kind == Account {
			return err
		}
		return fmt.Errorf("%w: %w", errDead, err)
	}
	if ref.UID == "" || string(object.GetUID()) != ref.UID {
		return fmt.Errorf("%s UID (%s) does not match claim (%s)", kind, object.GetUID(), ref.UID)
	}
	deleted := object.GetDeletionTimestamp()
	if deleted != nil && deleted.Time.Before(a.now().Add(-leeway)) {
		return fmt.Errorf("%w: %s %s has been deleted", errDead, kind, ref.Name)
	}
	return nil
}

func userName(namespace, name string) string { return userPrefix + namespace + ":" + name }

// user returns the user of a token.
func (c *claims) user() *auth.User {
	k := &c.Kubernetes
	user := &auth.User{
		Name:   userName(k.Namespace, k.Account.Name),
		UID:    k.Account.UID,
		Groups: []string{allAccounts, allAccounts + ":" + k.Namespace},
	}
	extra := func(name, value string) {
		if value == "" {
			return
		}
		if user.Extra == nil {
			user.Extra = map[string][]string{}
		}
		user.Extra[name] = []string{value}
	}
	if c.ID != "" {
		extra(auth.CredentialID, credentialOf(c))
	}
	if k.Pod != nil {
		extra(extraPodName, k.Pod.Name)
		extra(extraPodUID, k.Pod.UID)
	}
	if k.Node != nil {
		extra(extraNodeName, k.Node.Name)
		extra(extraNodeUID, k.Node.UID)
	}
	return user
}

// credentialOf identifies a token by its id.
func credentialOf(c *claims) string { return "JTI=" + c.ID }
