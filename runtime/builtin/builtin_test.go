package builtin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/memory"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// start starts a server with all ready-made groups.
func start(t testing.TB, change func(*server.Config)) *apitest.Server {
	t.Helper()
	var groups []registry.Group
	for _, feature := range builtin.Standalone() {
		groups = append(groups, feature.Groups()...)
	}
	return apitest.StartWith(t, change, groups...)
}

// send sends an object as JSON, wants a code, and decodes the answer.
func send[T any](t testing.TB, s *apitest.Server, method, path, body string, code int) (answer T) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := s.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != code {
		t.Fatalf("%s %s %s: %s %s, want %d", method, path, body, response.Status, data, code)
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&answer); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return answer
}

// scripted is an authorizer that notes what it is asked, and answers by the verb.
type scripted struct{ asked []auth.Attributes }

func (s *scripted) Authorize(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
	s.asked = append(s.asked, a)
	switch a.Verb {
	case "allowed":
		return auth.Allow, "because", nil
	case "denied":
		return auth.Deny, "never", nil
	case "broken":
		return auth.NoOpinion, "", errors.New("no roles today")
	}
	return auth.NoOpinion, "", nil
}

func (*scripted) RulesFor(_ context.Context, user *auth.User, namespace string) (auth.Rules, bool, error) {
	return auth.Rules{
		Resources: []auth.ResourceRule{
			{Verbs: []string{"get"}, Groups: []string{""}, Resources: []string{namespace}},
		},
		NonResources: []auth.NonResourceRule{{Verbs: []string{"get"}, Paths: []string{"/" + user.Name}}},
	}, false, errors.New("some role is missing")
}

const accessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

// The authorizer of the server decides a review, on the attributes that the review describes.
func TestSubjectAccessReview(t *testing.T) {
	authorizer := &scripted{}
	s := start(t, func(c *server.Config) { c.Authorizer = authorizer })
	for _, c := range []struct {
		name, spec string
		status     authorizationv1.SubjectAccessReviewStatus
		want       string
	}{
		{"allowed", `"resourceAttributes":{"verb":"allowed","group":"g","resource":"r","subresource":"s","name":"n",` +
			`"namespace":"ns"}`, authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: "because"},
			"g/* ns/r/n/s"},
		{"denied", `"resourceAttributes":{"verb":"denied","version":"v1","resource":"r"}`,
			authorizationv1.SubjectAccessReviewStatus{Denied: true, Reason: "never"}, "/v1 /r//"},
		{"a path", `"nonResourceAttributes":{"verb":"get","path":"/x"}`,
			authorizationv1.SubjectAccessReviewStatus{}, "/x"},
		{"an error", `"nonResourceAttributes":{"verb":"broken","path":"/x"}`,
			authorizationv1.SubjectAccessReviewStatus{EvaluationError: "no roles today"}, "/x"},
		{"selectors", `"resourceAttributes":{"verb":"get","resource":"r",` +
			`"fieldSelector":{"requirements":[{"key":"spec.a","operator":"In","values":["x,y"]},` +
			`{"key":"b","operator":"NotIn","values":["z"]}]},"labelSelector":{"rawSelector":"a in (c,b),d"}}`,
			authorizationv1.SubjectAccessReviewStatus{}, `/* /r// fields spec.a=x\,y,b!=z labels a in (b,c),d`},
		{"unknown operators", `"resourceAttributes":{"verb":"broken","resource":"r",` +
			`"fieldSelector":{"requirements":[{"key":"b","operator":"Near","values":["z"]}]},` +
			`"labelSelector":{"requirements":[{"key":"b","operator":"Near"},{"key":"a","operator":"Exists"}]}}`,
			authorizationv1.SubjectAccessReviewStatus{EvaluationError: "no roles today; " +
				"spec.resourceAttributes.fieldSelector ignored due to parse error; " +
				"spec.resourceAttributes.labelSelector partially ignored due to parse error"}, `/* /r// labels a`},
	} {
		t.Run(c.name, func(t *testing.T) {
			authorizer.asked = nil
			review := send[authorizationv1.SubjectAccessReview](t, s, http.MethodPost, accessReviews,
				`{"spec":{"user":"ann","uid":"7","groups":["dev"],"extra":{"k":["v"]},`+c.spec+`}}`, 201)
			if review.Status != c.status {
				t.Errorf("%+v", review.Status)
			}
			i := slices.IndexFunc(authorizer.asked, func(a auth.Attributes) bool { return a.User.Name == "ann" })
			if i < 0 {
				t.Fatal("nobody asked")
			}
			asked := authorizer.asked[i]
			if u := asked.User; u.UID != "7" || !slices.Equal(u.Groups, []string{"dev"}) || u.Extra["k"][0] != "v" {
				t.Errorf("%+v", u)
			}
			if got := text(asked); got != c.want {
				t.Errorf("asked for %q, want %q", got, c.want)
			}
		})
	}
}

func text(a auth.Attributes) string {
	if !a.IsResource {
		return a.Path
	}
	out := a.Group + "/" + a.Version + " " + strings.Join([]string{a.Namespace, a.Resource, a.Name, a.Subresource}, "/")
	if a.FieldSelector != "" {
		out += " fields " + a.FieldSelector
	}
	if a.LabelSelector != "" {
		out += " labels " + a.LabelSelector
	}
	return out
}

// A user is told the rules that the authorizers list, and that they are not all.
func TestRulesReview(t *testing.T) {
	s := start(t, func(c *server.Config) { c.Authorizer = &scripted{} })
	review := send[authorizationv1.SelfSubjectRulesReview](t, s, http.MethodPost,
		"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", `{"spec":{"namespace":"ns"}}`, 201)
	status := review.Status
	if len(status.ResourceRules) != 1 || status.ResourceRules[0].Resources[0] != "ns" || !status.Incomplete ||
		status.NonResourceRules[0].NonResourceURLs[0] != "/apitest:admin" ||
		status.EvaluationError != "some role is missing" {
		t.Errorf("%+v", status)
	}
	s = start(t, func(c *server.Config) { c.Authorizer = auth.Always(auth.Allow) })
	review = send[authorizationv1.SelfSubjectRulesReview](t, s, http.MethodPost,
		"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", `{"spec":{"namespace":"ns"}}`, 201)
	if status := review.Status; status.Incomplete || status.ResourceRules[0].Resources[0] != "*" {
		t.Errorf("AlwaysAllow: %+v", status)
	}
}

// bound is an authenticator of tokens with audiences.
type bound struct{}

func (bound) AuthenticateToken(_ context.Context, token string, audiences []string) (*auth.Identity, error) {
	switch {
	case token == "expired":
		return nil, errors.New("it has expired")
	case token == "bound" && slices.Contains(audiences, "a"):
		return &auth.Identity{Audiences: []string{"a"}, User: &auth.User{Name: "bot", UID: "3",
			Groups: []string{"bots"}, Extra: map[string][]string{"node": {"n"}}}}, nil
	}
	return nil, nil
}

// A token review asks the authenticators of the server for the audiences of the review.
func TestTokenReview(t *testing.T) {
	s := start(t, func(c *server.Config) {
		c.Audiences = []string{"api"}
		c.Authentication.Tokens = append(c.Authentication.Tokens, bound{})
	})
	bot := authenticationv1.UserInfo{Username: "bot", UID: "3", Groups: []string{"bots", auth.Authenticated},
		Extra: map[string]authenticationv1.ExtraValue{"node": {"n"}}}
	for _, c := range []struct {
		name, spec string
		want       authenticationv1.TokenReviewStatus
	}{
		{"for the audience", `{"token":"bound","audiences":["a","b"]}`,
			authenticationv1.TokenReviewStatus{Authenticated: true, User: bot, Audiences: []string{"a"}}},
		{"for the server", `{"token":"bound"}`, authenticationv1.TokenReviewStatus{Error: "invalid bearer token"}},
		{"expired", `{"token":"expired"}`, authenticationv1.TokenReviewStatus{Error: "it has expired"}},
		{"a static token elsewhere", `{"token":"` + s.Token + `","audiences":["a"]}`,
			authenticationv1.TokenReviewStatus{Error: "invalid bearer token"}},
		{"a static token", `{"token":"` + s.Token + `","audiences":["a","api"]}`,
			authenticationv1.TokenReviewStatus{Authenticated: true, Audiences: []string{"api"},
				User: authenticationv1.UserInfo{Username: "apitest:admin",
					Groups: []string{auth.Masters, auth.Authenticated}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			review := send[authenticationv1.TokenReview](t, s, http.MethodPost,
				"/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":`+c.spec+`}`, 201)
			got, _ := json.Marshal(review.Status)
			want, _ := json.Marshal(c.want)
			if !bytes.Equal(got, want) {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// issuer notes what it is asked to sign.
type issuer struct {
	asked   auth.TokenRequest
	longest time.Duration
}

func (i *issuer) IssueToken(_ context.Context, r auth.TokenRequest) (string, time.Time, error) {
	i.asked = r
	return "signed", time.Unix(1700000000, 0), nil
}

func (i *issuer) LongestLife() time.Duration { return i.longest }

const accounts = "/api/v1/namespaces/ns/serviceaccounts"

// serviceaccounts/token has the server's issuer sign a token, which may be bound to a secret.
func TestTokenRequest(t *testing.T) {
	signs := &issuer{}
	s := start(t, func(c *server.Config) { c.Issuer, c.Audiences = signs, []string{"api"} })
	account := send[metav1.PartialObjectMetadata](t, s, http.MethodPost, accounts, `{"metadata":{"name":"bot"}}`, 201)
	secret := send[metav1.PartialObjectMetadata](t, s, http.MethodPost, "/api/v1/namespaces/ns/secrets",
		`{"metadata":{"name":"s"}}`, 201)

	answer := send[authenticationv1.TokenRequest](t, s, http.MethodPost, accounts+"/bot/token", `{}`, 201)
	if answer.Status.Token != "signed" || answer.Status.ExpirationTimestamp.Unix() != 1700000000 ||
		answer.Name != "bot" || answer.UID != account.UID || *answer.Spec.ExpirationSeconds != 3600 {
		t.Errorf("%+v", answer)
	}
	if want := (auth.TokenAccount{Namespace: "ns", Name: "bot",
		UID: string(account.UID)}); signs.asked.Account != want ||
		!slices.Equal(signs.asked.Audiences, []string{"api"}) || signs.asked.Bound != nil {
		t.Errorf("asked for %+v", signs.asked)
	}
	send[authenticationv1.TokenRequest](t, s, http.MethodPost, accounts+"/bot/token", `{"spec":{"audiences":["a"],`+
		`"expirationSeconds":600,"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s"}}}`, 201)
	want := auth.BoundObject{APIVersion: "v1", Kind: "Secret", Name: "s", UID: string(secret.UID)}
	if signs.asked.Bound == nil || *signs.asked.Bound != want || signs.asked.Seconds != 600 ||
		!slices.Equal(signs.asked.Audiences, []string{"a"}) {
		t.Errorf("asked for %+v", signs.asked)
	}
	status := send[metav1.Status](t, s, http.MethodPost, accounts+"/bot/token",
		`{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}}`, 400)
	if status.Message != "cannot bind token to object of type /v1, Kind=Pod" {
		t.Error(status.Message)
	}

	signs.longest = time.Hour
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+accounts+"/bot/token",
		strings.NewReader(`{"spec":{"expirationSeconds":7200}}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	const shortened = `299 - "requested expiration of 7200 seconds shortened to 3600 seconds"`
	if got := response.Header.Get("Warning"); got != shortened || signs.asked.Seconds != 3600 {
		t.Errorf("%s: %d seconds", got, signs.asked.Seconds)
	}

	without := start(t, func(*server.Config) {})
	send[metav1.PartialObjectMetadata](t, without, http.MethodPost, accounts, `{"metadata":{"name":"bot"}}`, 201)
	status = send[metav1.Status](t, without, http.MethodPost, accounts+"/bot/token", `{}`, 404)
	if status.Message != "the server could not find the requested resource" {
		t.Error(status.Message)
	}
}

// Objects lie where kube-apiserver stores them, so that either server can take the place of the other.
func TestStoragePrefixes(t *testing.T) {
	stored := map[string]string{}
	for _, feature := range builtin.Standalone() {
		for _, group := range feature.Groups() {
			for _, resource := range group.Resources {
				if info := resource.Info().Stored(); info.Storage != "" {
					stored[info.GroupResource().String()] = info.StoragePrefix
				}
			}
		}
	}
	for _, resource := range []string{
		"configmaps", "secrets", "serviceaccounts", "events", "leases.coordination.k8s.io",
		"roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
		"clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io",
	} {
		plural, _, _ := strings.Cut(resource, ".")
		if stored[resource] != plural {
			t.Errorf("%s below %q", resource, stored[resource])
		}
	}
}

// A server whose author serves a kind of a feature, too, says so when it starts.
func TestKindTwice(t *testing.T) {
	var groups []registry.Group
	for _, feature := range append(builtin.Standalone(), &core.Feature{}) {
		groups = append(groups, feature.Groups()...)
	}
	_, err := server.New(t.Context(), server.Config{Groups: groups, Storage: server.Storage{Backend: memory.New()}})
	want := `two parts of the group "" serve configmaps: leave it out of one of them`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}
