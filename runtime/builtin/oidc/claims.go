package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/cel"
	kjson "sigs.k8s.io/json"
)

// claims are the claims of a verified token.
type claims struct {
	raw map[string]json.RawMessage
	// value has them for expressions.
	value cel.Value
}

// readClaims reads the payload of a token. It refuses claims that stand twice.
func readClaims(payload []byte) (*claims, error) {
	c := &claims{}
	strict, err := kjson.UnmarshalStrict(payload, &c.raw, kjson.DisallowDuplicateFields)
	if err = errors.Join(append(strict, err)...); err != nil {
		return nil, fmt.Errorf("oidc: parse claims: %w", err)
	}
	var decoded map[string]any // with float64 for numbers, as kube-apiserver's expressions see them
	if err := json.Unmarshal(payload, &decoded); err != nil {
		return nil, fmt.Errorf("oidc: parse claims: %w", err)
	}
	c.value = cel.NewValue(decoded)
	return c, nil
}

// text returns a claim that must be a string.
func (c *claims) text(name string) (string, error) {
	raw, ok := c.raw[name]
	if !ok {
		return "", errors.New("claim not present")
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err
}

// leeway is how far the clocks of an issuer and of this server may differ; kube-apiserver's is the same.
const leeway = time.Minute

// begun refuses a token that is not valid yet (RFC 7519, section 4.1.5). go-oidc, which has read the claim already, is
// more patient.
func (c *claims) begun(now time.Time) error {
	var seconds json.Number
	_ = json.Unmarshal(c.raw["nbf"], &seconds) // it may be missing
	begin, err := seconds.Float64()
	if err == nil && now.Add(leeway).Before(time.Unix(int64(begin), 0)) {
		return errors.New("oidc: the token is not valid yet (nbf)")
	}
	return nil
}

// texts returns a claim that is a string or a list of strings.
func (c *claims) texts(name string) ([]string, error) {
	var list []string
	if json.Unmarshal(c.raw[name], &list) == nil {
		return list, nil
	}
	text, err := c.text(name)
	return []string{text}, err
}

// distributed refuses a claim that the token says another server has. Without it, the user would lack groups by which
// permissions may be denied.
func (c *claims) distributed(name string) error {
	var names map[string]string
	if raw, ok := c.raw["_claim_names"]; ok && c.raw[name] == nil {
		if err := json.Unmarshal(raw, &names); err != nil {
			return fmt.Errorf("oidc: error parsing distributed claim names: %w", err)
		}
	}
	if source, ok := names[name]; ok {
		return fmt.Errorf("oidc: the claim %q is distributed, by %q, and this server does not ask other servers "+
			"for claims: let the issuer put the claim into its tokens", name, source)
	}
	return nil
}

// user makes the user of claims, and asks all rules whether the token is valid.
func (i *issuer) user(ctx context.Context, c *claims) (*auth.User, error) {
	user := &auth.User{}
	var err error
	if user.Name, err = i.userName(ctx, c); err != nil {
		return nil, err
	}
	if user.Groups, err = i.userGroups(ctx, c); err != nil {
		return nil, err
	}
	if user.UID, err = i.userID(ctx, c); err != nil {
		return nil, err
	}
	if user.Extra, err = i.userExtra(ctx, c); err != nil {
		return nil, err
	}
	for _, required := range i.required {
		value, err := c.text(required.Claim)
		if err != nil {
			return nil, fmt.Errorf("oidc: required claim %s: %w", required.Claim, err)
		}
		if value != required.RequiredValue {
			return nil, fmt.Errorf("oidc: required claim %s value does not match. Got = %s, want = %s",
				required.Claim, value, required.RequiredValue)
		}
	}
	if err := hold(ctx, i.claimRules, c.value); err != nil {
		return nil, fmt.Errorf("oidc: error evaluating claim validation expression: %w", err)
	}
	if len(i.userRules) > 0 {
		value := cel.NewValue(map[string]any{
			"username": user.Name, "uid": user.UID, "groups": user.Groups, "extra": user.Extra,
		})
		if err := hold(ctx, i.userRules, value); err != nil {
			return nil, fmt.Errorf("oidc: error evaluating user info validation rule: %w", err)
		}
	}
	return user, nil
}

// hold evaluates rules, and returns the message of the first that doesn't hold.
func hold(ctx context.Context, all []rule, value cel.Value) error {
	for _, r := range all {
		holds, err := r.condition.Holds(ctx, value)
		if err != nil {
			return fmt.Errorf("expression '%s' resulted in error: %w", r.text, err)
		}
		if !holds {
			return fmt.Errorf("validation expression '%s' failed: %s", r.text, r.message)
		}
	}
	return nil
}

func (i *issuer) userName(ctx context.Context, c *claims) (string, error) {
	m := i.ClaimMappings.Username
	if i.username != nil {
		name, err := i.username.Text(ctx, c.value)
		if err == nil && name == "" {
			err = errors.New("empty username via CEL expression is not allowed")
		}
		if err != nil {
			return "", fmt.Errorf("oidc: error evaluating username claim expression: %w", err)
		}
		return name, nil
	}
	name, err := c.text(m.Claim)
	if err == nil && name == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", fmt.Errorf("oidc: parse username claims %q: %w", m.Claim, err)
	}
	if err := c.verifiedEmail(m.Claim); err != nil {
		return "", err
	}
	return prefix(m) + name, nil
}

// verifiedEmail refuses the address of a user who, as the token says, didn't prove that it is the user's own.
func (c *claims) verifiedEmail(claim string) error {
	raw, ok := c.raw["email_verified"]
	if claim != "email" || !ok {
		return nil
	}
	var verified bool
	if err := json.Unmarshal(raw, &verified); err != nil {
		return fmt.Errorf("oidc: parse 'email_verified' claim: %w", err)
	}
	if !verified {
		return errors.New("oidc: email not verified")
	}
	return nil
}

func prefix(m PrefixedClaim) string {
	if m.Prefix == nil {
		return ""
	}
	return *m.Prefix
}

func (i *issuer) userGroups(ctx context.Context, c *claims) ([]string, error) {
	m := i.ClaimMappings.Groups
	if i.groups != nil {
		groups, err := i.groups.Texts(ctx, c.value)
		if err != nil {
			return nil, fmt.Errorf("oidc: error evaluating group claim expression: %w", err)
		}
		return groups, nil
	}
	if m.Claim == "" {
		return nil, nil
	}
	if err := c.distributed(m.Claim); err != nil {
		return nil, err
	}
	if c.raw[m.Claim] == nil {
		return nil, nil
	}
	groups, err := c.texts(m.Claim)
	if err != nil {
		return nil, fmt.Errorf("oidc: parse groups claim %q: %w", m.Claim, err)
	}
	for n := range groups {
		groups[n] = prefix(m) + groups[n]
	}
	return groups, nil
}

func (i *issuer) userID(ctx context.Context, c *claims) (string, error) {
	if i.uid != nil {
		uid, err := i.uid.Text(ctx, c.value)
		if err != nil {
			return "", fmt.Errorf("oidc: error evaluating uid claim expression: %w", err)
		}
		return uid, nil
	}
	claim := i.ClaimMappings.UID.Claim
	if claim == "" {
		return "", nil
	}
	uid, err := c.text(claim)
	if err != nil {
		return "", fmt.Errorf("oidc: parse uid claim %q: %w", claim, err)
	}
	return uid, nil
}

func (i *issuer) userExtra(ctx context.Context, c *claims) (map[string][]string, error) {
	extra := map[string][]string{}
	if id, err := c.text("jti"); err == nil && id != "" {
		extra["authentication.kubernetes.io/credential-id"] = []string{"JTI=" + id}
	}
	for _, r := range i.extra {
		values, err := r.expression.Texts(ctx, c.value)
		if err != nil {
			return nil, fmt.Errorf("oidc: error evaluating extra claim expression: %s: %w", r.key, err)
		}
		if len(values) > 0 {
			extra[r.key] = values
		}
	}
	if len(extra) == 0 {
		return nil, nil
	}
	return extra, nil
}
