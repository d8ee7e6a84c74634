package filter

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const verbImpersonate = "impersonate"

// impersonationMode is a way to act for another user. The verb impersonate gives everything that the other user may.
// In a constrained mode, a user needs impersonate:MODE on the other user, and impersonate-on:MODE:VERB on what the
// request asks for, so that the right to act for somebody ends at certain requests. The modes are kube-apiserver's,
// except for associated-node: a server that runs no Pods has no users who belong to a node.
type impersonationMode struct {
	// name is "" for the verb impersonate.
	name string
	// fits reports whether the mode is for a user.
	fits func(wanted *auth.User) bool
}

// impersonationModes are tried in this order. If all of them refuse, the client gets the error of the first.
var impersonationModes = []impersonationMode{
	{"arbitrary-node", func(wanted *auth.User) bool { return isNode(wanted.Name) && onlyNamed(wanted) }},
	{"serviceaccount", func(wanted *auth.User) bool { return isServiceAccount(wanted.Name) && onlyNamed(wanted) }},
	{"user-info", func(wanted *auth.User) bool { return !isNode(wanted.Name) && !isServiceAccount(wanted.Name) }},
	{"", func(*auth.User) bool { return true }},
}

// verb returns the verb that a user needs on the other user.
func (m impersonationMode) verb() string {
	if m.name == "" {
		return verbImpersonate
	}
	return verbImpersonate + ":" + m.name
}

// impersonator decides who acts for whom.
type impersonator struct {
	authorizer auth.Authorizer
	last       lastModes
}

// impersonate returns the user that the request acts as, and the constraint under which it does: the verb of a
// constrained mode, or "". The mode that was last allowed to the user who asks comes first, as in kube-apiserver: it
// is the one that a refusal should speak of.
func (i *impersonator) impersonate(r *http.Request, wanted *auth.User) (*auth.User, string, error) {
	asking := auth.UserFrom(r.Context()).Name
	last, known := i.last.get(asking)
	order := make([]int, 0, len(impersonationModes)+1)
	if known {
		order = append(order, last)
	}
	for n := range impersonationModes {
		if !known || n != last {
			order = append(order, n)
		}
	}
	var first error
	for _, n := range order {
		mode := impersonationModes[n]
		if !mode.fits(wanted) {
			continue
		}
		err := (&impersonation{authorizer: i.authorizer, request: r, mode: mode, wanted: wanted}).check()
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		i.last.set(asking, n)
		if mode.name == "" {
			return withImplied(wanted), "", nil
		}
		return withImplied(withNodes(wanted)), mode.verb(), nil
	}
	return nil, "", first
}

// lastModes remembers the mode that was last allowed to a user, for at most maxLastModes users.
type lastModes struct {
	mu    sync.Mutex // guards modes
	modes map[string]int
}

const maxLastModes = 10_000

func (l *lastModes) get(user string) (mode int, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	mode, known = l.modes[user]
	return mode, known
}

func (l *lastModes) set(user string, mode int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.modes == nil || len(l.modes) >= maxLastModes {
		l.modes = map[string]int{}
	}
	l.modes[user] = mode
}

// impersonation is the attempt to act for a user in a mode.
type impersonation struct {
	authorizer auth.Authorizer
	request    *http.Request
	mode       impersonationMode
	wanted     *auth.User
}

// check returns nil if the user may have all that the other user is to be, or the first error.
func (i *impersonation) check() error {
	for _, step := range []func() error{i.checkRequest, i.checkName, i.checkUID, i.checkGroups, i.checkExtra} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// checkRequest asks whether the user may act for others in this request.
func (i *impersonation) checkRequest() error {
	if i.mode.name == "" {
		return nil
	}
	info := request.InfoFrom(i.request.Context())
	return decide(i.authorizer, i.request, info.WithVerb("impersonate-on:"+i.mode.name+":"+info.Verb))
}

func (i *impersonation) checkName() error {
	resource, namespace, name := "users", "", i.wanted.Name
	if ns, account, ok := serviceAccount(name); ok {
		resource, namespace, name = "serviceaccounts", ns, account
	} else if i.mode.name != "" && isNode(name) {
		resource, name = "nodes", strings.TrimPrefix(name, nodePrefix)
	}
	return i.ask(i.attributes(i.userGroup(), resource, "", namespace, name))
}

func (i *impersonation) checkUID() error {
	if i.wanted.UID == "" {
		return nil
	}
	return i.ask(i.attributes(extraGroup, "uids", "", "", i.wanted.UID))
}

// manyQuestions is how many groups or extra values a constrained mode asks for at once, by the name *, before it asks
// for each.
const manyQuestions = 4

func (i *impersonation) checkGroups() error {
	about := func(name string) *request.Info { return i.attributes(i.userGroup(), "groups", "", "", name) }
	if i.mode.name != "" {
		switch {
		case slices.Contains(i.wanted.Groups, ""):
			return i.refuse(about(""), "impersonating the empty string group is not allowed")
		case slices.Contains(i.wanted.Groups, auth.Masters):
			return i.refuse(about(auth.Masters), "impersonating the system:masters group is not allowed")
		case len(i.wanted.Groups) >= manyQuestions && i.ask(about("*")) == nil:
			return nil
		}
	}
	for _, group := range i.wanted.Groups {
		if err := i.ask(about(group)); err != nil {
			return err
		}
	}
	return nil
}

func (i *impersonation) checkExtra() error {
	about := func(key, value string) *request.Info { return i.attributes(extraGroup, "userextras", key, "", value) }
	if i.mode.name != "" {
		if reason := invalidExtra(i.wanted.Extra); reason != "" {
			return i.refuse(about("", ""), reason)
		}
		values := 0
		for _, of := range i.wanted.Extra {
			values += len(of)
		}
		if values >= manyQuestions && i.ask(about("*", "*")) == nil {
			return nil
		}
	}
	for key, values := range i.wanted.Extra {
		for _, value := range values {
			if err := i.ask(about(key, value)); err != nil {
				return err
			}
		}
	}
	return nil
}

// extraGroup is the group of the resources uids and userextras, and in constrained modes of users and groups, too.
const extraGroup = "authentication.k8s.io"

// userGroup is the group of the resources users, groups, serviceaccounts and nodes.
func (i *impersonation) userGroup() string {
	if i.mode.name == "" {
		return ""
	}
	return extraGroup
}

func (i *impersonation) attributes(group, resource, subresource, namespace, name string) *request.Info {
	return &request.Info{
		IsResource: true, Verb: i.mode.verb(), Group: group, Version: "v1", Resource: resource,
		Subresource: subresource, Namespace: namespace, Name: name,
	}
}

func (i *impersonation) ask(info *request.Info) error { return decide(i.authorizer, i.request, info) }

func (i *impersonation) refuse(info *request.Info, reason string) error {
	return forbidden(auth.Attributes{User: auth.UserFrom(i.request.Context()), Info: info}, reason)
}

// invalidExtra returns why extra values can't be had in a constrained mode, or "".
func invalidExtra(extra map[string][]string) string {
	for key, values := range extra {
		switch err := utilvalidation.IsDomainPrefixedPath(field.NewPath("extra", "key"), key).ToAggregate(); {
		case key == "":
			return "impersonating the empty string key in extra is not allowed"
		case err != nil:
			return "impersonating an invalid key in extra is not allowed: " + err.Error()
		case slices.Contains(values, ""):
			return "impersonating the empty string value in extra is not allowed"
		}
	}
	return ""
}

// nodePrefix begins the names of nodes' users, whose group is nodes.
const (
	nodePrefix = "system:node:"
	nodes      = "system:nodes"
)

func isNode(user string) bool {
	name, ok := strings.CutPrefix(user, nodePrefix)
	return ok && len(validation.NameIsDNSSubdomain(name, false)) == 0
}

// withNodes adds the group of nodes to a node.
func withNodes(user *auth.User) *auth.User {
	if isNode(user.Name) {
		return withGroup(user, nodes)
	}
	return user
}

func isServiceAccount(user string) bool {
	_, _, ok := serviceAccount(user)
	return ok
}

// onlyNamed reports whether a request asks for nothing but the name of a user.
func onlyNamed(user *auth.User) bool {
	return user.UID == "" && len(user.Groups) == 0 && len(user.Extra) == 0
}
