package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/park/apis"
)

// Fields that v1beta1 lacks survive every kind of write by its clients, and are stored as in v1.
func TestPreservedFields(t *testing.T) {
	const object = `{"apiVersion":"park.example.com/v1","kind":"Park","metadata":{"name":"central"},
		"spec":{"trees":340,"fountains":3,"paths":[{"name":"lake","surface":"gravel"},{"name":"oak"}]}}`
	for _, write := range []struct{ name, method, contentType, path, body string }{
		{"merge patch", "PATCH", "application/merge-patch+json", "/central", `{"spec":{"trees":341}}`},
		{"JSON patch", "PATCH", "application/json-patch+json", "/central",
			`[{"op":"replace","path":"/spec/trees","value":341}]`},
		{"apply", "PATCH", "application/apply-patch+yaml", "/central?fieldManager=me&force=true",
			`{"apiVersion":"park.example.com/v1beta1","kind":"Park","metadata":{"name":"central"},` +
				`"spec":{"trees":341}}`},
		{"update", "PUT", "application/json", "/central", ""}, // what was read, changed
	} {
		t.Run(write.name, func(t *testing.T) {
			server := apitest.Start(t, apis.Groups()...)
			park(t, send(t, server, "POST", v1, "application/json", object), http.StatusCreated)
			old := send(t, server, "GET", v1beta1+"/central", "", "")
			if strings.Contains(old.body, `"fountains":`) || !strings.Contains(old.body, "apigen.dev/preserved") {
				t.Errorf("v1beta1: %s", old.body)
			}
			if write.body == "" {
				write.body = strings.Replace(old.body, `"trees":340`, `"trees":341`, 1)
			}
			park(t, send(t, server, write.method, v1beta1+write.path, write.contentType, write.body), 200)
			now := send(t, server, "GET", v1+"/central", "", "")
			p := park(t, now, 200)
			if p.Spec.Trees != 341 || p.Spec.Fountains == nil || *p.Spec.Fountains != 3 || len(p.Spec.Paths) != 2 ||
				p.Spec.Paths[0].Surface != "gravel" {
				t.Errorf("after the write: %+v", p.Spec)
			}
			if p.Annotations != nil {
				t.Errorf("the hub shows %v", p.Annotations)
			}
			if a := send(t, server, "PATCH", v1beta1+"/central", "application/merge-patch+json",
				`{"spec":{"paths":[{"name":"oak"}]}}`); a.code != 200 {
				t.Errorf("%d %s", a.code, a.body)
			}
			if p := park(t, send(t, server, "GET", v1+"/central", "", ""), 200); len(p.Spec.Paths) != 1 ||
				p.Spec.Paths[0].Surface != "" {
				t.Errorf("a path that was taken away left %+v", p.Spec.Paths)
			}
		})
	}
}

// Fields that only v1beta1 has survive every kind of write by clients of v1, which see them in an annotation. A client
// that corrupts the annotation removes the fields, and nothing else.
func TestFieldsOfOneVersion(t *testing.T) {
	const object = `{"apiVersion":"park.example.com/v1beta1","kind":"Park","metadata":{"name":"central"},` +
		`"spec":{"trees":340,"keeper":"Ann"}}`
	for _, write := range []struct{ name, method, contentType, path, body, keeper string }{
		{"merge patch", "PATCH", "application/merge-patch+json", "/central", `{"spec":{"trees":341}}`, "Ann"},
		{"apply", "PATCH", "application/apply-patch+yaml", "/central?fieldManager=me&force=true",
			`{"apiVersion":"park.example.com/v1","kind":"Park","metadata":{"name":"central"},` +
				`"spec":{"trees":341}}`, "Ann"},
		{"update", "PUT", "application/json", "/central", "", "Ann"}, // what was read, changed
		{"status", "PATCH", "application/merge-patch+json", "/central/status",
			`{"metadata":{"annotations":null},"status":{"open":true}}`, "Ann"},
		{"without the annotation", "PATCH", "application/merge-patch+json", "/central",
			`{"metadata":{"annotations":null},"spec":{"trees":341}}`, ""},
		{"spoilt", "PATCH", "application/merge-patch+json", "/central",
			`{"metadata":{"annotations":{"apigen.dev/preserved-v1beta1":"{"}},"spec":{"trees":341}}`, ""},
	} {
		t.Run(write.name, func(t *testing.T) {
			server := apitest.Start(t, apis.Groups()...)
			if a := send(t, server, "POST", v1beta1, "application/json", object); a.code != http.StatusCreated ||
				strings.Contains(a.body, "apigen.dev/") {
				t.Fatalf("%d %s", a.code, a.body)
			}
			stored := send(t, server, "GET", v1+"/central", "", "")
			if strings.Contains(stored.body, `"keeper":`) ||
				!strings.Contains(stored.body, `"apigen.dev/preserved-v1beta1":"{\"spec.keeper\":\"Ann\"}"`) {
				t.Errorf("v1: %s", stored.body)
			}
			if write.body == "" {
				write.body = strings.Replace(stored.body, `"trees":340`, `"trees":341`, 1)
			}
			if a := send(t, server, write.method, v1+write.path, write.contentType,
				write.body); a.code != http.StatusOK {
				t.Fatalf("%d %s", a.code, a.body)
			}
			for _, path := range []string{v1beta1 + "/central", v1beta1} {
				now := send(t, server, "GET", path, "", "")
				if now.code != http.StatusOK || strings.Contains(now.body, `"keeper":"Ann"`) != (write.keeper != "") {
					t.Errorf("%s after the write: %d %s", path, now.code, now.body)
				}
			}
			again := send(t, server, "PATCH", v1beta1+"/central", "application/merge-patch+json",
				`{"spec":{"keeper":"Bo"}}`)
			if again.code != http.StatusOK || !strings.Contains(again.body, `"keeper":"Bo"`) ||
				strings.Contains(again.body, "apigen.dev/") {
				t.Errorf("written again: %d %s", again.code, again.body)
			}
			third := send(t, server, "PATCH", v1beta1+"/central", "application/merge-patch+json",
				`{"spec":{"keeper":"Cy"}}`)
			if got, want := generationOf(t, third.body), generationOf(t, again.body)+1; got != want {
				t.Errorf("another keeper is generation %d, want %d", got, want)
			}
		})
	}
}

// A forged annotation sets nothing that a client couldn't set in v1.
func TestForgedPreservedFields(t *testing.T) {
	server := apitest.Start(t, apis.Groups()...)
	forged := func(preserved string) string {
		return `{"apiVersion":"park.example.com/v1beta1","kind":"Park","metadata":{"name":"f",` +
			`"annotations":{"apigen.dev/preserved":"` +
			strings.ReplaceAll(preserved, `"`, `\"`) + `"}},"spec":{"trees":1}}`
	}
	if a := send(t, server, "POST", v1beta1, "application/json", forged(`{"spec.fountains":-1}`)); a.code != 422 ||
		!strings.Contains(a.body, "spec.fountains in body should be greater than or equal to 0") {
		t.Errorf("against a rule of v1: %d %s", a.code, a.body)
	}
	if a := send(t, server, "POST", v1beta1, "application/json", forged(`{"spec.fountains":`)); a.code != 400 ||
		!strings.Contains(a.body, "apigen.dev/preserved") {
		t.Errorf("no JSON: %d %s", a.code, a.body)
	}
	park(t, send(t, server, "POST", v1beta1, "application/json",
		forged(`{"spec.fountains":2,"spec.trees":9,"status.open":true}`)), http.StatusCreated)
	if p := park(t, send(t, server, "GET", v1+"/f", "", ""), 200); *p.Spec.Fountains != 2 || p.Spec.Trees != 1 ||
		p.Status.Open {
		t.Errorf("%+v", p)
	}
}

func generationOf(t *testing.T, object string) int64 {
	t.Helper()
	var park metav1.PartialObjectMetadata
	if err := json.Unmarshal([]byte(object), &park); err != nil {
		t.Fatal(err)
	}
	return park.Generation
}
