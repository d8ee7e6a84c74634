package agreement_test

import (
	"encoding/json"
	"maps"
	"testing"

	"apigen.dev/runtime/internal/custom/agreement/wiring"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestManagersShareZeroValues: two managers that apply the same zero value share it, as of a custom resource, although
// the Go type doesn't keep it. One that applies another value is refused.
func TestManagersShareZeroValues(t *testing.T) {
	for kind, configs := range map[string]struct{ same, other string }{
		"Sign":   {`{"spec":{}}`, ""},
		"Meter":  {`{"spec":{"timeout":"0s","port":0,"capacity":"0"}}`, `{"spec":{"timeout":"5s"}}`},
		"Poster": {`{"spec":{}}`, ""},
	} {
		t.Run(kind, func(t *testing.T) {
			for _, resource := range wiring.Group().Resources {
				if resource.Info().Names.Kind == kind {
					p := newPair(t, resource)
					p.share(p.typed, configs.same, configs.other)
					p.share(p.custom, configs.same, configs.other)
				}
			}
		})
	}
}

// share applies a configuration by two managers, and again, and another one by a third manager.
func (p *pair) share(h verb.Handle, same, other string) {
	p.Helper()
	for _, manager := range []string{"one", "two", "one"} {
		if err := p.apply(h, manager, same); err != nil {
			p.Errorf("%s: %v", manager, err)
		}
	}
	if other == "" {
		return
	}
	if err := p.apply(h, "three", other); !apierrors.IsConflict(err) {
		p.Errorf("another value: %v", err)
	}
}

func (p *pair) apply(h verb.Handle, manager, config string) error {
	whole := map[string]any{"apiVersion": "agreement.example.com/v1", "kind": p.kind,
		"metadata": map[string]any{"name": "shared"}}
	maps.Copy(whole, p.decode(config))
	data, err := json.Marshal(whole)
	if err != nil {
		p.Fatal(err)
	}
	_, err = h.Patch(p.Context(), "ns", "shared", "", verb.ApplyPatch, verb.Body{Version: "v1", Data: data},
		verb.WriteOptions{Form: verb.Form{Version: "v1"}, FieldManager: manager})
	return err
}
