package projects

// The reasons for which a kind differs from the definition of its type. docs/decisions/rules.md has more about them.
const (
	tags     = "a definition can't have what a tag of Kubernetes says"
	decoding = "the Go type can't hold the value"
	opaque   = "RolloutSpec has JSON of its own, so that nothing is known of what a client sent inside of it"
)

// differences are what is known of each project whose kinds are held to their definitions.
var differences = map[string]map[string][]string{
	"kuberay": {
		tags: {
			`*: only the type refuses *.evictionResponders[]*`,
			// The object has such a fault, so that its rules in CEL aren't checked.
			`rayclusters: only the type refuses <nil>`, `rayclusters: only the definition refuses spec.managedBy`,
		},
	},
	"keda": {
		tags: {
			`scaledjobs: only the type refuses spec.jobTargetRef.scheduling*`,
			`scaledjobs: only the type refuses *.evictionResponders[].name`,
			// The object has "template": null. The definition adds that it didn't check its rules in CEL, all of which
			// are made of tags of batch/v1.
			`scaledjobs: only the definition refuses <nil>`,
		},
	},
	"cert-manager": {
		decoding: {`*: only the type refuses what it can't decode`},
	},
	"gateway-api":         {},
	"prometheus-operator": {},
	"cluster-api": {
		decoding: {`clusterclasses: only the type refuses what it can't decode`},
	},
	"katib": {
		decoding: {`*: only the type refuses what it can't decode`},
	},
	"kueue": {
		tags: {`workloads: only the type refuses *.evictionResponders[]*`},
	},
	"source-controller": {},
	"kwok":              {},
	"trainer": {
		tags: {
			`*trainingruntimes: only the type refuses *.scheduling*`,
			`*trainingruntimes: only the type refuses *.evictionResponders[].name`,
			// Another text than a name of Kubernetes is of the wrong type there, so that rules in CEL aren't checked.
			`*trainingruntimes: only the definition refuses <nil>`,
			`*trainingruntimes: only the type refuses spec.mlPolicy*`,
			`*trainingruntimes: only the type refuses spec.template.spec`,
		},
	},
	"metallb": {
		decoding: {`*: only the type refuses what it can't decode`},
	},
	"argo-rollouts": {
		tags: {
			`*: only the definition refuses <nil>`, // as KEDA's
			`*: only the type refuses *.scheduling*`,
			`*: only the type refuses *.evictionResponders[]*`,
		},
		opaque: {`rollouts: *`},
	},
	"velero": {
		decoding: {`*: only the type refuses what it can't decode`},
	},
	"external-secrets": {
		decoding: {`*: only the type refuses what it can't decode`},
	},
}
