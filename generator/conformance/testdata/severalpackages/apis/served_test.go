package apis

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
)

// TestSeveralPackages: one version has the kinds of both packages, each with its rules, defaults and conversions.
func TestSeveralPackages(t *testing.T) {
	server := apitest.Start(t, Groups()...)
	answer := func(method, path, body string) (int, string) {
		t.Helper()
		request, err := http.NewRequest(method, server.URL+"/apis/shop.example.com/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := server.Client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	object := func(kind, spec string) string {
		return `{"apiVersion":"shop.example.com/v1","kind":"` + kind + `","metadata":{"name":"one"},"spec":` + spec + `}`
	}
	for _, step := range []struct {
		method, path, body string
		code               int
		has                string
	}{
		{"POST", "v1/namespaces/default/lamps", object("Lamp", "{}"), 201, `"size":1`},
		{"POST", "v1/namespaces/default/tools", object("Tool", "{}"), 201, `"handle":"wood"`},
		{"POST", "v1/namespaces/default/tools", object("Tool", `{"handle":"none"}`), 422, "is needed"},
		{"GET", "v1beta1/namespaces/default/tools/one", "", 200, `"grip":"wood"`},
		{"GET", "v1", "", 200, `"kind":"Tool"`},
		{"GET", "v1", "", 200, `"kind":"Lamp"`},
	} {
		code, text := answer(step.method, step.path, step.body)
		if code != step.code || !strings.Contains(text, step.has) {
			t.Errorf("%s %s: %d %s, want %d with %s", step.method, step.path, code, text, step.code, step.has)
		}
	}
}
