package apitest_test

import (
	"io"
	"net/http"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/core/wiring"
)

// A test of a project starts the groups that the project serves, and uses any client.
func Example() {
	_ = func(t *testing.T) {
		server := apitest.Start(t, wiring.Group())
		answer, err := server.Client.Get(server.URL + "/api/v1/namespaces/default/configmaps")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if body, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s (%v)", answer.Status, body, err)
		}
	}
}
