package projects

// The reasons for which a kind differs from the definition of its type. docs/decisions/rules.md has more about them.
const (
	explicit  = "a Go value doesn't tell a zero value from none: in the key of an item, and for rules about presence"
	inside    = "a struct without omitempty is always there, and gets defaults inside"
	tags      = "a definition can't have what a tag of Kubernetes says"
	decoding  = "the Go type can't hold the value"
	omitempty = "Go writes the zero value of a field without omitempty"
	sets      = "the metadata of a template has no list types in a definition: its finalizers are no set"
	atomic    = "controller-gen makes a struct atomic that embeds an atomic one; Kubernetes' own schemas don't"
	keyless   = "an element of a list with keys lacks one: field ownership can't read that, a Go value has an empty one"
	pruning   = "a definition prunes an Unstructured of which no marker says that its fields are preserved"
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
		atomic: {`ray*: of an equal object, only the type manages *.configMap*`},
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
		omitempty: {
			`*: only the type stores spec.azureKeyVault.cloud.*`,
			`*: only the type stores status.triggersActivity[].isActive`,
			// An apply that sends {} leaves null of isActive, which nobody has applied.
			`scaledobjects: only the definition stores status.triggersActivity[]`,
			`scaledjobs: only the type stores *.onPodConditions[].status`,
		},
	},
	"cert-manager": {
		explicit: { // updates without what was stored empty
			`certificate*: only the definition refuses spec.issuerRef*`,
			`certificaterequests: only the definition refuses spec.request`,
		},
		decoding: {`*: only the type refuses what it can't decode`},
		omitempty: {
			`*: only the type stores spec`, `*: only the type stores status`,
			`challenges: only the type stores spec.wildcard`, `challenges: only the type stores status.*`,
			`*: only the type stores *.podTemplate.metadata`, `*: only the type stores *.podTemplate.spec`,
			`*: only the type stores *.ingressTemplate.metadata`,
			`*: only the type stores *.secretAccessKeySecretRef`,
		},
	},
	"gateway-api": {},
	"prometheus-operator": {
		explicit: {
			`*: only the definition refuses spec.excludedFromEnforcement[].group`,
			`thanosrulers: only the definition refuses <nil>`,
		},
		sets: {`alertmanagers: only the type refuses what it can't decode`},
		omitempty: {
			`alertmanagerconfigs: only the type stores *.value`,
			`alertmanagerconfigs: only the type stores spec.route.receiver`,
			`*: only the type stores status.*eplicas`, `*: only the type stores status.paused`,
		},
	},
	"cluster-api": {
		explicit: {
			`clusters: only the type refuses spec`, // it has an empty struct alone
		},
		decoding:  {`clusterclasses: only the type refuses what it can't decode`},
		omitempty: {`*: only the type stores status.deprecated.*eplicas`},
	},
	"katib": {
		decoding: {`*: only the type refuses what it can't decode`},
		keyless: {
			`*: only the type stores status`, `suggestions: only the type stores status.*`,
			// No manager of the definition has the items, so that an apply without them removes none.
			`suggestions: only the definition stores status`,
			`suggestions: only the definition stores status.suggestions*`,
			`trials: only the definition stores status.conditions`,
			`trials: only the definition stores status.observation`,
		},
		pruning: {`experiments: only the type stores spec.trialTemplate.trialSpec.*`},
	},
	"kueue": {
		explicit: {
			`multikueueclusters: only the * refuses spec.clusterSource`,
			`multikueueclusters: only the definition refuses <nil>`,
			`topologies: only the definition refuses <nil>`,
			`topologies: only the * refuses spec.levels`,
		},
		sets: {`workloads: of an equal object, only the definition manages *.metadata*`},
		tags: {`workloads: only the type refuses *.evictionResponders[]*`},
		omitempty: {
			`*: only the type stores spec`,
			`*queues: only the type stores status.*Workloads`,
			`workloads: only the type stores status.admission.clusterQueue`,
			`admissionchecks: only the type refuses spec.controllerName`, // which then seems to be changed
			`admissionchecks: only the definition refuses *`,             // an update of what was stored empty
			`provisioningrequestconfigs: only the definition refuses spec.provisioningClassName`,
		},
	},
	"velero": {
		decoding: {`*: only the type refuses what it can't decode`},
		omitempty: {
			`*: only the type stores spec.uploaderType`, `*: only the type stores spec.repositoryType`,
			`datauploads: only the type stores spec.csiSnapshot.snapshotClass`,
		},
	},
	"external-secrets": {
		explicit: {
			`*: only the definition refuses *.provider.version`,
			`*: only the type refuses *.data[].sourceRef`,
			`*: only the definition refuses *.data[].sourceRef`,
		},
		inside: {
			`*: only the definition refuses *.webhook.auth`,
		},
		decoding: {`*: only the type refuses what it can't decode`},
		omitempty: {
			`*secretstores: only the type stores *.conjur.auth.jwt.hostId`,
			`*secretstores: only the type stores *.kubernetes.auth`,
			`*secretstores: only the definition refuses *.vault.version`, // it has a default
			`secretstores: only the type stores *.azureAuthCredentials.resource`,
		},
	},
}
