// Package node decides what the kubelets of nodes may do, as kube-apiserver's mode Node does: with the same decisions
// and reasons. A kubelet reads what the pods on its node need, and nothing of other nodes. A Graph follows the pods,
// volumes and similar objects of the server itself, and knows which nodes may read which objects.
//
// The package may know packages auth, access/rbac, reach, request and server, and the types of k8s.io/api.
package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/access/rbac"
	"apigen.dev/runtime/reach"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// userPrefix begins the user names of kubelets, group is their group.
	userPrefix = "system:node:"
	group      = "system:nodes"
	// role is the ClusterRole whose rules hold for resources that don't belong to single nodes.
	role = "system:node"
)

// Authorizer is the mode Node. It has no opinion on users that are no kubelets, nor on what it doesn't allow.
type Authorizer struct {
	// Graph knows which objects the nodes may read.
	Graph *Graph
	// rules are those of the ClusterRole.
	rules *rbac.Index
}

var (
	_ auth.Authorizer   = (*Authorizer)(nil)
	_ auth.RuleResolver = (*Authorizer)(nil)
)

// New returns an Authorizer with an empty Graph.
func New() (*Authorizer, error) {
	policy, err := rbac.KubernetesPolicy()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(policy.ClusterRoles, func(r *rbacv1.ClusterRole) bool { return r.Name == role })
	if i < 0 {
		return nil, fmt.Errorf("the bootstrap policy has no ClusterRole %s", role)
	}
	rules := &rbac.Index{}
	rules.ApplyClusterRoles(reach.Changes[*rbacv1.ClusterRole]{Reset: true, Put: policy.ClusterRoles[i : i+1]})
	rules.ApplyClusterRoleBindings(reach.Changes[*rbacv1.ClusterRoleBinding]{
		Reset: true,
		Put: []*rbacv1.ClusterRoleBinding{{
			ObjectMeta: metav1.ObjectMeta{Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}},
		}},
	})
	return &Authorizer{Graph: newGraph(), rules: rules}, nil
}

// nameOf returns the name of the node whose kubelet a user is, and false for other users.
func nameOf(user *auth.User) (name string, isNode bool) {
	if user == nil {
		return "", false
	}
	name, isNode = strings.CutPrefix(user.Name, userPrefix)
	return name, isNode && slices.Contains(user.Groups, group)
}

// Authorize implements auth.Authorizer. For users that are no kubelets it allocates nothing.
func (z *Authorizer) Authorize(ctx context.Context, a auth.Attributes) (auth.Decision, string, error) {
	name, isNode := nameOf(a.User)
	if !isNode {
		return auth.NoOpinion, "", nil
	}
	if name == "" {
		return auth.NoOpinion, fmt.Sprintf("unknown node for user %q", a.User.Name), nil
	}
	if a.IsResource {
		if rule := rules[schema.GroupResource{Group: a.Group, Resource: a.Resource}]; rule != nil {
			reason, allowed := rule(&question{z.Graph, name, a.Info})
			if allowed {
				return auth.Allow, "", nil
			}
			return auth.NoOpinion, reason, nil
		}
	}
	decision, _, err := z.rules.Authorize(ctx, a) // its reason would name a binding that nobody can look up
	return decision, "", err
}

// errRules is why the rules of a kubelet are incomplete.
var errRules = errors.New("node authorizer does not support user rule resolution")

// RulesFor implements auth.RuleResolver. It lists nothing: what a kubelet may do depends on its pods. For other users
// this is complete.
func (z *Authorizer) RulesFor(_ context.Context, user *auth.User, _ string) (auth.Rules, bool, error) {
	if _, isNode := nameOf(user); isNode {
		return auth.Rules{}, false, errRules
	}
	return auth.Rules{}, true, nil
}
