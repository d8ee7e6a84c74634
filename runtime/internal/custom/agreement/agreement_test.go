package agreement_test

import (
	"os"
	"testing"

	"apigen.dev/runtime/internal/custom/agreement/trial"
	"apigen.dev/runtime/internal/custom/agreement/wiring"
	"apigen.dev/runtime/registry"
)

// TestAgreement: objects of a kind with a Go type are refused for the same fields, and are stored in the same form, as
// custom resources of the CustomResourceDefinition that the generator writes of the type.
func TestAgreement(t *testing.T) {
	for _, resource := range wiring.Group().Resources {
		t.Run(resource.Info().Names.Kind, func(t *testing.T) { trialOf(t, resource).Run(t) })
	}
}

// trialOf returns what is known of a kind of the group.
func trialOf(t *testing.T, resource registry.Resource) trial.Trial {
	t.Helper()
	names := resource.Info().Names
	definition, err := os.ReadFile("testdata/agreement.example.com_" + names.Plural + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	kind := names.Kind
	return trial.Trial{
		Group: wiring.Group(), Resource: resource, Definition: definition, Texts: texts[kind], Chosen: chosen[kind],
		Changes: changes[kind], Known: known[kind],
	}
}
