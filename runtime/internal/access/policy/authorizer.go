package policy

import (
	"context"
	"reflect"
	"strings"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/api/validation"
)

var (
	authorizerType = celgo.ObjectType("kubernetes.authorization.Authorizer")
	pathType       = celgo.ObjectType("kubernetes.authorization.PathCheck")
	groupType      = celgo.ObjectType("kubernetes.authorization.GroupCheck")
	resourceType   = celgo.ObjectType("kubernetes.authorization.ResourceCheck")
	decisionType   = celgo.ObjectType("kubernetes.authorization.Decision")
)

// authorizerValue asks an authorizer for a user.
type authorizerValue struct {
	receiver
	ctx  context.Context
	by   auth.Authorizer
	user *auth.User
}

type pathValue struct {
	receiver
	of   authorizerValue
	path string
}

type groupValue struct {
	receiver
	of    authorizerValue
	group string
}

type resourceValue struct {
	receiver
	of   authorizerValue
	info request.Info
}

type decisionValue struct {
	receiver
	decision auth.Decision
	reason   string
	err      error
}

func newAuthorizer(ctx context.Context, by auth.Authorizer, user *auth.User) authorizerValue {
	return authorizerValue{receiver{authorizerType}, ctx, by, user}
}

func (a authorizerValue) ask(info request.Info) ref.Val {
	decision, reason, err := a.by.Authorize(a.ctx, auth.Attributes{User: a.user, Info: &info})
	return decisionValue{receiver{decisionType}, decision, reason, err}
}

// onResource returns the check of a resource.
func (a authorizerValue) onResource(info request.Info) resourceValue {
	info.IsResource, info.Version = true, "*"
	return resourceValue{receiver{resourceType}, a, info}
}

// method declares a method of a receiver of type R that takes texts.
func method[R ref.Val](id string, of *celgo.Type, texts int, result *celgo.Type,
	call func(r R, texts []string) ref.Val,
) celgo.FunctionOpt {
	args := []*celgo.Type{of}
	for range texts {
		args = append(args, celgo.StringType)
	}
	return celgo.MemberOverload(id, args, result, celgo.FunctionBinding(func(values ...ref.Val) ref.Val {
		r, ok := values[0].(R)
		if !ok {
			return types.MaybeNoSuchOverloadErr(values[0])
		}
		given := make([]string, 0, texts)
		for _, value := range values[1:] {
			text, ok := value.(types.String)
			if !ok {
				return types.MaybeNoSuchOverloadErr(value)
			}
			given = append(given, string(text))
		}
		return call(r, given)
	}))
}

// narrowing declares a method of a resource's check that sets something.
func narrowing(id string, set func(info *request.Info, text string)) celgo.FunctionOpt {
	return method(id, resourceType, 1, resourceType, func(r resourceValue, texts []string) ref.Val {
		set(&r.info, texts[0])
		return r
	})
}

func authorizerFunctions() []celgo.EnvOption {
	return []celgo.EnvOption{
		celgo.Function("path", method("authorizer_path", authorizerType, 1, pathType, onPath)),
		celgo.Function("group", method("authorizer_group", authorizerType, 1, groupType,
			func(a authorizerValue, texts []string) ref.Val { return groupValue{receiver{groupType}, a, texts[0]} })),
		celgo.Function("serviceAccount",
			method("authorizer_serviceaccount", authorizerType, 2, authorizerType, forServiceAccount)),
		celgo.Function("resource", method("groupcheck_resource", groupType, 1, resourceType, inGroup)),
		celgo.Function("subresource", narrowing("resourcecheck_subresource",
			func(info *request.Info, text string) { info.Subresource = text })),
		celgo.Function("namespace", narrowing("resourcecheck_namespace",
			func(info *request.Info, text string) { info.Namespace = text })),
		celgo.Function("name", narrowing("resourcecheck_name",
			func(info *request.Info, text string) { info.Name = text })),
		celgo.Function("fieldSelector", narrowing("authorizer_fieldselector",
			func(info *request.Info, text string) { info.FieldSelector = text })),
		celgo.Function("labelSelector", narrowing("authorizer_labelselector",
			func(info *request.Info, text string) { info.LabelSelector = text })),
		celgo.Function("check",
			method("pathcheck_check", pathType, 1, decisionType, func(p pathValue, texts []string) ref.Val {
				return p.of.ask(request.Info{Path: p.path, Verb: texts[0]})
			}),
			method("resourcecheck_check", resourceType, 1, decisionType, func(r resourceValue, texts []string) ref.Val {
				r.info.Verb = texts[0]
				return r.of.ask(r.info)
			})),
		celgo.Function("errored", method("decision_errored", decisionType, 0, celgo.BoolType,
			func(d decisionValue, _ []string) ref.Val { return types.Bool(d.err != nil) })),
		celgo.Function("error", method("decision_error", decisionType, 0, celgo.StringType, errorOf)),
		celgo.Function("allowed", method("decision_allowed", decisionType, 0, celgo.BoolType,
			func(d decisionValue, _ []string) ref.Val { return types.Bool(d.decision == auth.Allow) })),
		celgo.Function("reason", method("decision_reason", decisionType, 0, celgo.StringType,
			func(d decisionValue, _ []string) ref.Val { return types.String(d.reason) })),
	}
}

func onPath(a authorizerValue, texts []string) ref.Val {
	if strings.TrimSpace(texts[0]) == "" {
		return types.NewErr("path must not be empty")
	}
	return pathValue{receiver{pathType}, a, texts[0]}
}

func inGroup(g groupValue, texts []string) ref.Val {
	if strings.TrimSpace(texts[0]) == "" {
		return types.NewErr("resource must not be empty")
	}
	return g.of.onResource(request.Info{Group: g.group, Resource: texts[0]})
}

func forServiceAccount(a authorizerValue, texts []string) ref.Val {
	namespace, name := texts[0], texts[1]
	if len(validation.ValidateServiceAccountName(name, false)) > 0 {
		return types.NewErr("Invalid service account name")
	}
	if len(validation.ValidateNamespaceName(namespace, false)) > 0 {
		return types.NewErr("Invalid service account namespace")
	}
	a.user = &auth.User{
		Name:   "system:serviceaccount:" + namespace + ":" + name,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace},
	}
	return a
}

func errorOf(d decisionValue, _ []string) ref.Val {
	if d.err == nil {
		return types.String("")
	}
	return types.String(d.err.Error())
}

// receiver is a value that is nothing but the receiver of methods.
type receiver struct{ typ *celgo.Type }

// ConvertToNative implements ref.Val.
func (r receiver) ConvertToNative(reflect.Type) (any, error) {
	return nil, errNotConverted(r.typ.TypeName())
}

type errNotConverted string

func (e errNotConverted) Error() string { return "type conversion error from '" + string(e) + "'" }

// ConvertToType implements ref.Val.
func (r receiver) ConvertToType(to ref.Type) ref.Val {
	if to == types.TypeType {
		return r.typ
	}
	return types.NewErr("type conversion error from '%s' to '%s'", r.typ, to)
}

// Equal implements ref.Val: two receivers are never equal.
func (receiver) Equal(ref.Val) ref.Val { return types.False }

// Type implements ref.Val.
func (r receiver) Type() ref.Type { return r.typ }

// Value implements ref.Val.
func (receiver) Value() any { return types.NoSuchOverloadErr() }

// costs adds the costs of the authorizer's functions: a check is dear.
type costs struct {
	interpreter.ActualCostEstimator
}

const checkCost = 350_000

// CallCost implements interpreter.ActualCostEstimator.
func (c costs) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	cost := uint64(1)
	switch overload {
	case "pathcheck_check", "resourcecheck_check":
		cost = checkCost
		return &cost
	}
	switch function {
	case "serviceAccount", "path", "group", "resource", "subresource", "namespace", "name", "allowed", "reason",
		"error", "errored":
		return &cost
	}
	return c.ActualCostEstimator.CallCost(function, overload, args, result)
}
