// Package class decides by rules to which flow a request belongs, and to which priority level. The rules are those of
// kube-apiserver's FlowSchemas. It may know packages auth and request.
package class

import (
	"cmp"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
)

// Schema selects requests. It is immutable.
type Schema struct {
	// Name is unique among the schemas; UID is what clients see of it.
	Name, UID string
	// Level is the name of the priority level.
	Level string
	// Precedence decides between schemas that select the same request: the lowest one, and of equal ones the first
	// name.
	Precedence int
	// By is what makes the requests of the schema different flows.
	By    By
	Rules []Rule
}

// By is what makes requests different flows.
type By int

// Nothing makes one flow of all requests, User one for each user, Namespace one for each namespace.
const (
	Nothing By = iota
	User
	Namespace
)

// All stands, alone in a list of a rule, for every value; as the name of a subject, for every name.
const All = "*"

// Rule selects requests of any of its subjects that any of its Resources or Paths selects.
type Rule struct {
	Users, Groups []string
	Accounts      []Account
	Resources     []Resource
	Paths         []Path
}

// Account is a service account.
type Account struct{ Namespace, Name string }

// Resource selects requests for resources. A subresource is part of its name: pods/status. Cluster reports whether it
// selects requests without a namespace.
type Resource struct {
	Verbs, Groups, Resources, Namespaces []string
	Cluster                              bool
}

// Path selects requests for paths beside the resources. A path stands for those below it, too.
type Path struct{ Verbs, Paths []string }

// Sort brings schemas into the order in which they are asked.
func Sort(schemas []*Schema) {
	slices.SortFunc(schemas, func(a, b *Schema) int {
		return cmp.Or(cmp.Compare(a.Precedence, b.Precedence), strings.Compare(a.Name, b.Name))
	})
}

// Candidates are the rules of schemas that select requests of one user, in the order in which they are asked.
type Candidates []candidate

type candidate struct {
	schema int
	rule   *Rule
}

// Of returns the candidates of a user among schemas.
func Of(user *auth.User, schemas []*Schema) (all Candidates) {
	for at, s := range schemas {
		for i := range s.Rules {
			if r := &s.Rules[i]; r.selectsUser(user) {
				all = append(all, candidate{at, r})
			}
		}
	}
	return all
}

// Find returns the index of the first schema that selects a request of the user, or -1.
func (c Candidates) Find(info *request.Info) int {
	for i := range c {
		if c[i].rule.selectsRequest(info) {
			return c[i].schema
		}
	}
	return -1
}

func (r *Rule) selectsRequest(info *request.Info) bool {
	if info.IsResource {
		return slices.ContainsFunc(r.Resources, func(r Resource) bool { return r.selects(info) })
	}
	return slices.ContainsFunc(r.Paths, func(p Path) bool { return p.selects(info) })
}

func (r *Resource) selects(info *request.Info) bool {
	switch {
	case !has(r.Verbs, info.Verb) || !has(r.Groups, info.Group) || !r.names(info):
		return false
	case info.Namespace == "":
		return r.Cluster
	}
	return has(r.Namespaces, info.Namespace)
}

// names reports whether a request is for a resource, or its subresource, that the rule names.
func (r *Resource) names(info *request.Info) bool {
	if info.Subresource == "" || isAll(r.Resources) {
		return has(r.Resources, info.Resource)
	}
	return slices.ContainsFunc(r.Resources, func(name string) bool {
		resource, subresource, _ := strings.Cut(name, "/")
		return resource == info.Resource && subresource == info.Subresource
	})
}

func (p *Path) selects(info *request.Info) bool {
	return has(p.Verbs, info.Verb) && slices.ContainsFunc(p.Paths, func(path string) bool {
		if path == All || path == info.Path {
			return true
		}
		below, found := strings.CutPrefix(info.Path, strings.TrimSuffix(strings.TrimSuffix(path, "*"), "/"))
		return found && strings.HasPrefix(below, "/")
	})
}

func has(list []string, value string) bool { return isAll(list) || slices.Contains(list, value) }

func isAll(list []string) bool { return len(list) == 1 && list[0] == All }

func (r *Rule) selectsUser(user *auth.User) bool {
	for _, name := range r.Users {
		if name == All || name == user.Name {
			return true
		}
	}
	for _, name := range r.Groups {
		if name == All || slices.Contains(user.Groups, name) {
			return true
		}
	}
	return slices.ContainsFunc(r.Accounts, func(a Account) bool { return a.is(user.Name) })
}

// accountPrefix begins the user names of service accounts.
const accountPrefix = "system:serviceaccount:"

func (a Account) is(user string) bool {
	rest, ok := strings.CutPrefix(user, accountPrefix)
	if !ok {
		return false
	}
	namespace, name, ok := strings.Cut(rest, ":")
	return ok && namespace == a.Namespace && (a.Name == All || a.Name == name)
}

// seed makes hashes that no client can know, so that nobody can choose a name whose queues are those of another flow.
var seed = maphash.MakeSeed()

// Flow returns what distinguishes the flow of a request among those of the schema, and the hash of the flow.
func (s *Schema) Flow(user *auth.User, info *request.Info) (distinguisher string, hash uint64) {
	switch s.By {
	case User:
		distinguisher = user.Name
	case Namespace:
		distinguisher = info.Namespace
	}
	return distinguisher, bits.RotateLeft64(maphash.String(seed, s.Name), 32) ^ maphash.String(seed, distinguisher)
}
