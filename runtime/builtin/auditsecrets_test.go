package builtin_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/audit"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/server"
)

// journal records requests at a level, and keeps their events as JSON.
type journal struct {
	level audit.Level

	mu    sync.Mutex // guards lines
	lines []string
}

func (j *journal) Decide(auth.Attributes) audit.Decision { return audit.Decision{Level: j.level} }

func (j *journal) Process(e *audit.Event) bool {
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
	for level, repeated := range map[audit.Level]bool{audit.Metadata: false, audit.RequestResponse: true} {
		j := &journal{level: level}
		s := start(t, func(c *server.Config) { c.Auditor = &audit.Auditor{Policy: j, Sink: j} })
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
