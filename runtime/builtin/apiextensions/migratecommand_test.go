package apiextensions_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/builtin/services"
	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
)

// shared is the backend of a server that runs, which the command opens beside it.
type shared struct{ storage.Backend }

func (s shared) Open(context.Context, string, storage.EmbeddedOptions) (storage.Backend, error) {
	return s, nil
}

func (shared) Restore(context.Context, string, string, storage.RestoreOptions) error { return nil }

func (shared) Close() error { return nil }

// startHook starts a conversion webhook for a service, and returns its address and its certificate authority.
func startHook(t *testing.T, handler http.Handler, service string) (address, bundle string) {
	t.Helper()
	certificate, trust, err := certs.SelfSigned(service)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(handler)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), base64.StdEncoding.EncodeToString(trust)
}

// startOldCable starts a server with a cable that is stored as v1, and a definition that stores v2. The conversion
// webhook is the service shop/hook, with a certificate of bundle.
func startOldCable(t *testing.T, bundle string) storage.Backend {
	t.Helper()
	feature := &apiextensions.Feature{}
	var backend storage.Backend
	c := client{apitest.StartWith(t, func(config *server.Config) {
		if err := config.Use(t.Context(), feature); err != nil {
			t.Fatal(err)
		}
		backend = config.Backend
	}, feature.Groups()...), t}
	const inService = "{service: {namespace: shop, name: hook}, caBundle: %s}"
	first := fmt.Sprintf(strings.Replace(cable, `{url: "%s", caBundle: %s}`, inService, 1), bundle)
	c.establish(first, "cables.shop.example.com")
	c.want(http.StatusCreated, http.MethodPost, cables,
		"{apiVersion: shop.example.com/v1, kind: Cable, metadata: {name: c}, spec: {size: 7}}")
	now := c.want(http.StatusOK, http.MethodGet, definitions+"/cables.shop.example.com", "")
	second := strings.NewReplacer("storage: true", "storage: false", "storage: false", "storage: true",
		"metadata: {", fmt.Sprintf("metadata: {resourceVersion: %q, ", at(now, "metadata", "resourceVersion")))
	c.want(http.StatusOK, http.MethodPut, definitions+"/cables.shop.example.com", second.Replace(first))
	return backend
}

// runMigrate runs the migrate command on a backend, with a program that finds services by services.
func runMigrate(t *testing.T, backend storage.Backend, finds server.Services, flags ...string) (out string, err error) {
	t.Helper()
	command := server.Command(server.Program{
		Name: "shop", Embedded: shared{backend}, Services: finds,
		Features: []server.Feature{&services.Feature{}, &apiextensions.Feature{}},
	})
	command.SetArgs(append([]string{"migrate", "--data-dir=" + t.TempDir()}, flags...))
	var printed bytes.Buffer
	command.SetOut(&printed)
	err = command.ExecuteContext(t.Context())
	return printed.String(), err
}

// TestMigrateCommand: the migrate command converts custom resources by a webhook that is a service, which
// --service-endpoints or the program finds.
func TestMigrateCommand(t *testing.T) {
	address, bundle := startHook(t, &converter{}, "hook.shop.svc")
	finds := func(context.Context, string, string, int32) (string, error) { return address, nil }
	for _, test := range []struct {
		what  string
		finds server.Services
		flags []string
	}{
		{"flag", nil, []string{"--service-endpoints=shop/hook=" + address}},
		{"program", finds, nil},
	} {
		backend := startOldCable(t, bundle)
		out, err := runMigrate(t, backend, test.finds, test.flags...)
		if err != nil {
			t.Errorf("%s: %v\n%s", test.what, err, out)
			continue
		}
		kv, _, err := backend.Get(t.Context(), "/registry/shop.example.com/cables/ns/c", storage.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"apiVersion":"shop.example.com/v2"`, `"length":7`} {
			if !strings.Contains(string(kv.Value), want) {
				t.Errorf("%s: stored as %s, want %s\n%s", test.what, kv.Value, want, out)
			}
		}
	}
}

// TestMigrateServiceEndpoints: a wrong value of the flag ends the command.
func TestMigrateServiceEndpoints(t *testing.T) {
	_, err := runMigrate(t, nil, nil, "--service-endpoints=hook=127.0.0.1:1")
	const want = `--service-endpoints: "hook=127.0.0.1:1": `
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
