package registry_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/subresource"
)

// A connection passes the plug-ins, with the name of its object and subresource, before anything is connected.
func TestAdmissionOfConnections(t *testing.T) {
	var seen []string
	refuse := false
	see := func(stage string) func(context.Context, *admission.Attributes) error {
		return func(_ context.Context, a *admission.Attributes) error {
			seen = append(seen, stage+" "+string(a.Operation)+" "+a.Namespace+"/"+a.Name+" "+a.Subresource)
			if refuse && stage == "validate" {
				return admission.Forbidden(a, errors.New("not today"))
			}
			return nil
		}
	}
	connected := 0
	d := shop.Definition()
	d.Extensions = []subresource.Extension[*shop.Widget]{subresource.ConnectionOf(
		subresource.Connection[*shop.Widget, *bool]{
			Name: "exec", Options: subresource.Options[*bool]{
				New: func() *bool { return new(bool) }, Decode: func(url.Values, *bool) error { return nil },
			},
			Connect: func(context.Context, *shop.Widget, *bool) (http.Handler, error) {
				connected++
				return http.NotFoundHandler(), nil
			},
		})}
	h := openOver(t, newMemory(t), registry.New(d), registry.Config{
		DisableCache: true, Schemas: documents(), Admission: admission.NewChain([]admission.Plugin{
			{Name: "See", Admit: see("admit"), Validate: see("validate")},
		}, nil),
	})
	if _, err := h.Create(t.Context(), "ns", body(
		`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"a"}}`),
		verb.WriteOptions{Form: v1}); err != nil {
		t.Fatal(err)
	}
	for _, refuse = range []bool{false, true} {
		seen = nil
		_, err := h.Extension("exec").Connect(t.Context(), "ns", "a", url.Values{})
		if got := strings.Join(seen, ", "); got != "admit CONNECT ns/a exec, validate CONNECT ns/a exec" {
			t.Errorf("seen: %s", got)
		}
		if refuse != (err != nil) {
			t.Errorf("refused: %v, %v", refuse, err)
		}
	}
	if connected != 1 {
		t.Errorf("connected %d times", connected)
	}
}
