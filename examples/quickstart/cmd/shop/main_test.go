package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"

	"example.com/shop/apis"
	shopv1 "example.com/shop/apis/shop/v1"
)

const widgets = "/apis/shop.example.com/v1/namespaces/default/widgets"

func send(t *testing.T, server *apitest.Server, method, path, contentType, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := server.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

func TestWidget(t *testing.T) {
	server := apitest.Start(t, apis.Groups()...)

	code, body := send(t, server, "POST", widgets, "application/yaml", `
apiVersion: shop.example.com/v1
kind: Widget
metadata: {name: a}
spec: {color: green}
status: {phase: Forged}
`)
	if code != http.StatusCreated {
		t.Fatalf("create: %d %s", code, body)
	}
	var created shopv1.Widget
	if err := json.Unmarshal([]byte(body), &created); err != nil {
		t.Fatal(err)
	}
	if created.Spec.Size == nil || *created.Spec.Size != 1 {
		t.Errorf("the size was not defaulted: %s", body)
	}
	if created.Status.Phase != "" || created.Generation != 1 || created.UID == "" {
		t.Errorf("a creation sets no status, and sets generation and uid: %s", body)
	}

	if code, body = send(t, server, "PATCH", widgets+"/a", "application/merge-patch+json",
		`{"spec":{"size":-1}}`); code != 422 || !strings.Contains(body, "must not be negative") {
		t.Errorf("an invalid size: %d %s", code, body)
	}
	if code, body = send(t, server, "PATCH", widgets+"/a/status", "application/merge-patch+json",
		`{"spec":{"size":9},"status":{"phase":"Ready"}}`); code != 200 ||
		!strings.Contains(body, `"phase":"Ready"`) || strings.Contains(body, `"size":9`) ||
		!strings.Contains(body, `"generation":1`) {
		t.Errorf("a write of the status: %d %s", code, body)
	}
	if code, body = send(t, server, "GET", widgets+"?fieldSelector=spec.color%3Dgreen", "", ""); code != 200 ||
		!strings.Contains(body, `"name":"a"`) {
		t.Errorf("a list by color: %d %s", code, body)
	}
	if code, body = send(t, server, "GET", widgets+"?fieldSelector=spec.color%3Dred", "", ""); code != 200 ||
		!strings.Contains(body, `"items":[]`) {
		t.Errorf("a list by another color: %d %s", code, body)
	}
	if code, body = send(t, server, "DELETE", widgets+"/a", "", ""); code != 200 {
		t.Errorf("delete: %d %s", code, body)
	}
	if code, _ = send(t, server, "GET", widgets+"/a", "", ""); code != 404 {
		t.Errorf("after the delete: %d", code)
	}
}
