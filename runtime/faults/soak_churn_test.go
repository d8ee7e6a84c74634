package faults

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	access      = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"
	jsonType    = "application/json"
)

// define is the definition of a kind whose spec has fields, which are strings; the last is selectable.
func define(group, kind string, fields ...string) string {
	plural := strings.ToLower(kind) + "s"
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",`+
		`"metadata":{"name":"%s.%s"},"spec":{"group":%q,"scope":"Namespaced","names":{"plural":%q,"kind":%q},%s}}`,
		plural, group, group, plural, kind, versionsOf(fields...))
}

func versionsOf(fields ...string) string {
	var properties []string
	for _, f := range fields {
		properties = append(properties, fmt.Sprintf(`%q:{"type":"string"}`, f))
	}
	return fmt.Sprintf(`"versions":[{"name":"v1","served":true,"storage":true,"selectableFields":`+
		`[{"jsonPath":".spec.%s"}],"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":`+
		`{"type":"object","properties":{%s}}}}}}]`, fields[len(fields)-1], strings.Join(properties, ","))
}

// churn defines and binds until it is stopped; then it finishes what it began, so that nothing of it is left.
func (s *soak) churn(round int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			s.definition(fmt.Sprintf("soak%dx%d", round, n))
		}
	})
	working.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			s.access(&s.record.troubled, fmt.Sprintf("soak-%d-%d", round, n))
		}
	})
	stop = func() { cancel(); working.Wait() }
	return stop
}

// verdict judges an answer: whether it is the one that is waited for.
type verdict func(code int, answer []byte) bool

func answers(codes ...int) verdict {
	return func(code int, _ []byte) bool { return slices.Contains(codes, code) }
}

// definition creates a definition, uses, changes and deletes it. Each step holds at both replicas before the next.
func (s *soak) definition(kind string) {
	group, plural := "soak.example.com", kind+"s"
	url := definitions + "/" + plural + "." + group
	objects := "/apis/" + group + "/v1/namespaces/default/" + plural
	a, b := s.replicas[0], s.replicas[1]
	if len(kind)%2 == 0 {
		a, b = b, a
	}
	everywhere := func(method, url, body string, is verdict) {
		s.insist(a, "", method, url, body, is)
		s.insist(b, "", method, url, body, is)
	}
	created, gone := answers(http.StatusCreated, http.StatusConflict), answers(http.StatusNotFound)
	capital := strings.ToUpper(kind[:1]) + kind[1:]
	s.insist(a, "", http.MethodPost, definitions, define(group, capital, "size"), created)
	everywhere(http.MethodGet, objects, "", answers(http.StatusOK))
	s.insist(b, "", http.MethodPost, objects, fmt.Sprintf(`{"apiVersion":"%s/v1","kind":"%s",`+
		`"metadata":{"name":"one"},"spec":{"size":"small","more":"x"}}`, group, capital), created)
	everywhere(http.MethodGet, objects+"/one", "", func(code int, answer []byte) bool {
		if bytes.Contains(answer, []byte(`"more":`)) && code == http.StatusOK {
			s.t.Errorf("a field that %s doesn't have was kept: %s", kind, answer)
		}
		return code == http.StatusOK
	})
	s.insist(a, "", http.MethodPatch, url, `{"spec":{`+versionsOf("size", "more")+`}}`, answers(http.StatusOK))
	everywhere(http.MethodPatch, objects+"/one", `{"spec":{"more":"kept"}}`, func(code int, answer []byte) bool {
		return code == http.StatusOK && bytes.Contains(answer, []byte(`"more":"kept"`))
	})
	s.insist(b, "", http.MethodDelete, url, "", answers(http.StatusOK, http.StatusNotFound))
	everywhere(http.MethodGet, objects, "", gone)
	s.insist(a, "", http.MethodGet, url, "", gone)
	s.record.count("definitions created, changed and deleted")
}

// access binds a user who may do nothing, and unbinds the user: each holds at the replica that answered it, and soon
// at the other. It notes how soon.
func (s *soak) access(lags *lags, user string) {
	a, b := s.replicas[0], s.replicas[1]
	if len(user)%2 == 0 {
		a, b = b, a
	}
	role := fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":%q},`+
		`"rules":[{"apiGroups":["library.example.com"],"resources":["books"],"verbs":["list"]}]}`, user)
	binding := fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":%q},`+
		`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":%q},`+
		`"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":%q}]}`, user, user, user)
	holds := func(code int) {
		since := time.Now()
		for i, r := range []*replica{a, b} {
			s.insist(r, user, http.MethodGet, path+"?limit=1", "", answers(code))
			lags.note(i, time.Since(since))
		}
	}
	may := func(code int, _ []byte) bool {
		if code == http.StatusOK {
			s.t.Errorf("%s may list before a role was bound", user)
		}
		return code == http.StatusForbidden
	}
	s.insist(a, user, http.MethodGet, path, "", may)
	s.insist(b, user, http.MethodGet, path, "", may)
	created := answers(http.StatusCreated, http.StatusConflict)
	removed := answers(http.StatusOK, http.StatusNotFound)
	s.insist(a, "", http.MethodPost, access+"roles", role, created)
	s.insist(a, "", http.MethodPost, access+"rolebindings", binding, created)
	holds(http.StatusOK)
	s.insist(a, "", http.MethodDelete, access+"rolebindings/"+user, "", removed)
	holds(http.StatusForbidden)
	s.insist(a, "", http.MethodDelete, access+"roles/"+user, "", removed)
	s.record.count("users bound and unbound")
}

// insist repeats a request, as a user or as the administrator, until its answer is the one that is waited for.
func (s *soak) insist(r *replica, user, method, url, body string, is verdict) {
	s.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(startTimeout)
	for {
		code, answer, err := s.ask(r, user, method, url, body)
		if err == nil && is(code, answer) {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			s.t.Errorf("%s %s as %q: %d %.500s, %v, for %s", method, url, user, code, answer, err, startTimeout)
			return
		}
	}
}

// ask makes a request in haste.
func (s *soak) ask(r *replica, user, method, url, body string) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), haste)
	defer cancel()
	contentType := jsonType
	if method == http.MethodPatch {
		contentType = "application/merge-patch+json"
	}
	return r.as(ctx, user, method, url, contentType, []byte(body))
}
