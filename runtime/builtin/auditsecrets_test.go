package builtin_test

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/server"
)

// journal records requests at a level, and keeps their events as JSON.
type journal struct {
	level trail.Level

	mu    sync.Mutex // guards lines
	lines []string
}

func (j *journal) Decide(auth.Attributes) trail.Decision { return trail.Decision{Level: j.level} }

func (j *journal) Process(e *trail.Event) bool {
	line, err := e.AppendJSON(nil)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, string(line))
	return err == nil
}

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, "\n")
}

// TestRefusedSecretsInAudit: kube-apiserver repeats the object in some errors. An audit at level Metadata, which is to
// record no objects, has nothing of it.
func TestRefusedSecretsInAudit(t *testing.T) {
	const value = "c2VjcmV0" // "secret" in base64
	secret := `"metadata":{"name":"s"},"data":{"password":"` + value + `"}`
	const secrets = "/api/v1/namespaces/default/secrets"
	for level, repeated := range map[trail.Level]bool{trail.Metadata: false, trail.RequestResponse: true} {
		j := &journal{level: level}
		s := start(t, func(c *server.Config) { c.Auditor = &trail.Auditor{Policy: j, Sink: j} })
		until(t, s, http.MethodPost, secrets, `{"apiVersion":"v1","kind":"Secret",`+secret+`}`, http.StatusCreated)
		for _, refused := range []struct{ method, path, contentType, body string }{
			{http.MethodPatch, secrets + "/s", "application/json-patch+json",
				`[{"op":"remove","path":"/data/` + value + `"}]`},
			{http.MethodPatch, secrets + "/s", "application/json-patch+json",
				`[{"op":"test","path":"/data/password","value":"x"}]`},
			{http.MethodPatch, secrets + "/s", "application/json-patch+json",
				`[{"op":"add","path":"/type","value":{"a":"b"}}]`},
			{http.MethodPatch, secrets + "/s", "application/merge-patch+json", `{"type":{"a":"b"}}`},
			{http.MethodPatch, secrets + "/s", "application/strategic-merge-patch+json",
				`{"type":{"password":"` + value + `"}}`},
			{http.MethodPost, secrets, "application/json", `{` + secret + `}`},
			{http.MethodPost, secrets, "application/json", `{"kind":"Secret",` + secret + `}`},
			{http.MethodPost, secrets, "application/yaml", `{"kind":"Secret",` + secret},
			{http.MethodPut, secrets + "/s", "application/json",
				`{"kind":"Secret","apiVersion":"v1",` + secret + `,"x":`},
			{http.MethodPost, secrets + "?fieldValidation=Strict", "application/json",
				`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"t"},"data":{"` + value + `":"a b"}}`},
		} {
			r, err := http.NewRequestWithContext(t.Context(), refused.method, s.URL+refused.path,
				strings.NewReader(refused.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", refused.contentType)
			response, err := s.Client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || response.StatusCode < 400 {
				t.Errorf("%s %s: %s, %v", refused.method, refused.body, response.Status, err)
			}
			t.Logf("%s %s: %s", refused.method, refused.body, text)
		}
		decoded, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			t.Fatal(err)
		}
		log := j.text()
		if got := strings.Contains(log, value) || strings.Contains(log, `\"`+string(decoded)); got != repeated {
			t.Errorf("at level %s, the audit has the secret: %v\n%s", level, got, log)
		}
	}
}

// take returns the events so far, and forgets them.
func (j *journal) take() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	text := strings.Join(j.lines, "\n")
	j.lines = nil
	return text
}

// confidential is a text that no audit at level Metadata may have, and its base64.
const (
	confidential = "hunter2hunter2"
	encoded      = "aHVudGVyMmh1bnRlcjI="
)

// audited is a request whose body, or whose answer, has confidential data.
type audited struct {
	name, method, path, contentType, body string
	code                                  int
}

const (
	auditedSecrets = "/api/v1/namespaces/default/secrets"
	auditedGadgets = "/apis/shop.example.com/v1/namespaces/default/gadgets"
	auditedReviews = "/apis/authentication.k8s.io/v1/tokenreviews"
	asJSON         = "application/json"
	asYAML         = "application/yaml"
	asJSONPatch    = "application/json-patch+json"
	asMergePatch   = "application/merge-patch+json"
	asStrategic    = "application/strategic-merge-patch+json"
	asApply        = "application/apply-patch+yaml"
)

func secret(name, more string) string {
	return `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"` + name + `"}` + more + `}`
}

// secretRequests have a Secret, or a part of it, in all verbs, whether the server takes them or not. The Secret s is
// there.
func secretRequests() []audited {
	const data, text = `,"data":{"p":"` + encoded + `"}`, `,"stringData":{"p":"` + confidential + `"}`
	const all, s = auditedSecrets, auditedSecrets + "/s"
	return []audited{
		{"create", "POST", all, asJSON, secret("a", data), 201},
		{"create of text", "POST", all, asJSON, secret("b", text), 201},
		{"create in YAML", "POST", all, asYAML, "kind: Secret\napiVersion: v1\nmetadata: {name: c}\nstringData: {p: " +
			confidential + "}", 201},
		{"create twice", "POST", all, asJSON, secret("s", data), 409},
		{"dry run", "POST", all + "?dryRun=All", asJSON, secret("d", data), 201},
		{"create elsewhere", "POST", "/api/v1/namespaces/absent/secrets", asJSON, secret("d", data), 404},
		{"wrong namespace", "POST", all, asJSON, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"d",
"namespace":"x"}` + data + `}`, 400},
		{"wrong name", "PUT", s, asJSON, secret("other", data), 400},
		{"no name", "POST", all, asJSON, secret("", data), 422},
		{"wrong kind", "POST", all, asJSON, strings.Replace(secret("d", data), "Secret", "ConfigMap", 1), 400},
		{"no kind", "POST", all, asJSON, `{"metadata":{"name":"d"}` + data + `}`, 201},
		{"half an object", "POST", all, asJSON, secret("d", data)[:90], 400},
		{"more than an object", "POST", all, asJSON, secret("d", data) + confidential, 400},
		{"text alone", "POST", all, asJSON, confidential, 400},
		{"text in YAML", "POST", all, asYAML, confidential, 400},
		{"broken YAML", "POST", all, asYAML, "data: {p: " + encoded + "\n\t- " + confidential, 400},
		{"an anchor in YAML", "POST", all, asYAML, "data: *" + confidential, 400},
		{"data that is text", "POST", all, asJSON, secret("d", `,"data":"`+confidential+`"`), 400},
		{"data that is a list", "POST", all, asJSON, secret("d", `,"data":["`+confidential+`"]`), 400},
		{"a value that is a list", "POST", all, asJSON, secret("d", `,"data":{"p":["`+encoded+`"]}`), 400},
		{"no base64", "POST", all, asJSON, secret("d", `,"data":{"p":"`+confidential+`!"}`), 400},
		{"a field twice", "POST", all + "?fieldValidation=Strict", asJSON, secret("d", text+text), 400},
		{"an unknown field", "POST", all + "?fieldValidation=Strict", asJSON,
			secret("d", data+`,"x":"`+confidential+`"`), 400},
		{"a broken Docker configuration", "POST", all, asJSON, secret("d",
			`,"type":"kubernetes.io/dockerconfigjson","stringData":{".dockerconfigjson":"`+confidential+`"}`), 422},
		{"half a certificate", "POST", all, asJSON, secret("d", `,"type":"kubernetes.io/tls"`+text), 422},
		{"protobuf that is none", "POST", all, "application/vnd.kubernetes.protobuf", "k8s\x00" + confidential, 400},
		{"CBOR that is none", "POST", all, "application/cbor", confidential, 400},
		{"an unknown type", "POST", all, "text/plain", confidential, 415},
		{"update", "PUT", s, asJSON, secret("s", data), 200},
		{"update that creates nothing", "PUT", all + "/absent", asJSON, secret("absent", data), 404},
		{"update of another version", "PUT", s, asJSON, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s",
"resourceVersion":"1"}` + data + `}`, 409},
		{"update of the type", "PUT", s, asJSON, secret("s", `,"type":"x"`+data), 422},
		{"merge patch", "PATCH", s, asMergePatch, `{"stringData":{"q":"` + confidential + `"}}`, 200},
		{"merge patch to a list", "PATCH", s, asMergePatch, `{"data":["` + encoded + `"]}`, 422},
		{"merge patch that is none", "PATCH", s, asMergePatch, `"` + confidential + `"`, 400},
		{"strategic patch", "PATCH", s, asStrategic, `{"data":{"q":"` + encoded + `"}}`, 200},
		{"strategic patch with a directive", "PATCH", s, asStrategic,
			`{"data":{"$patch":"` + confidential + `"}}`, 400},
		{"JSON patch", "PATCH", s, asJSONPatch, `[{"op":"add","path":"/data/r","value":"` + encoded + `"}]`, 200},
		{"JSON patch of an unknown kind", "PATCH", s, asJSONPatch,
			`[{"op":"` + confidential + `","path":"/data"}]`, 422},
		{"JSON patch that tests", "PATCH", s, asJSONPatch, `[{"op":"test","path":"/data/p","value":"x"}]`, 422},
		{"JSON patch that is none", "PATCH", s, asJSONPatch, `{"op":"` + confidential + `"}`, 400},
		{"apply", "PATCH", s + "?fieldManager=m&force=true", asApply, secret("s", data), 200},
		{"apply in conflict", "PATCH", s + "?fieldManager=n", asApply, secret("s", `,"data":{"p":"eA=="}`), 409},
		{"apply of what isn't YAML", "PATCH", s + "?fieldManager=m", asApply, "{" + confidential, 400},
		{"apply of a wrong type", "PATCH", s + "?fieldManager=m", asApply,
			secret("s", `,"data":"`+confidential+`"`), 400},
		{"get", "GET", s, "", "", 200},
		{"get of another type", "GET", s, "text/plain", "", 200},
		{"list", "GET", all, "", "", 200},
		{"watch", "GET", all + "?watch=true&resourceVersion=0&timeoutSeconds=1", "", "", 200},
		{"options that are none", "DELETE", s, asJSON, `{"preconditions":"` + confidential + `"}`, 400},
		{"delete of another", "DELETE", s, asJSON, `{"preconditions":{"uid":"x"}}`, 409},
		{"delete", "DELETE", s, asJSON, "", 200},
		{"delete of all", "DELETE", all, asJSON, "", 200},
	}
}

// tokenRequests have a token, and the objects of custom kinds the same confidential text.
func tokenRequests() []audited {
	const gadget = `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"g"},
"spec":{"size":1,"p":"` + confidential + `"}}`
	const g = auditedGadgets + "/g"
	return []audited{
		{"review", "POST", auditedReviews, asJSON, `{"spec":{"token":"` + confidential + `"}}`, 201},
		{"half a review", "POST", auditedReviews, asJSON, `{"spec":{"token":"` + confidential + `"`, 400},
		{"a review in YAML", "POST", auditedReviews, asYAML, "spec: {token: [" + confidential, 400},
		{"many tokens", "POST", auditedReviews, asJSON, `{"spec":{"token":["` + confidential + `"]}}`, 400},
		{"no token", "POST", auditedReviews, asJSON, `{"spec":{"token":"","x":"` + confidential + `"}}`, 400},
		{"request", "POST", "/api/v1/namespaces/default/serviceaccounts/default/token", asJSON, `{}`, 201},
		{"custom object", "POST", auditedGadgets, asJSON, gadget, 201},
		{"half a custom object", "POST", auditedGadgets, asJSON, gadget[:110], 400},
		{"status", "PUT", g + "/status", asJSON, gadget, 422},
		{"status by a patch", "PATCH", g + "/status", asMergePatch, `{"status":{"p":"` + confidential + `"}}`, 200},
		{"status by a JSON patch that tests", "PATCH", g + "/status", asJSONPatch,
			`[{"op":"test","path":"/spec/p","value":"x"}]`, 422},
		{"JSON patch of a part that isn't there", "PATCH", g, asJSONPatch, `[{"op":"remove","path":"/spec/x"}]`, 422},
		{"scale", "PATCH", g + "/scale", asMergePatch, `{"spec":{"replicas":2}}`, 200},
		{"scale that is text", "PATCH", g + "/scale", asMergePatch,
			`{"spec":{"replicas":"` + confidential + `"}}`, 422},
		{"scale that is none", "PUT", g + "/scale", asJSON, confidential, 400},
		{"custom list", "GET", auditedGadgets, "", "", 200},
		{"custom delete", "DELETE", g, asJSON, "", 200},
	}
}

// startConfidential starts a server that has what secretRequests and tokenRequests need.
func startConfidential(t *testing.T, change func(*server.Config)) *apitest.Server {
	t.Helper()
	s := startFeatures(t, func(c *server.Config) {
		c.Check = func(c *server.Config) error { // in place of the issuer that a feature brings
			c.Issuer = constantTokens{}
			return nil
		}
		change(c)
	})
	until(t, s, http.MethodPost, definitions, strings.Replace(strings.Replace(gadgets, `"storage":true,`,
		`"storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.size",
"statusReplicasPath":".status.size"}},`, 1), `"x-kubernetes-preserve-unknown-fields":true`,
		`"x-kubernetes-preserve-unknown-fields":true,"properties":{"spec":{"type":"object",
"x-kubernetes-preserve-unknown-fields":true,"properties":{"size":{"type":"integer"}}}}`, 1), http.StatusCreated)
	until(t, s, http.MethodGet, auditedGadgets, "", http.StatusOK)
	until(t, s, http.MethodGet, "/api/v1/namespaces/default/serviceaccounts/default", "", http.StatusOK)
	until(t, s, http.MethodPost, auditedSecrets, secret("s", `,"data":{"p":"`+encoded+`"}`), http.StatusCreated)
	return s
}

// send sends the request, and wants its code.
func (request audited) send(t *testing.T, s *apitest.Server) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), request.method, s.URL+request.path,
		strings.NewReader(request.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", request.contentType)
	response, err := s.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || response.StatusCode != request.code {
		t.Errorf("%s: %s %s (%v), want %d", request.name, response.Status, text, err, request.code)
	}
}

// revealed returns the parts of what is confidential that a text has.
func revealed(text string) (parts []string) {
	for _, part := range []string{confidential, encoded, "hunter", "aHVudGVy"} {
		if strings.Contains(text, part) {
			parts = append(parts, part)
		}
	}
	return parts
}

// TestNoSecretsInAudit: an audit at level Metadata has no byte of a Secret's data, of a token, or of any object,
// whatever is asked, however it is answered.
func TestNoSecretsInAudit(t *testing.T) {
	j := &journal{level: trail.Metadata}
	s := startConfidential(t, func(c *server.Config) { c.Auditor = &trail.Auditor{Policy: j, Sink: j} })
	for _, request := range append(secretRequests(), tokenRequests()...) {
		j.take()
		request.send(t, s)
		untilTrue(t, "the event of "+request.name, func() bool {
			return strings.Contains(j.text(), `"stage":"ResponseComplete"`)
		})
		if parts := revealed(j.text()); parts != nil {
			t.Errorf("%s: the audit has %q:\n%s", request.name, parts, j.text())
		}
	}
}

// constantTokens issues one token.
type constantTokens struct{}

func (constantTokens) IssueToken(context.Context, auth.TokenRequest) (string, time.Time, error) {
	return confidential, time.Unix(1700000000, 0), nil
}

func (constantTokens) LongestLife() time.Duration { return 0 }
