package projects

// The reasons for which a kind differs from the definition of its type. docs/decisions/rules.md has more about them.
const (
	explicit  = "a zero value that the client sent isn't kept: a default takes its place, and it may be a duplicate"
	inside    = "defaults are set inside an absent struct without required fields, which is there then"
	tags      = "a definition can't have what a tag of Kubernetes says"
	decoding  = "the Go type can't hold the value"
	omitempty = "Go writes the zero value of a field without omitempty"
)

// differences are what is known of each project whose kinds are held to their definitions.
var differences = map[string]map[string][]string{
	"kuberay": {
		explicit: {
			`*: only the type refuses *[]`, // a key that is missing beside an empty one
			`*: stored *.numOfHosts is 1 by the type and 0 by the definition`,
			`*: stored *.spec.* by the type and "" by the definition`,
			`*: only the definition stores *.resourceFieldRef.divisor`,
			`rayjobs: only the type refuses spec.deletionStrategy`,
			`rayjobs: stored spec.submissionMode is "K8sJobMode" by the type and "" by the definition`,
		},
		inside: {`rayjobs: only the type stores spec`, `rayjobs: only the type stores status`},
		tags:   {`*: only the type refuses *.evictionResponders[].name`},
	},
	"keda": {
		explicit: {`scaledjobs: only the type refuses *.containers[]`}, // a key that is missing beside an empty one
		tags: {
			`scaledjobs: only the type refuses spec.jobTargetRef.scheduling*`,
			`scaledjobs: only the type refuses *.evictionResponders[].name`,
			`scaledjobs: only the definition refuses <nil>`, // it didn't check the rules of such a tag
		},
		omitempty: {
			`*: only the type stores spec.azureKeyVault.cloud.*`,
			`*: only the type stores status.triggersActivity[].isActive`,
			`scaledjobs: only the type stores *.onPodConditions[].status`,
		},
	},
	"cert-manager": {
		decoding: {`*: only the type refuses what it can't decode`},
		omitempty: {
			`*: only the type stores spec`, `*: only the type stores status`,
			`challenges: only the type stores spec.wildcard`, `challenges: only the type stores status.*`,
			`*: only the type stores *.podTemplate.metadata`, `*: only the type stores *.podTemplate.spec`,
			`*: only the type stores *.ingressTemplate.metadata`,
			`challenges: only the type stores *.secretAccessKeySecretRef`,
		},
	},
	"gateway-api": {
		explicit: {
			`*: stored status.conditions is * by the type and [] by the definition`,
			`httproutes: stored *.matches is * by the type and [] by the definition`,
			`*: only the type refuses spec.listeners*`,     // a key or a protocol that is missing beside an empty one
			`grpcroutes: only the definition refuses spec`, // an update without the empty spec that was stored
			`grpcroutes: only the definition refuses <nil>`,
		},
	},
	"prometheus-operator": {
		explicit: {`*: stored * by the type and "" by the definition`},
		inside:   {`alertmanagers: only the type stores spec.alertmanagerConfigMatcherStrategy`},
		omitempty: {
			`alertmanagerconfigs: only the type stores *.value`,
			`alertmanagerconfigs: only the type stores spec.route.receiver`,
			`*: only the type stores status.*eplicas`, `*: only the type stores status.paused`,
		},
	},
	"cluster-api": {
		explicit: {
			`*: only the type refuses *Gates[]`, // a key that is missing beside an empty one, as those that follow
			`clusters: only the type refuses spec.topology.variables[]`,
			`clusterclasses: only the type refuses *.x-kubernetes-validations[]`,
			`machinedrainrules: only the type refuses spec.*`,                // elements differ in empty structs alone
			`machinehealthchecks: only the definition refuses spec.selector`, // an update without what was stored empty
		},
		decoding:  {`clusterclasses: only the type refuses what it can't decode`},
		omitempty: {`*: only the type stores status.deprecated.*eplicas`},
	},
	"katib": {},
	"kueue": {},
	"velero": {
		explicit: {`backupstoragelocations: only the definition refuses spec.objectStorage.caCert`},
		decoding: {`*: only the type refuses what it can't decode`},
		omitempty: {
			`*: only the type stores spec.uploaderType`, `*: only the type stores spec.repositoryType`,
			`datauploads: only the type stores spec.csiSnapshot.snapshotClass`,
		},
	},
	"external-secrets": {
		explicit: {
			`*: only the definition refuses *Strategy`, // an enumeration with a default, as those that follow
			`*: only the definition refuses *Policy`,
			`*: only the definition refuses *.environmentType`,
			`*: only the definition refuses *.template.engineVersion`,
			`*: only the definition refuses *.templateFrom[].target`,
			`*: only the definition refuses *.provider.version`,
			`*: only the definition refuses *.kubernetes.remoteNamespace`,
			`*pushsecrets: only the definition refuses *.secretStoreRefs[].kind`,
			`*: only the definition refuses *.resultType`,
			`acraccesstokens: only the definition stores spec`, // with such a default
			`*: only the definition refuses *.caBundle`,        // an empty text is no base64
			`*: stored * by the type and "" by the definition`,
			`*: stored *.length is 24 by the type and 0 by the definition`,
			`*: stored *.expandSecretReferences is true by the type and false by the definition`,
			`*: only the type refuses *.data[].sourceRef`,
			`*: only the definition refuses *.data[].sourceRef`,
			`clusterpushsecrets: only the type refuses spec.pushSecretSpec.selector`,
		},
		inside: {
			`*: only the definition refuses spec.*SecretSpec`,
			`*: only the definition refuses *.data[].remoteRef`,
			`*: only the definition refuses *.infisical.secretsScope`,
			`*: only the definition refuses *.webhook.auth`,
			`externalsecrets: only the type stores spec`,
			`passwords: only the type stores spec`,
		},
		decoding: {`*: only the type refuses what it can't decode`},
		omitempty: {
			`secretstores: only the type stores *.conjur.auth.jwt.hostId`,
			`secretstores: only the type stores *.kubernetes.server`,
			`secretstores: only the type stores *.kubernetes.auth`,
			`secretstores: only the type stores *.azureAuthCredentials.resource`,
		},
	},
}
