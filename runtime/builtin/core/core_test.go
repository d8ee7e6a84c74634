package core_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Events live as long as --event-ttl says.
func TestEventTTL(t *testing.T) {
	feature := &core.Feature{}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	feature.AddFlags(flags)
	if err := flags.Parse([]string{"--event-ttl=1s"}); err != nil {
		t.Fatal(err)
	}
	s := apitest.StartWith(t, func(config *server.Config) {
		if err := config.Use(t.Context(), feature); err != nil {
			t.Fatal(err)
		}
	}, feature.Groups()...)
	send := func(method, path, body string) int {
		request, err := http.NewRequestWithContext(t.Context(), method, s.URL+"/api/v1/namespaces/ns/"+path,
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := s.Client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.StatusCode
	}
	event := `{"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","namespace":"ns","name":"p"}}`
	if code := send(http.MethodPost, "events", event); code != http.StatusCreated {
		t.Fatal(code)
	}
	if code := send(http.MethodPost, "configmaps", `{"metadata":{"name":"c"}}`); code != http.StatusCreated {
		t.Fatal(code)
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 2*time.Minute, true,
		func(context.Context) (bool, error) {
			return send(http.MethodGet, "events/e", "") == http.StatusNotFound, nil
		}); err != nil {
		t.Error(err)
	}
	if code := send(http.MethodGet, "configmaps/c", ""); code != http.StatusOK {
		t.Error(code)
	}
}
