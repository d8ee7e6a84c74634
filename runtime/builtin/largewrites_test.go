package builtin_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/server"
)

// TestLargeWritesThatHang: large writes of one user, or of two, that wait for a webhook which hangs, hold up the large
// write of another user for no longer than a few seconds: it is answered while all of them still wait.
func TestLargeWritesThatHang(t *testing.T) {
	p, h := startPeer(t), &hanging{}
	names := []string{"eve", "mallory", "bob"}
	front := startFeatures(t, func(c *server.Config) {
		tokens := new(auth.Tokens)
		for _, name := range names {
			tokens.Add(name, &auth.User{Name: name})
		}
		c.Authentication.Tokens = append(c.Authentication.Tokens, tokens)
		c.Authorizer, c.RequestTimeout = auth.Always(auth.Allow), time.Hour
	})
	p.turn(another, func(string) bool { return true })
	registerWebhooks(t, front, p.URL+"/review", p.ca())
	until(t, front, http.MethodPatch, hooks+"/v", `{"webhooks":[{"name":"v.example.com","timeoutSeconds":30,
"clientConfig":{"url":"`+p.URL+`/review","caBundle":"`+base64.StdEncoding.EncodeToString(p.ca())+`"},
"sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"operations":["CREATE"],"apiGroups":[""],
"apiVersions":["v1"],"resources":["configmaps"],"scope":"Namespaced"}]}]}`,
		http.StatusOK)
	p.turn(h.ServeHTTP, func(path string) bool { return path == "/review" })
	large := `{"metadata":{"generateName":"x"},"data":{"a":"` + strings.Repeat("x", 1<<20-100) + `"}}`
	u := usersOf(t, front)
	ctx, leave := context.WithCancel(t.Context())
	var holders sync.WaitGroup
	defer holders.Wait()
	defer leave()
	for attackers := 1; attackers <= 2; attackers++ {
		for range 4 { // about half of the memory for large bodies
			holders.Go(func() {
				u.code(ctx, names[attackers-1], http.MethodPost, "/api/v1/namespaces/default/configmaps", large)
			})
		}
		untilTrue(t, "the writes that hang", func() bool {
			now, _ := h.requests()
			return now >= 3*attackers // the fourth may be over half, and comes when others lose their share
		})
		code := u.code(t.Context(), "bob", http.MethodPost, "/api/v1/namespaces/default/secrets",
			strings.Replace(large, `"data"`, `"stringData"`, 1))
		now, most := h.requests()
		if code != http.StatusCreated || now < most {
			t.Errorf("%d users hang: another user's large write is answered %d while %d of %d wait", attackers, code,
				now, most)
		}
	}
}
