package serviceaccount

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/audit/trail"
	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The bounds of the lifetime of a token.
const (
	minSeconds = 10 * 60
	mostSecond = 1 << 32
)

// Kubelets and the admission of Pods ask for tokens of extendedSeconds. If the server extends them, they live for
// extension, and are marked as due after extendedSeconds.
const (
	extendedSeconds = 60*60 + 7
	extension       = 365 * 24 * time.Hour
)

// issuedCredential is the annotation of an audited request that got a token: the id that requests with the token have.
const issuedCredential = "authentication.kubernetes.io/issued-credential-id"

// lifetime says how long tokens live.
type lifetime struct {
	// most bounds the lifetime that a request may ask for; 0 means no bound.
	most time.Duration
	// extend lets the tokens of Pods live for a year if they are for the server, as --service-account-extend-token-
	// expiration says.
	extend bool
}

// LongestLife implements auth.TokenIssuer.
func (a *authority) LongestLife() time.Duration { return a.most }

// IssueToken implements auth.TokenIssuer.
func (a *authority) IssueToken(ctx context.Context, request auth.TokenRequest) (string, time.Time, error) {
	signing := a.keys.Load().signing
	if signing == nil {
		return "", time.Time{}, apierrors.NewInternalError(errors.New("this server has no key that signs tokens"))
	}
	c, expires, err := a.claim(ctx, request)
	if err != nil {
		return "", time.Time{}, err
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return "", time.Time{}, err
	}
	token, err := signing.sign(payload)
	if err != nil {
		return "", time.Time{}, apierrors.NewInternalError(fmt.Errorf("failed to generate token: %w", err))
	}
	if len(token) > maxToken {
		return "", time.Time{}, apierrors.NewBadRequest(fmt.Sprintf(
			"the token has %d bytes, and may have %d: ask for fewer audiences", len(token), maxToken))
	}
	trail.Annotate(ctx, issuedCredential, credentialOf(c))
	return token, expires, nil
}

// claim returns what a token says, and when the client is to get a new one.
func (a *authority) claim(ctx context.Context, request auth.TokenRequest) (*claims, time.Time, error) {
	if request.Seconds < minSeconds || request.Seconds > mostSecond {
		return nil, time.Time{}, apierrors.NewBadRequest(fmt.Sprintf(
			"a token lives for %d to %d seconds, not %d", minSeconds, int64(mostSecond), request.Seconds))
	}
	now := a.now()
	life := time.Duration(request.Seconds) * time.Second
	if a.most > 0 && life > a.most {
		life = a.most
	}
	c := &claims{
		Issuer: a.issuers[0], Audience: request.Audiences, ID: uuid.NewString(),
		Subject:  userName(request.Account.Namespace, request.Account.Name),
		IssuedAt: at(now), NotBefore: at(now), Expires: at(now.Add(life)),
		Kubernetes: private{
			Namespace: request.Account.Namespace,
			Account:   reference{request.Account.Name, request.Account.UID},
		},
	}
	if len(c.Audience) == 0 {
		c.Audience = a.audiences
	}
	if err := a.bind(ctx, c, request.Bound); err != nil {
		return nil, time.Time{}, err
	}
	expires := c.Expires.Time
	if a.extend && c.Kubernetes.Pod != nil && life == extendedSeconds*time.Second &&
		len(c.Audience.intersect(a.audiences)) == len(c.Audience) {
		c.Kubernetes.WarnAfter, c.Expires = at(expires), at(now.Add(extension))
	}
	return c, expires, nil
}

// bind binds a token to an object. The token of a Pod names the node on which the Pod runs, too.
func (a *authority) bind(ctx context.Context, c *claims, bound *auth.BoundObject) error {
	if bound == nil {
		return nil
	}
	ref := &reference{bound.Name, bound.UID}
	switch k := &c.Kubernetes; Kind(bound.Kind) {
	case Secret:
		k.Secret = ref
	case Node:
		k.Node = ref
	case Pod:
		k.Pod = ref
		pod, err := a.lookup(ctx, Pod, k.Namespace, bound.Name)
		if err != nil {
			return err
		}
		k.Node, err = a.nodeOf(ctx, pod)
		return err
	default:
		return apierrors.NewBadRequest("cannot bind token to object of type " + bound.APIVersion + ", Kind=" +
			bound.Kind)
	}
	return nil
}

// nodeOf returns the node on which a Pod runs, nil if it runs on none. A node that doesn't exist has no UID.
func (a *authority) nodeOf(ctx context.Context, pod any) (*reference, error) {
	name := nodeName(pod)
	if name == "" {
		return nil, nil
	}
	node, err := a.lookup(ctx, Node, "", name)
	switch {
	case err == nil:
		return &reference{name, string(node.GetUID())}, nil
	case apierrors.IsNotFound(err) || errors.Is(err, errNotServed):
		return &reference{Name: name}, nil
	}
	return nil, apierrors.NewInternalError(err)
}

// Issuers returns the issuers of the tokens that the server signs or accepts. No other authenticator may claim them.
func (a *authority) Issuers() []string { return a.issuers }
