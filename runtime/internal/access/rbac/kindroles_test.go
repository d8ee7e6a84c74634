package rbac

import (
	"fmt"
	"slices"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAddKinds: each group of the author's has three roles that view, edit and admin gather.
func TestAddKinds(t *testing.T) {
	p, err := KubernetesPolicy()
	if err != nil {
		t.Fatal(err)
	}
	known := len(p.ClusterRoles)
	p.AddKinds([]*verb.Info{
		{Group: "apps", Names: api.Names{Plural: "deployments"}}, // Kubernetes' roles have it
		{
			Group: "shop.example.com", Names: api.Names{Plural: "widgets"},
			Subresources: []verb.Subresource{{Name: "status", Verbs: []string{"get", "patch", "update"}}},
			Extensions: []verb.Extension{
				{Name: "scale", Methods: []string{"GET", "PATCH", "PUT"}},
				{Name: "log", Form: verb.StreamForm, Methods: []string{"GET"}},
				{Name: "exec", Form: verb.ConnectionForm, Methods: []string{"GET", "POST"}},
				{Name: "approve", Methods: []string{"POST"}},
			},
		},
		{Group: "shop.example.com", Names: api.Names{Plural: "gadgets"}},
		{Group: "shop.example.com", Names: api.Names{Plural: "quotes"}, Verbs: []string{"create"}},
		{Group: "other.example.com", Names: api.Names{Plural: "views"}, Verbs: []string{"get", "list"}},
	})
	want := map[string][]string{
		"shop.example.com:view": {
			`{APIGroups:["shop.example.com"], ` +
				`Resources:["widgets" "widgets/status" "widgets/scale" "widgets/log" "gadgets"], ` +
				`Verbs:["get" "list" "watch"]}`,
		},
		"shop.example.com:edit": {
			`{APIGroups:["shop.example.com"], Resources:["widgets" "gadgets"], ` +
				`Verbs:["create" "delete" "deletecollection" "patch" "update"]}`,
			`{APIGroups:["shop.example.com"], Resources:["widgets/scale"], Verbs:["patch" "update"]}`,
			`{APIGroups:["shop.example.com"], Resources:["widgets/exec"], Verbs:["create" "get"]}`,
			`{APIGroups:["shop.example.com"], Resources:["widgets/approve" "quotes"], Verbs:["create"]}`,
		},
		"shop.example.com:admin": {
			`{APIGroups:["shop.example.com"], Resources:["widgets" "widgets/status" "widgets/scale" "widgets/log" ` +
				`"widgets/exec" "widgets/approve" "gadgets" "quotes"], Verbs:["*"]}`,
		},
		"other.example.com:view": {
			`{APIGroups:["other.example.com"], Resources:["views"], Verbs:["get" "list"]}`,
		},
		"other.example.com:edit":  nil,
		"other.example.com:admin": {`{APIGroups:["other.example.com"], Resources:["views"], Verbs:["*"]}`},
	}
	added := p.ClusterRoles[known:]
	if len(added) != len(want) {
		t.Errorf("%d roles, want %d", len(added), len(want))
	}
	for _, r := range added {
		var got []string
		for i := range r.Rules {
			got = append(got, describeRule(&r.Rules[i]))
		}
		if !slices.Equal(got, want[r.Name]) || len(r.Labels) != 2 || r.Annotations[autoUpdate] != "true" {
			t.Errorf("%s %v: %q\nwant %q", r.Name, r.Labels, got, want[r.Name])
		}
	}
	if r := added[0]; r.Labels["rbac.authorization.k8s.io/aggregate-to-view"] != "true" {
		t.Errorf("%s: %v", r.Name, r.Labels)
	}
}

// TestGather: the rules of the selected roles, each once, in the order of the selectors and of the names.
func TestGather(t *testing.T) {
	labelled := func(name, label string, resources ...string) *rbacv1.ClusterRole {
		var rules []rbacv1.PolicyRule
		for _, resource := range resources {
			rules = append(rules, rule("get", "g", resource))
		}
		r := clusterRole(name, rules...)
		r.Labels = map[string]string{label: "true"}
		return r
	}
	sum := labelled("sum", "x", "own")
	all := []*rbacv1.ClusterRole{
		labelled("a", "x", "1", "2"), labelled("b", "y", "3", "1"), labelled("c", "x", "2", "4"), sum, clusterRole("z"),
	}
	if _, ok := gather(all[0], all); ok {
		t.Error("a role without selectors gathers rules")
	}
	sum.AggregationRule = aggregationOf("y", "x")
	rules, ok := gather(sum, all)
	var got []string
	for _, r := range rules {
		got = append(got, r.Resources...)
	}
	if fmt.Sprint(got) != "[3 1 2 4]" || !ok {
		t.Error(got, ok)
	}
	sum.AggregationRule = aggregationOf("in valid")
	if _, ok := gather(sum, all); ok {
		t.Error("a selector that is not valid selects")
	}
}

func aggregationOf(labels ...string) *rbacv1.AggregationRule {
	all := &rbacv1.AggregationRule{}
	for _, label := range labels {
		all.ClusterRoleSelectors = append(all.ClusterRoleSelectors,
			metav1.LabelSelector{MatchLabels: map[string]string{label: "true"}})
	}
	return all
}

func BenchmarkKubernetesPolicy(b *testing.B) {
	for b.Loop() {
		if _, err := KubernetesPolicy(); err != nil {
			b.Fatal(err)
		}
	}
}
