package projects

// The reasons for which a kind differs from the definition of its type. docs/decisions/rules.md has more about them.
const (
	tags     = "a definition can't have what a tag of Kubernetes says"
	decoding = "the Go type can't hold the value"
	sets     = "the metadata of a template has no list types in a definition: its finalizers are no set"
	pruning  = "a definition prunes an Unstructured of which no marker says that its fields are preserved"
)

// differences are what is known of each project whose kinds are held to their definitions.
var differences = map[string]map[string][]string{
	"kuberay": {
		tags: {
			`*: only the type refuses *.evictionResponders[]*`,
			// The object has such a fault, so that its rules in CEL aren't checked.
			`rayclusters: only the type refuses <nil>`, `rayclusters: only the definition refuses spec.managedBy`,
		},
		sets: {
			`ray*: only the type refuses what it can't decode`,
			`ray*: of an equal object, only the definition manages *.metadata.finalizers`, // an empty list
			`rayclusters: only the type stores *.metadata.finalizers`,
		},
	},
	"keda": {
		sets: {
			`scaledjobs: of an equal object, only the definition manages *.metadata*`,
			`scaledjobs: only the type refuses what it can't decode`,
		},
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
	"gateway-api": {},
	"prometheus-operator": {
		sets: {`alertmanagers: only the type refuses what it can't decode`},
	},
	"cluster-api": {
		decoding: {`clusterclasses: only the type refuses what it can't decode`},
	},
	"katib": {
		decoding: {`*: only the type refuses what it can't decode`},
		pruning:  {`experiments: only the type stores spec.trialTemplate.trialSpec.*`},
	},
	"kueue": {
		sets: {`workloads: of an equal object, only the definition manages *.metadata*`},
		tags: {`workloads: only the type refuses *.evictionResponders[]*`},
	},
	"velero": {
		decoding: {`*: only the type refuses what it can't decode`},
	},
	"external-secrets": {
		decoding: {`*: only the type refuses what it can't decode`},
	},
}
