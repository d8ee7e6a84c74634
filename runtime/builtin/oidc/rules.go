package oidc

import (
	"crypto/x509"
	"slices"
	"sync"

	"apigen.dev/runtime/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// rules are the rules of one issuer, with compiled expressions.
type rules struct {
	JWT
	roots *x509.CertPool
	// username, groups and uid are nil if a claim has the value.
	username, groups, uid *cel.Expression
	extra                 []extraRule
	// required are claims with the values that they must have.
	required              []ClaimRule
	claimRules, userRules []rule
}

type extraRule struct {
	key        string
	expression *cel.Expression
}

// rule is a condition with the message of its failure.
type rule struct {
	text, message string
	condition     *cel.Expression
}

// compiler compiles the expressions of one issuer, and collects faults.
type compiler struct {
	environments
	errs field.ErrorList
	// emailVerified says that an expression that can refuse a token looks at claims.email_verified.
	emailVerified bool
}

// compiling has the environments, which take some milliseconds to make.
var compiling = sync.OnceValues(newEnvironments)

func newRules(path *field.Path, jwt JWT, foreign []string) (*rules, field.ErrorList) {
	r := &rules{JWT: jwt}
	available, err := compiling()
	if err != nil {
		return nil, field.ErrorList{field.InternalError(path, err)}
	}
	c := &compiler{environments: available}
	r.roots, c.errs = validateIssuer(path.Child("issuer"), jwt.Issuer, foreign)
	c.claimRules(path.Child("claimValidationRules"), r)
	c.mappings(path.Child("claimMappings"), r)
	c.userRules(path.Child("userValidationRules"), r)
	return r, c.errs
}

func (c *compiler) invalid(path *field.Path, value any, detail string) {
	c.errs = append(c.errs, field.Invalid(path, value, detail))
}

// expression compiles an expression by one of the environments' functions, and returns nil for a wrong one.
func (c *compiler) expression(
	path *field.Path, text string, compile func(string) (*cel.Expression, error),
) *cel.Expression {
	x, err := compile(text)
	if err != nil {
		c.invalid(path, text, err.Error())
		return nil
	}
	return x
}

func (c *compiler) claimRules(path *field.Path, r *rules) {
	var claims, expressions []string
	for i, given := range r.ClaimValidationRules {
		at := path.Index(i)
		switch {
		case given.Claim != "" && given.Expression != "":
			c.invalid(at, given.Claim, "claim and expression can't both be set")
		case given.Claim != "":
			if given.Message != "" {
				c.invalid(at.Child("message"), given.Message, "may not be specified when claim is set")
			}
			if slices.Contains(claims, given.Claim) {
				c.errs = append(c.errs, field.Duplicate(at.Child("claim"), given.Claim))
			}
			claims = append(claims, given.Claim)
			r.required = append(r.required, given)
		case given.Expression != "":
			if given.RequiredValue != "" {
				c.invalid(at.Child("requiredValue"), given.RequiredValue, "may not be specified when expression is set")
			}
			if slices.Contains(expressions, given.Expression) {
				c.errs = append(c.errs, field.Duplicate(at.Child("expression"), given.Expression))
				continue
			}
			expressions = append(expressions, given.Expression)
			if x := c.expression(at.Child("expression"), given.Expression, c.claims.Condition); x != nil {
				r.claimRules = append(r.claimRules, rule{given.Expression, given.Message, x})
				c.emailVerified = c.emailVerified || x.Selects("email_verified")
			}
		default:
			c.errs = append(c.errs, field.Required(at, "claim or expression is required"))
		}
	}
}

func (c *compiler) mappings(path *field.Path, r *rules) {
	m := r.ClaimMappings
	if m.Username.Expression == "" && m.Username.Claim == "" {
		c.errs = append(c.errs, field.Required(path.Child("username"), "claim or expression is required"))
	}
	r.username = c.prefixed(path.Child("username"), m.Username)
	r.groups = c.prefixed(path.Child("groups"), m.Groups)
	switch {
	case m.UID.Claim != "" && m.UID.Expression != "":
		c.invalid(path.Child("uid"), "", "claim and expression can't both be set")
	case m.UID.Expression != "":
		r.uid = c.expression(path.Child("uid", "expression"), m.UID.Expression, c.claims.Expression)
	}
	c.extra(path.Child("extra"), r)
	if r.username == nil {
		return
	}
	c.emailVerified = c.emailVerified || r.username.Selects("email_verified")
	if r.username.Selects("email") && !c.emailVerified {
		c.invalid(path.Child("username", "expression"), m.Username.Expression,
			"claims.email_verified must be used in claimMappings.username.expression or "+
				"claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email "+
				"is used in claimMappings.username.expression")
	}
}

// prefixed returns the expression of a mapping, nil if a claim has the value.
func (c *compiler) prefixed(path *field.Path, m PrefixedClaim) *cel.Expression {
	switch {
	case m.Expression != "" && m.Claim != "":
		c.invalid(path, "", "claim and expression can't both be set")
	case m.Expression != "":
		if m.Prefix != nil {
			c.invalid(path.Child("prefix"), *m.Prefix, "may not be specified when expression is set")
		}
		return c.expression(path.Child("expression"), m.Expression, c.claims.Expression)
	case m.Claim != "" && m.Prefix == nil:
		c.errs = append(c.errs, field.Required(path.Child("prefix"),
			"prefix is required when claim is set. It can be set to an empty string to disable prefixing"))
	}
	return nil
}

func (c *compiler) extra(path *field.Path, r *rules) {
	var keys []string
	for i, given := range r.ClaimMappings.Extra {
		at := path.Index(i)
		c.errs = append(c.errs, validateKey(at.Child("key"), given.Key)...)
		if slices.Contains(keys, given.Key) {
			c.errs = append(c.errs, field.Duplicate(at.Child("key"), given.Key))
			continue
		}
		keys = append(keys, given.Key)
		if given.ValueExpression == "" {
			c.errs = append(c.errs, field.Required(at.Child("valueExpression"), ""))
			continue
		}
		if x := c.expression(at.Child("valueExpression"), given.ValueExpression, c.claims.Expression); x != nil {
			r.extra = append(r.extra, extraRule{given.Key, x})
			c.emailVerified = c.emailVerified || x.Selects("email_verified")
		}
	}
}

func (c *compiler) userRules(path *field.Path, r *rules) {
	var expressions []string
	for i, given := range r.UserValidationRules {
		at := path.Index(i).Child("expression")
		switch {
		case given.Expression == "":
			c.errs = append(c.errs, field.Required(at, ""))
		case slices.Contains(expressions, given.Expression):
			c.errs = append(c.errs, field.Duplicate(at, given.Expression))
		default:
			expressions = append(expressions, given.Expression)
			if x := c.expression(at, given.Expression, c.user.Condition); x != nil {
				r.userRules = append(r.userRules, rule{given.Expression, given.Message, x})
			}
		}
	}
}
