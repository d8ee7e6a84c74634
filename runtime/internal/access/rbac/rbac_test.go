package rbac

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/reach"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func clusterRole(name string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

func roleIn(namespace, name string, rules ...rbacv1.PolicyRule) *rbacv1.Role {
	return &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Rules: rules}
}

func clusterBinding(name, role string, subjects ...rbacv1.Subject) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}
}

func bindingIn(namespace, name, kind, role string, subjects ...rbacv1.Subject) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
	}
}

func rule(verbs, groups, resources string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{
		Verbs: strings.Fields(verbs), APIGroups: strings.Split(groups, " "), Resources: strings.Fields(resources),
		ResourceNames: names,
	}
}

func user(name string) rbacv1.Subject  { return rbacv1.Subject{Kind: "User", Name: name} }
func group(name string) rbacv1.Subject { return rbacv1.Subject{Kind: "Group", Name: name} }

func account(namespace, name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: name}
}

// shopIndex is an index of a few roles and bindings.
func shopIndex() *Index {
	x := &Index{}
	x.ApplyClusterRoles(reach.Changes[*rbacv1.ClusterRole]{Reset: true, Revision: 1, Put: []*rbacv1.ClusterRole{
		clusterRole("view", rule("get list watch", "shop.example.com", "widgets")),
		clusterRole("scale", rule("*", "*", "*/scale")),
		clusterRole("health", rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/healthz*"}}),
	}})
	x.ApplyRoles(reach.Changes[*rbacv1.Role]{Reset: true, Revision: 1, Put: []*rbacv1.Role{
		roleIn("ns", "one", rule("update delete", "shop.example.com", "widgets widgets/status", "a")),
	}})
	x.ApplyClusterRoleBindings(reach.Changes[*rbacv1.ClusterRoleBinding]{
		Reset: true, Revision: 1, Put: []*rbacv1.ClusterRoleBinding{
			clusterBinding("viewers", "view", user("ann"), group("readers")),
			clusterBinding("all-viewers", "view", group("everybody")),
			clusterBinding("health", "health", account("kube", "prober")),
			clusterBinding("stray", "gone", user("eve")),
		},
	})
	x.ApplyRoleBindings(reach.Changes[*rbacv1.RoleBinding]{Reset: true, Revision: 1, Put: []*rbacv1.RoleBinding{
		bindingIn("ns", "one", "Role", "one", user("ann"), account("", "robot")),
		bindingIn("ns", "scale", "ClusterRole", "scale", group("readers")),
		bindingIn("ns", "stray", "Role", "gone", user("eve")),
	}})
	return x
}

func asks(name string, groups []string, verb, path string) auth.Attributes {
	info := &request.Info{Verb: verb, Path: path}
	if namespace, rest, ok := strings.Cut(path, ":"); ok {
		info.IsResource, info.Group, info.Namespace = true, "shop.example.com", namespace
		parts := strings.Split(rest+"//", "/")
		info.Resource, info.Name, info.Subresource = parts[0], parts[1], parts[2]
	}
	return auth.Attributes{User: &auth.User{Name: name, Groups: groups}, Info: info}
}

func TestAuthorize(t *testing.T) {
	x := shopIndex()
	robot := "system:serviceaccount:ns:robot"
	for _, test := range []struct {
		name, groups, verb, path string
		decision                 auth.Decision
		reason                   string
	}{
		{"ann", "", "list", "ns:widgets", auth.Allow,
			`RBAC: allowed by ClusterRoleBinding "viewers" of ClusterRole "view" to User "ann"`},
		{"ann", "everybody", "list", ":widgets", auth.Allow, // the first by name
			`RBAC: allowed by ClusterRoleBinding "all-viewers" of ClusterRole "view" to Group "everybody"`},
		{"bob", "readers", "watch", ":widgets", auth.Allow,
			`RBAC: allowed by ClusterRoleBinding "viewers" of ClusterRole "view" to Group "readers"`},
		{"ann", "readers", "get", ":widgets/a", auth.Allow, // of two subjects the first
			`RBAC: allowed by ClusterRoleBinding "viewers" of ClusterRole "view" to User "ann"`},
		{"ann", "", "update", "ns:widgets/a", auth.Allow,
			`RBAC: allowed by RoleBinding "one/ns" of Role "one" to User "ann"`},
		{robot, "", "delete", "ns:widgets/a", auth.Allow,
			`RBAC: allowed by RoleBinding "one/ns" of Role "one" to ServiceAccount "robot/ns"`},
		{"bob", "readers", "update", "ns:widgets/b/scale", auth.Allow,
			`RBAC: allowed by RoleBinding "scale/ns" of ClusterRole "scale" to Group "readers"`},
		{"system:serviceaccount:kube:prober", "", "get", "/healthz/etcd", auth.Allow,
			`RBAC: allowed by ClusterRoleBinding "health" of ClusterRole "health" to ServiceAccount "prober/kube"`},
		{"bob", "readers", "update", "other:widgets/b/scale", auth.NoOpinion, ""},
		{"bob", "readers", "update", "ns:widgets/b/xscale", auth.NoOpinion, ""},
		{"ann", "", "update", "ns:widgets/b", auth.NoOpinion, ""},
		{"ann", "", "update", "ns:widgets", auth.NoOpinion, ""},
		{"ann", "", "get", ":widgets/a/status", auth.NoOpinion, ""},
		{"", "", "get", ":widgets/a", auth.NoOpinion, ""},
		{"eve", "", "get", "ns:widgets/a", auth.NoOpinion, `RBAC: [clusterrole.rbac.authorization.k8s.io "gone" ` +
			`not found, role.rbac.authorization.k8s.io "gone" not found]`},
		{"eve", "", "get", ":widgets/a", auth.NoOpinion,
			`RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found`},
		{"eve", "everybody", "get", "ns:widgets/a", auth.Allow,
			`RBAC: allowed by ClusterRoleBinding "all-viewers" of ClusterRole "view" to Group "everybody"`},
	} {
		decision, reason, err := x.Authorize(t.Context(),
			asks(test.name, strings.Fields(test.groups), test.verb, test.path))
		if decision != test.decision || reason != test.reason || err != nil {
			t.Errorf("%s %s %s: %v, %q, %v; want %v, %q", test.name, test.verb, test.path, decision, reason, err,
				test.decision, test.reason)
		}
	}
	if decision, _, _ := x.Authorize(t.Context(), auth.Attributes{Info: &request.Info{}}); decision != auth.NoOpinion {
		t.Error("nobody may")
	}
	if decision, _, _ := new(Index).Authorize(t.Context(), asks("ann", nil, "get", ":widgets/a")); decision != 0 {
		t.Error("an empty index decides")
	}
}

func TestRulesFor(t *testing.T) {
	x := shopIndex()
	rules, complete, err := x.RulesFor(t.Context(), &auth.User{Name: "ann", Groups: []string{"readers"}}, "ns")
	if err != nil || !complete || len(rules.Resources) != 3 || rules.Resources[1].Names[0] != "a" {
		t.Errorf("%+v, %v, %v", rules, complete, err)
	}
	prober := &auth.User{Name: "system:serviceaccount:kube:prober"}
	rules, _, err = x.RulesFor(t.Context(), prober, "")
	if err != nil || len(rules.Resources) != 0 || rules.NonResources[0].Paths[0] != "/healthz*" {
		t.Errorf("%+v, %v", rules, err)
	}
	want := `[clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "gone" not found]`
	if _, _, err = x.RulesFor(t.Context(), &auth.User{Name: "eve"}, "ns"); err == nil || err.Error() != want {
		t.Error(err)
	}
}

// TestChanges: an index that is changed step by step decides as one that is made at once.
func TestChanges(t *testing.T) {
	x := shopIndex()
	may := func(name, verb, path string) bool {
		decision, _, _ := x.Authorize(t.Context(), asks(name, nil, verb, path))
		return decision == auth.Allow
	}
	before := x.state()
	x.ApplyClusterRoleBindings(reach.Changes[*rbacv1.ClusterRoleBinding]{
		Put: []*rbacv1.ClusterRoleBinding{clusterBinding("viewers", "view", user("bob"))},
	})
	if may("ann", "list", ":widgets") || !may("bob", "list", ":widgets") {
		t.Error("the subjects of a binding changed")
	}
	x.ApplyClusterRoles(reach.Changes[*rbacv1.ClusterRole]{Deleted: []*rbacv1.ClusterRole{clusterRole("view")}})
	if may("bob", "list", ":widgets") {
		t.Error("a role was deleted")
	}
	x.ApplyClusterRoles(reach.Changes[*rbacv1.ClusterRole]{
		Put: []*rbacv1.ClusterRole{clusterRole("view", rule("delete", "*", "*"))},
	})
	if may("bob", "list", ":widgets") || !may("bob", "delete", ":widgets/a") {
		t.Error("a role changed")
	}
	x.ApplyRoleBindings(reach.Changes[*rbacv1.RoleBinding]{
		Deleted: []*rbacv1.RoleBinding{bindingIn("ns", "one", "", ""), bindingIn("ns", "never", "", "")},
	})
	if may("ann", "update", "ns:widgets/a") {
		t.Error("a binding was deleted")
	}
	x.ApplyRoleBindings(reach.Changes[*rbacv1.RoleBinding]{Reset: true})
	x.ApplyClusterRoleBindings(reach.Changes[*rbacv1.ClusterRoleBinding]{Reset: true})
	if s := x.state(); s.namespaces.root != nil || s.cluster != (subjects{}) {
		t.Error("a reset left bindings")
	}
	if before.cluster.users.get(hashOf("ann"), "ann") == nil {
		t.Error("an old state changed")
	}
}

// crowd is an index with n bindings: half of ClusterRoles for the cluster, half in 100 namespaces. A user has bindings
// of their own and those of five groups.
func crowd(n int) *Index {
	x := &Index{}
	var rules []rbacv1.PolicyRule
	for i := range 20 {
		rules = append(rules,
			rule("get list watch", fmt.Sprintf("g%d.example.com", i), "widgets widgets/status gadgets parts"))
	}
	rules = append(rules, rule("get list watch", "shop.example.com", "widgets"))
	var all []*rbacv1.ClusterRole
	for i := range 50 {
		all = append(all, clusterRole(fmt.Sprint("role", i), rules...))
	}
	x.ApplyClusterRoles(reach.Changes[*rbacv1.ClusterRole]{Reset: true, Put: all})
	x.ApplyRoles(reach.Changes[*rbacv1.Role]{Reset: true})
	var cluster []*rbacv1.ClusterRoleBinding
	var spaced []*rbacv1.RoleBinding
	for i := range n / 2 {
		name, role := fmt.Sprint("b", i), fmt.Sprint("role", i%50)
		subjects := []rbacv1.Subject{user(fmt.Sprint("user", i)), group(fmt.Sprint("group", i))}
		cluster = append(cluster, clusterBinding(name, role, subjects...))
		spaced = append(spaced, bindingIn(fmt.Sprint("ns", i%100), name, "ClusterRole", role, subjects...))
	}
	x.ApplyClusterRoleBindings(reach.Changes[*rbacv1.ClusterRoleBinding]{Reset: true, Put: cluster})
	x.ApplyRoleBindings(reach.Changes[*rbacv1.RoleBinding]{Reset: true, Put: spaced})
	return x
}

var crowdGroups = []string{"group7", "group107", "group4001", "others", "system:authenticated"}

func BenchmarkAuthorize(b *testing.B) {
	x := crowd(10_000)
	for _, bench := range []struct {
		name string
		asks auth.Attributes
		want auth.Decision
	}{
		{"AllowedByUser", asks("user7", crowdGroups, "list", "ns7:widgets"), auth.Allow},
		{"AllowedByGroup", asks("nobody", crowdGroups, "list", "ns7:widgets"), auth.Allow},
		{"Denied", asks("user7", crowdGroups, "delete", "ns7:widgets/a"), auth.NoOpinion},
		{"DeniedByResource", asks("user7", crowdGroups, "get", "ns7:others/a"), auth.NoOpinion},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got, _, _ := x.Authorize(b.Context(), bench.asks); got != bench.want {
					b.Fatal(got)
				}
			}
		})
	}
}

// BenchmarkAuthorizeCrowdedGroup: all of 10,000 bindings give roles to one group.
func BenchmarkAuthorizeCrowdedGroup(b *testing.B) {
	x := crowd(100)
	var all []*rbacv1.ClusterRoleBinding
	for i := range 10_000 {
		all = append(all, clusterBinding(fmt.Sprint("b", i), fmt.Sprint("role", i%5), group("everybody")))
	}
	x.ApplyClusterRoleBindings(reach.Changes[*rbacv1.ClusterRoleBinding]{Reset: true, Put: all})
	a := asks("nobody", []string{"everybody"}, "delete", "ns7:widgets/a")
	b.ReportAllocs()
	for b.Loop() {
		if got, _, _ := x.Authorize(b.Context(), a); got != auth.NoOpinion {
			b.Fatal(got)
		}
	}
}

// BenchmarkChange: one binding among n changes.
func BenchmarkChange(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := crowd(n)
			b.ReportAllocs()
			for b.Loop() {
				x.ApplyClusterRoleBindings(reach.Changes[*rbacv1.ClusterRoleBinding]{
					Put: []*rbacv1.ClusterRoleBinding{clusterBinding("b1", "role1", user("user1"), group("group1"))},
				})
			}
		})
	}
}

func TestAuthorizeAllocatesNothing(t *testing.T) {
	x, a := crowd(1000), asks("user7", slices.Clone(crowdGroups), "list", "ns7:widgets")
	denied := asks("user7", slices.Clone(crowdGroups), "delete", "ns7:widgets/a")
	if n := testing.AllocsPerRun(100, func() {
		_, _, _ = x.Authorize(t.Context(), a)
		_, _, _ = x.Authorize(t.Context(), denied)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestTable holds the table to a map, with many values and with equal hashes.
func TestTable(t *testing.T) {
	var all table[int]
	want := map[string]int{}
	for i := range 3000 {
		key := fmt.Sprint(i * 7 % 1000)
		if i%3 == 2 {
			all = all.remove(key)
			delete(want, key)
		} else {
			all = all.put(key, i+1)
			want[key] = i + 1
		}
	}
	for i := range 1000 {
		key := fmt.Sprint(i)
		if got := all.get(hashOf(key), key); got != want[key] {
			t.Errorf("%s: %d, want %d", key, got, want[key])
		}
	}
	for key := range want {
		all = all.remove(key)
	}
	if all.root != nil || all.remove("none").root != nil {
		t.Error("an empty table has nodes")
	}
	var n *node[int]
	for i := range 20 {
		n = n.put(entry[int]{5, fmt.Sprint(i), i}, 0)
	}
	if got := (table[int]{n}).get(5, "13"); got != 13 {
		t.Errorf("among equal hashes: %d", got)
	}
	for i := range 20 {
		if n = n.remove(5, fmt.Sprint(i), 0); i < 19 && (table[int]{n}).get(5, "19") != 19 {
			t.Errorf("removing %d", i)
		}
	}
	if n != nil {
		t.Error("nodes are left")
	}
}
