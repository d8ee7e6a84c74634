package projects

// The reasons for which a kind differs from the definition of its type. docs/decisions/rules.md has more about them.
const (
	explicit  = "a zero value that the client sent isn't kept: a default takes its place, and it may be a duplicate"
	inside    = "defaults are set inside an absent struct without required fields, which is there then"
	beside    = "the fields of a required struct that is missing are refused beside it"
	tags      = "a definition can't have what a tag of Kubernetes says"
	status    = "a field Status is a subresource without a marker, which a definition needs"
	decoding  = "the Go type can't hold the value"
	omitempty = "Go writes the zero value of a field without omitempty"
)

// differences are what is known of each project whose kinds are held to their definitions.
var differences = map[string]map[string][]string{
	"kuberay": {
		explicit: {
			`*: only the type refuses *[]`, // a key that is missing beside an empty one
			`*: stored *.numOfHosts is 1 by the type and 0 by the definition`,
			`*: stored *.template.spec.* by the type and "" by the definition`,
			`rayjobs: only the type refuses spec.deletionStrategy`,
			`rayjobs: stored spec.submissionMode is "K8sJobMode" by the type and "" by the definition`,
		},
		beside: {`rayjobs: only the type refuses spec.deletionStrategy.deletionRules[].condition.jobStatus`},
		inside: {`rayjobs: only the type stores spec`, `rayjobs: only the type stores status`},
		tags: {
			`*: only the type refuses *.evictionResponders[].name`,
			`rayservices: only the type refuses <nil>`, // for it, which says that rules were not checked
		},
	},
	"velero": {
		explicit:  {`backupstoragelocations: only the definition refuses spec.objectStorage.caCert`},
		status:    {`*: only the definition stores status`, `*: only the definition refuses status.*`},
		decoding:  {`*: only the type refuses what it can't decode`},
		omitempty: {`*: only the type stores spec.uploaderType`, `*: only the type stores spec.repositoryType`},
	},
	"external-secrets": {
		explicit: {
			`*: only the definition refuses *.conversionStrategy`,
			`acraccesstokens: only the definition refuses spec.environmentType`,
			`clusterpushsecrets: only the definition refuses spec.pushSecretSpec.deletionPolicy`,
			`*pushsecrets: only the definition refuses *.secretStoreRefs[].kind`,
			`vaultdynamicsecrets: only the definition refuses spec.resultType`,
			`*: only the definition refuses *.caBundle`, // an empty text is no base64
			`*: stored * by the type and "" by the definition`,
			`passwords: stored spec.length is 24 by the type and 0 by the definition`,
			`*: stored *.expandSecretReferences is true by the type and false by the definition`,
			`externalsecrets: only the type refuses spec.data[].sourceRef`,
		},
		inside: {
			`*: only the definition refuses spec.*SecretSpec`,
			`externalsecrets: only the definition refuses spec.data[].remoteRef`,
			`externalsecrets: only the type stores spec`,
			`passwords: only the type stores spec`,
		},
		beside:   {`*: only the type refuses *.serviceAccountRef.name`},
		decoding: {`*: only the type refuses what it can't decode`},
		status: {
			`generatorstates: only the definition stores status`,
			`generatorstates: only the definition refuses status.*`,
		},
		omitempty: {
			`secretstores: only the type stores *.conjur.auth.jwt.hostId`,
			`secretstores: only the type stores *.kubernetes.server`,
		},
	},
}
