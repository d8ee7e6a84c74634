package lifecycle_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/builtin/lifecycle"
	"apigen.dev/runtime/server"
	"k8s.io/apimachinery/pkg/util/wait"
)

func start(t *testing.T) *apitest.Server {
	t.Helper()
	return apitest.StartWith(t, func(config *server.Config) {
		if err := config.Use(t.Context(), new(lifecycle.Feature)); err != nil {
			t.Fatal(err)
		}
	}, (&core.Feature{}).Groups()...)
}

func send(t *testing.T, s *apitest.Server, method, path, body string) (code int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+"/api/v1/namespaces"+path,
		strings.NewReader(body))
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
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// eventually sends a request until its answer is as wanted.
func eventually(t *testing.T, s *apitest.Server, method, path, body string, code int, has string) string {
	t.Helper()
	var lastCode int
	var last string
	if err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, 2*time.Minute, true,
		func(context.Context) (bool, error) {
			lastCode, last = send(t, s, method, path, body)
			return lastCode == code && strings.Contains(last, has), nil
		}); err != nil {
		t.Fatalf("%s %s: %d %s", method, path, lastCode, last)
	}
	return last
}

func TestSystemNamespaces(t *testing.T) {
	s := start(t)
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		eventually(t, s, http.MethodGet, "/"+name, "", 200, `"phase":"Active"`)
		code, body := send(t, s, http.MethodDelete, "/"+name, "")
		const why = `\" is forbidden: this namespace may not be deleted`
		if code != 403 || !strings.Contains(body, `namespaces \"`+name+why) {
			t.Errorf("%d %s", code, body)
		}
	}
}

// TestDefaultAccount: every namespace has the service account "default", which comes back when somebody deletes it.
func TestDefaultAccount(t *testing.T) {
	s := start(t)
	const path = "/default/serviceaccounts/default"
	eventually(t, s, http.MethodGet, path, "", 200, "")
	if code, body := send(t, s, http.MethodDelete, path, ""); code != 200 {
		t.Fatalf("%d %s", code, body)
	}
	eventually(t, s, http.MethodGet, path, "", 200, "")
	send(t, s, http.MethodPost, "", `{"metadata":{"name":"n"}}`)
	eventually(t, s, http.MethodGet, "/n/serviceaccounts/default", "", 200, "")
}

func TestWritesNeedANamespace(t *testing.T) {
	s := start(t)
	code, body := send(t, s, http.MethodPost, "/absent/configmaps", `{"metadata":{"name":"x"}}`)
	if code != 404 || !strings.Contains(body, `"message":"namespaces \"absent\" not found"`) {
		t.Errorf("%d %s", code, body)
	}
	code, body = send(t, s, http.MethodPost, "", `{"metadata":{"generateName":"n-"}}`)
	if code != 201 || !strings.Contains(body, `"finalizers":["kubernetes"]`) ||
		!strings.Contains(body, `"kubernetes.io/metadata.name":"n-`) {
		t.Errorf("%d %s", code, body)
	}
	send(t, s, http.MethodPost, "", `{"metadata":{"name":"n"}}`)
	if code, body := send(t, s, http.MethodPost, "/n/configmaps", `{"metadata":{"name":"x"}}`); code != 201 {
		t.Errorf("%d %s", code, body)
	}
}

// A namespace is emptied, waits for finalizers, takes nothing new, and goes.
func TestDeletion(t *testing.T) {
	s := start(t)
	send(t, s, http.MethodPost, "", `{"metadata":{"name":"n"}}`)
	for i := range 700 {
		if code, body := send(t, s, http.MethodPost, "/n/configmaps",
			fmt.Sprintf(`{"metadata":{"name":"x%d"}}`, i)); code != 201 {
			t.Fatalf("%d %s", code, body)
		}
	}
	send(t, s, http.MethodPost, "/n/secrets", `{"metadata":{"name":"kept","finalizers":["example.com/keep"]}}`)
	code, body := send(t, s, http.MethodDelete, "/n", "")
	if code != 200 || !strings.Contains(body, `"phase":"Terminating"`) ||
		strings.Contains(body, "deletionGracePeriodSeconds") {
		t.Errorf("%d %s", code, body)
	}
	code, body = send(t, s, http.MethodPost, "/n/configmaps", `{"metadata":{"name":"y"}}`)
	const why = `configmaps \"y\" is forbidden: ` +
		`unable to create new content in namespace n because it is being terminated`
	if code != 403 || !strings.Contains(body, why) || !strings.Contains(body, `"reason":"NamespaceTerminating"`) {
		t.Errorf("%d %s", code, body)
	}
	eventually(t, s, http.MethodGet, "/n/configmaps", "", 200, `"items":[]`)
	body = eventually(t, s, http.MethodGet, "/n", "", 200, "SomeFinalizersRemain")
	for _, want := range []string{
		`"message":"Some resources are remaining: secrets. has 1 resource instances"`,
		`"message":"Some content in the namespace has finalizers remaining: example.com/keep in 1 resource instances"`,
		`"reason":"ContentDeleted"`, `"reason":"ResourcesDiscovered"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s lacks %s", body, want)
		}
	}
	if code, body := send(t, s, http.MethodDelete, "/n", ""); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	send(t, s, http.MethodPatch, "/n/secrets/kept", `{"metadata":{"finalizers":null}}`)
	eventually(t, s, http.MethodGet, "/n", "", 404, "")
	if code, body := send(t, s, http.MethodPost, "", `{"metadata":{"name":"n"}}`); code != 201 {
		t.Errorf("%d %s", code, body)
	}
	eventually(t, s, http.MethodPost, "/n/configmaps", `{"metadata":{"name":"y"}}`, 201, "")
}

// Others may keep a namespace, too, by finalizers of their own.
func TestOtherFinalizers(t *testing.T) {
	s := start(t)
	send(t, s, http.MethodPost, "", `{"metadata":{"name":"n"},"spec":{"finalizers":["example.com/mine"]}}`)
	send(t, s, http.MethodDelete, "/n", "")
	eventually(t, s, http.MethodGet, "/n", "", 200, `"finalizers":["example.com/mine"]`)
	code, body := send(t, s, http.MethodPut, "/n/finalize", `{"metadata":{"name":"n"},"spec":{"finalizers":["mine"]}}`)
	if code != 422 || !strings.Contains(body, "name is neither a standard finalizer name nor is it fully qualified") {
		t.Errorf("%d %s", code, body)
	}
	if code, body := send(t, s, http.MethodPut, "/n/finalize", `{"metadata":{"name":"n"}}`); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	if code, body := send(t, s, http.MethodGet, "/n", ""); code != 404 {
		t.Errorf("%d %s", code, body)
	}
}
