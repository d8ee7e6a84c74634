package rbac

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"unique"

	rbacv1 "k8s.io/api/rbac/v1"
)

// state is one state of an Index. It never changes: a change makes a new one, which shares all that stays.
type state struct {
	// clusterRoles are rules by the name of a ClusterRole, roles by the namespace and the name of a Role.
	clusterRoles, roles table[*role]
	// cluster are the grants of ClusterRoleBindings, namespaces those of the RoleBindings of each namespace.
	cluster    subjects
	namespaces table[*subjects]
}

// subjects are grants by the name of a user and by the name of a group. The user of a service account has its full name
// here.
type subjects struct{ users, groups table[*grants] }

// grants are what bindings give to one subject, sorted by before.
type grants struct {
	all []*grant
	// distinct are the first ones of each role. No other grant can be the first that allows something.
	distinct []*grant
}

func newGrants(sorted []*grant) *grants {
	type reference struct{ kind, key string }
	known := make(map[reference]bool, len(sorted))
	var distinct []*grant
	for _, one := range sorted {
		if ref := (reference{one.kind, one.key}); !known[ref] {
			known[ref] = true
			distinct = append(distinct, one)
		}
	}
	if len(distinct) == len(sorted) {
		distinct = sorted // the usual case, in half the memory
	}
	return &grants{all: sorted, distinct: distinct}
}

// grant is what a binding gives to one of its subjects.
type grant struct {
	// binding is the name of the binding, position the index of the subject in it.
	binding  string
	position int
	// kind and name are those of the role; key is its key in its table, hash that key's.
	kind, name, key string
	hash            uint64
	// reason says why the grant allows something, in the words of kube-apiserver.
	reason string
}

// before is the order in which grants are asked: that of the names of bindings, and of the subjects in a binding.
func (g *grant) before(other *grant) bool { return g.compare(other) < 0 }

func (g *grant) compare(other *grant) int {
	if byName := cmp.Compare(g.binding, other.binding); byName != 0 {
		return byName
	}
	return cmp.Compare(g.position, other.position)
}

// roleOf returns the role of a grant, or nil if it doesn't exist.
func (s *state) roleOf(g *grant) *role {
	switch g.kind {
	case clusterRoleKind:
		return s.clusterRoles.get(g.hash, g.key)
	case roleKind:
		return s.roles.get(g.hash, g.key)
	}
	return nil
}

// The kinds of roles in a reference.
const (
	clusterRoleKind = "ClusterRole"
	roleKind        = "Role"
)

// keyOf returns the key of an object in the tables of an Index.
func keyOf(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// binding is a ClusterRoleBinding, whose namespace is "", or a RoleBinding.
type binding struct {
	namespace, name string
	ref             rbacv1.RoleRef
	subjects        []rbacv1.Subject
}

type objectName struct{ namespace, name string }

// applied is what an Index remembers of a binding: where its grants are. Strings that many bindings share are there
// once: thousands of bindings would otherwise be most of what the garbage collector looks at.
type applied struct {
	name   string
	places []place
}

// place is where a state keeps the grants of a subject.
type place struct {
	namespace string
	group     bool
	name      string
}

// grants returns what the binding gives, by the place of each subject. Of two subjects with one place the first counts.
func (b *binding) grants() map[place]*grant {
	all := make(map[place]*grant, len(b.subjects))
	for i := range b.subjects {
		at, ok := b.placeOf(&b.subjects[i])
		if !ok || all[at] != nil {
			continue
		}
		role := shared(b.ref.Name)
		g := &grant{binding: b.name, position: i, kind: shared(b.ref.Kind), name: role, key: role}
		if g.kind == roleKind {
			g.key = keyOf(b.namespace, g.name)
		}
		g.hash = hashOf(g.key)
		g.reason = fmt.Sprintf("RBAC: allowed by %s of %s %q to %s", b, g.kind, g.name, b.describe(&b.subjects[i]))
		all[at] = g
	}
	return all
}

// shared returns the one copy of a string that many objects have.
func shared(s string) string { return unique.Make(s).Value() }

// accountPrefix begins the user names of service accounts.
const accountPrefix = "system:serviceaccount:"

// placeOf returns the place of a subject, and false for a subject that no user can be.
func (b *binding) placeOf(s *rbacv1.Subject) (place, bool) {
	switch s.Kind {
	case rbacv1.UserKind:
		return place{b.namespace, false, s.Name}, true
	case rbacv1.GroupKind:
		return place{b.namespace, true, s.Name}, true
	case rbacv1.ServiceAccountKind:
		if namespace := cmp.Or(s.Namespace, b.namespace); namespace != "" {
			return place{b.namespace, false, accountPrefix + namespace + ":" + s.Name}, true
		}
	}
	return place{}, false
}

// String names the binding as kube-apiserver does, which puts the namespace after the name.
func (b *binding) String() string {
	if b.namespace == "" {
		return fmt.Sprintf("ClusterRoleBinding %q", b.name)
	}
	return fmt.Sprintf("RoleBinding %q", b.name+"/"+b.namespace)
}

func (b *binding) describe(s *rbacv1.Subject) string {
	name := s.Name
	if s.Kind == rbacv1.ServiceAccountKind {
		name += "/" + cmp.Or(s.Namespace, b.namespace)
	}
	return fmt.Sprintf("%s %q", s.Kind, name)
}

// edits are changes of the grants of subjects.
type edits map[place]*edit

type edit struct {
	// dropped are the names of bindings whose grants end, added are grants that begin.
	dropped []string
	added   []*grant
}

func (e edits) at(p place) *edit {
	if e[p] == nil {
		e[p] = &edit{}
	}
	return e[p]
}

// drop records that the grants of a binding end.
func (e edits) drop(old applied) {
	for _, p := range old.places {
		one := e.at(p)
		one.dropped = append(one.dropped, old.name)
	}
}

// add records that the grants of a binding begin.
func (e edits) add(now *binding) applied {
	all := now.grants()
	for p, g := range all {
		one := e.at(p)
		one.added = append(one.added, g)
	}
	return applied{now.name, slices.Collect(maps.Keys(all))}
}

// apply returns the grants after the edit of old ones, which may be nil: nil for none.
func (e *edit) apply(old *grants) *grants {
	if old == nil {
		old = &grants{}
	}
	kept := make([]*grant, 0, len(old.all)+len(e.added))
	slices.Sort(e.dropped)
	for _, g := range old.all {
		if _, dropped := slices.BinarySearch(e.dropped, g.binding); !dropped {
			kept = append(kept, g)
		}
	}
	kept = append(kept, e.added...)
	if len(kept) == 0 {
		return nil
	}
	slices.SortFunc(kept, (*grant).compare)
	return newGrants(kept)
}

// apply makes edits of the grants. Its work grows with the number of edits, and with the grants of their subjects.
func (s *state) apply(all edits) {
	for p, e := range all {
		within := &s.cluster
		if p.namespace != "" {
			within = &subjects{}
			if old := s.namespaces.get(hashOf(p.namespace), p.namespace); old != nil {
				*within = *old
			}
		}
		t := &within.users
		if p.group {
			t = &within.groups
		}
		if now := e.apply(t.get(hashOf(p.name), p.name)); now != nil {
			*t = t.put(p.name, now)
		} else {
			*t = t.remove(p.name)
		}
		switch {
		case p.namespace == "":
		case *within == subjects{}:
			s.namespaces = s.namespaces.remove(p.namespace)
		default:
			s.namespaces = s.namespaces.put(p.namespace, within)
		}
	}
}
