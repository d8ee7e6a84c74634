package rbac

import (
	"slices"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/verb"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The verbs of kube-apiserver's roles view and edit.
var (
	readVerbs  = []string{"get", "list", "watch"}
	writeVerbs = []string{"create", "delete", "deletecollection", "patch", "update"}
)

// extensionVerbs are the verbs of requests for a subresource, by their HTTP methods.
var extensionVerbs = map[string]string{
	"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete",
}

// levels are the roles of a group, and the rules of each for a kind.
var levels = []struct {
	name  string
	rules func(*kindRules, *verb.Info)
}{{"view", (*kindRules).view}, {"edit", (*kindRules).edit}, {"admin", (*kindRules).admin}}

// AddKinds adds to a policy the ClusterRoles <group>:view, <group>:edit and <group>:admin of each group of served
// kinds, whose rules the roles view, edit and admin gather by their labels. It leaves out groups that the policy names
// already, Kubernetes' own, and those by which the server governs itself. view reads objects, edit also writes them and
// uses their subresources, except for status; admin may use every verb.
func (p *Policy) AddKinds(served []*verb.Info) {
	named := p.groups()
	byGroup := map[string][]*verb.Info{}
	var order []string
	for _, info := range served {
		if slices.Contains(named, info.Group) || auth.Governs(info.Group) {
			continue
		}
		if byGroup[info.Group] == nil {
			order = append(order, info.Group)
		}
		byGroup[info.Group] = append(byGroup[info.Group], info)
	}
	for _, group := range order {
		for _, level := range levels {
			collected := kindRules{group: group}
			for _, info := range byGroup[group] {
				level.rules(&collected, info)
			}
			role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{
				Name:   group + ":" + level.name,
				Labels: map[string]string{rbacv1.GroupName + "/aggregate-to-" + level.name: "true"},
			}, Rules: collected.rules}
			mark(role)
			p.ClusterRoles = append(p.ClusterRoles, role)
		}
	}
}

// groups returns the API groups that the roles of a policy name.
func (p *Policy) groups() (all []string) {
	for _, r := range p.ClusterRoles {
		for _, rule := range r.Rules {
			all = append(all, rule.APIGroups...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// kindRules collects rules for the kinds of a group: one rule for all resources with the same verbs.
type kindRules struct {
	group string
	rules []rbacv1.PolicyRule
}

func (k *kindRules) allow(resource string, verbs []string) {
	if len(verbs) == 0 {
		return
	}
	for i := range k.rules {
		if slices.Equal(k.rules[i].Verbs, verbs) {
			k.rules[i].Resources = append(k.rules[i].Resources, resource)
			return
		}
	}
	k.rules = append(k.rules, rbacv1.PolicyRule{
		Verbs: verbs, APIGroups: []string{k.group}, Resources: []string{resource},
	})
}

func (k *kindRules) view(info *verb.Info) {
	k.allow(info.Names.Plural, common(readVerbs, info.Has))
	for _, s := range info.Subresources {
		if slices.Contains(s.Verbs, "get") {
			k.allow(info.Names.Plural+"/"+s.Name, readVerbs)
		}
	}
	for i := range info.Extensions {
		if e := &info.Extensions[i]; isView(e) {
			k.allow(info.Names.Plural+"/"+e.Name, readVerbs)
		}
	}
}

// isView reports whether a GET of a subresource only shows something, as opposed to a connection.
func isView(e *verb.Extension) bool {
	return e.Form != verb.ConnectionForm && slices.Contains(e.Methods, "GET")
}

func (k *kindRules) edit(info *verb.Info) {
	k.allow(info.Names.Plural, common(writeVerbs, info.Has))
	for i := range info.Extensions {
		e := &info.Extensions[i]
		var verbs []string
		for _, method := range e.Methods {
			if verb := extensionVerbs[method]; verb != "" && (verb != "get" || !isView(e)) {
				verbs = append(verbs, verb)
			}
		}
		slices.Sort(verbs)
		k.allow(info.Names.Plural+"/"+e.Name, verbs)
	}
}

func (k *kindRules) admin(info *verb.Info) {
	all := []string{everything}
	k.allow(info.Names.Plural, all)
	for _, s := range info.Subresources {
		k.allow(info.Names.Plural+"/"+s.Name, all)
	}
	for i := range info.Extensions {
		k.allow(info.Names.Plural+"/"+info.Extensions[i].Name, all)
	}
}

// common returns the verbs for which served returns true.
func common(verbs []string, served func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool { return !served(verb) })
}
