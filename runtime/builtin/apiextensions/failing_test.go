package apiextensions_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// brokenConversions are ways in which a conversion webhook answers, by name: what it has in place of the objects, or
// of the whole answer.
var brokenConversions = map[string]struct {
	code    int
	answer  string // the whole one; "" for a review
	objects func(n int, to string) []any
	failure bool
}{
	"500":             {code: http.StatusInternalServerError, answer: "down"},
	"400":             {code: http.StatusBadRequest, answer: "no"},
	"a text":          {code: http.StatusOK, answer: "hello"},
	"no objects":      {code: http.StatusOK, objects: func(int, string) []any { return []any{} }},
	"a failure":       {code: http.StatusOK, objects: func(int, string) []any { return nil }, failure: true},
	"empty objects":   {code: http.StatusOK, objects: func(n int, _ string) []any { return copies(n, nil) }},
	"no metadata":     {code: http.StatusOK, objects: func(n int, to string) []any { return copies(n, cableOf(to)) }},
	"another version": {code: http.StatusOK, objects: func(n int, _ string) []any { return copies(n, cableOf("v9")) }},
}

func cableOf(version string) map[string]any {
	return map[string]any{"apiVersion": version, "kind": "Cable"}
}

func copies(n int, object map[string]any) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = object
	}
	return all
}

// breaking is a conversion webhook that breaks in one of the ways, or works if how is "".
type breaking struct {
	converter

	how atomic.Value // string
}

func (b *breaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	how, ok := brokenConversions[b.how.Load().(string)]
	if !ok {
		b.converter.ServeHTTP(w, r)
		return
	}
	var review map[string]any
	_ = json.NewDecoder(r.Body).Decode(&review)
	w.WriteHeader(how.code)
	if how.answer != "" {
		_, _ = io.WriteString(w, how.answer)
		return
	}
	objects, _ := at(review, "request", "objects").([]any)
	result := map[string]any{"status": "Success"}
	if how.failure {
		result = map[string]any{"status": "Failure", "message": "no cable today"}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": review["apiVersion"], "kind": review["kind"], "response": map[string]any{
			"uid": at(review, "request", "uid"), "result": result,
			"convertedObjects": how.objects(len(objects), fmt.Sprint(at(review, "request", "desiredAPIVersion"))),
		},
	})
}

// TestFailingConversions: whatever a conversion webhook answers, a request that needs a conversion gets 500 with the
// reason, and nothing changes.
func TestFailingConversions(t *testing.T) {
	c, hook := start(t), &breaking{}
	hook.how.Store("")
	webhook := httptest.NewTLSServer(hook)
	t.Cleanup(webhook.Close)
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: webhook.Certificate().Raw})
	c.establish(fmt.Sprintf(cable, webhook.URL, base64.StdEncoding.EncodeToString(bundle)), "cables.shop.example.com")
	c.want(http.StatusCreated, http.MethodPost, cables,
		"{apiVersion: shop.example.com/v1, kind: Cable, metadata: {name: a}, spec: {size: 1, count: 3}}")
	before := c.want(http.StatusOK, http.MethodGet, cables, "")
	object := func(name string) string {
		return `{"apiVersion":"shop.example.com/v2","kind":"Cable","metadata":{"name":"` + name + `"},
"spec":{"length":2}}`
	}
	const merge, apply, manager = "application/merge-patch+json", "application/apply-patch+yaml", "?fieldManager=m"
	const scale = `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a","namespace":"ns"},
"spec":{"replicas":4}}`
	for how := range brokenConversions {
		hook.how.Store(how)
		for _, r := range []struct{ method, path, contentType, body string }{
			{"GET", "/a", "", ""},
			{"GET", "", "", ""},
			{"POST", "", "application/json", object("b")},
			{"POST", "?dryRun=All", "application/json", object("b")},
			{"PUT", "/a", "application/json", object(`a","resourceVersion":"1`)},
			{"PATCH", "/a", merge, `{"spec":{"length":5}}`},
			{"PATCH", "/a", "application/json-patch+json", `[{"op":"add","path":"/spec/length","value":6}]`},
			{"PATCH", "/a" + manager, apply, object("a")},
			{"PATCH", "/b" + manager, apply, object("b")},
			{"GET", "/a/scale", "", ""},
			{"PUT", "/a/scale", "application/json", scale},
			{"PATCH", "/a/scale", merge, `{"spec":{"replicas":4}}`},
			{"PATCH", "/a/scale" + manager, apply, scale},
			{"DELETE", "/a", "", ""},
			{"DELETE", "", "", ""},
		} {
			code, answer := c.send(r.method, cablesV2+r.path, r.contentType, r.body)
			why := strings.Contains(fmt.Sprint(answer["message"]), "conversion webhook for shop.example.com/v")
			if code != http.StatusInternalServerError || answer["reason"] != "InternalError" || !why {
				t.Errorf("%s: %s %s %s: %d %v", how, r.method, r.path, r.contentType, code, answer)
			}
		}
	}
	after := c.want(http.StatusOK, http.MethodGet, cables, "")
	if got, want := fmt.Sprint(after["items"]), fmt.Sprint(before["items"]); got != want {
		t.Errorf("%s was\n%s", got, want)
	}
}
