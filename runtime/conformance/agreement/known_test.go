package agreement

import "apigen.dev/runtime/internal/custom/agreement/trial"

// The reasons of differences. docs/decisions/rules.md has more about some.
const (
	native    = "without +kubebuilder:object:root the kind is in the style of Kubernetes: a zero value is unset"
	tags      = "a definition can't have what a tag of Kubernetes says"
	null      = "null is a zero value in a list or map of a kind in the style of Kubernetes"
	canonical = "the Go type writes the value in its canonical form"
	hooks     = "hand-written Go, which a definition can't have"
)

const time = `stored status.conditions[].lastTransitionTime is "2026-01-02T03:04:05Z" by the type and ` +
	`"2026-01-02T03:04:05.000000Z" by the definition`

// kinds are what the objects of each kind are made of, and the differences that remain.
var kinds = map[string]trial.Trial{
	"Book": {
		Texts: []string{"", "x", "EUR", "eur", "0-306-40615-2", "0306406152"},
		Right: 2, NullIsAbsent: true,
		Chosen: []string{
			`{"spec":{"title":"x","isbn":"1234567890"}}`, `{"spec":{"title":"x","keywords":{"Key":"x"}}}`,
			`{"spec":{"title":"x","keywords":{"key-a":null},"price":{"cents":0},` +
				`"authors":[{"family":"x","given":""}]}}`,
			`{"spec":{"title":"x","genre":"","pages":0}}`, `{"spec":{"title":"x","genre":"NonFiction","authors":[]}}`,
			`{"spec":{"title":"x","authors":[{"family":"x"},null]}}`, `{"spec":{"title":"","genre":"NonFiction"}}`,
		},
		Known: map[string][]string{
			native: {
				`only the definition refuses <nil>`,          // for genre, which says that rules were not checked
				`only the definition refuses spec.authors[]`, // null
				`only the definition refuses spec.genre`,
				`only the definition refuses spec.isbn`,
				`only the definition refuses spec.pages`,
				`only the definition refuses spec.price.currency`,
				`only the definition stores spec.authors`,
				`only the definition stores spec.authors[].given`,
				`only the definition stores spec.keywords`,
				`only the definition stores spec.price.cents`,
				`only the definition stores status.conditions`,
				`only the definition stores status.conditions[].observedGeneration`,
				`only the definition stores status.copies`,
				`only the definition stores status.lent`,
				`only the definition refuses spec.authors`, // beside a title that only the type refuses
				`only the type refuses spec.authors`,
				`only the type refuses spec.authors[].family`, // of null
				`only the type stores spec.price`,
				`only the type stores status`,
			},
			tags: {
				`only the type refuses <nil>`,
				`only the type refuses spec.keywords`,
				`only the type refuses spec.title`,
			},
			hooks: {
				`only the type refuses spec.isbn`,
				`only the type refuses status.lent`,
			},
			null:      {`only the type stores spec.keywords[]`},
			canonical: {time, `stored spec.isbn is "0306406152" by the type and "0-306-40615-2" by the definition`},
		},
	},
	"Park": {
		Texts: []string{"", "x", "ab"},
		// Null is a path with the default of lit.
		Chosen: []string{`{"spec":{"trees":0}}`, `{"spec":{"paths":[null]}}`},
		Known: map[string][]string{
			hooks: {
				`only the definition refuses spec*`, // of null in an apply, in whose place Park sets a value
				`only the type refuses spec.trees`,
				`only the type stores spec`, // which has plantedBy
				`only the type stores spec.plantedBy`,
				`stored spec.plantedBy is "the city" by the type*`,
				`only the definition stores spec.paths[].surface`, // of the path that is sorted there, as below
				`only the type stores spec.paths[].surface`,
				`stored spec.paths[].*`,
			},
		},
	},
	"Widget": {
		Texts:  []string{"", "x", "ab"},
		Chosen: []string{`{"spec":{"size":1},"status":{"conditions":[null]}}`},
		Known: map[string][]string{
			hooks: {`only the type refuses spec.size`},
		},
	},
	"Ship": {
		Texts: []string{"", "x", "ab"},
		Chosen: []string{
			`{"spec":{"watch":{"matchExpressions":[],"matchLabels":{}}}}`,
			`{"spec":{"watch":{"matchLabels":{"key-a":null}}}}`,
			`{"spec":{"watch":{"matchExpressions":[{"key":"x","operator":"In","values":[]}]}}}`,
			`{"spec":{"watch":{"matchExpressions":[{"key":"x","operator":"In","values":[null]}]}}}`,
		},
		Known: map[string][]string{
			hooks: {
				`only the definition refuses clearance*`, // and
				`only the definition stores clearance`,   // which a subresource sets
				`only the type refuses spec.harbour`,
			},
		},
	},
}
