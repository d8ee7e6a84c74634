package agreement_test

import (
	"encoding/json"
	"testing"

	"apigen.dev/runtime/internal/custom/agreement/trial"
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
					p := pair{trial.NewPair(t, trialOf(t, resource))}
					p.share(p.Typed, configs.same, configs.other)
					p.share(p.Custom, configs.same, configs.other)
				}
			}
		})
	}
}

type pair struct{ *trial.Pair }

// share applies a configuration by two managers, and again, and another one by a third manager.
func (p pair) share(h verb.Handle, same, other string) {
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

func (p pair) apply(h verb.Handle, manager, config string) error {
	data, err := json.Marshal(p.Whole("shared", p.Decode(config)))
	if err != nil {
		p.Fatal(err)
	}
	_, err = h.Patch(p.Context(), "ns", "shared", "", verb.ApplyPatch, verb.Body{Version: "v1", Data: data},
		verb.WriteOptions{Form: verb.Form{Version: "v1"}, FieldManager: manager})
	return err
}
