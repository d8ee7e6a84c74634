package agreement

import (
	"encoding/json"

	"apigen.dev/runtime/internal/custom/agreement/trial"
)

// The reasons of differences of kinds of Kubernetes, beside those of the other kinds.
const (
	unmarked  = "in the style of Kubernetes a field without +required may be missing, and a list may have duplicates"
	written   = "Go writes a struct, a number and a time whose tag lacks omitempty, although it is zero"
	defaulted = "defaults that code sets; those of code and of markers also take the place of a zero value"
	keyless   = "Go leaves out the empty key of an element of a list, and field ownership needs one"
	precise   = "a MicroTime must have a fraction, which a date-time needn't have"
	emptyList = "protobuf has no empty list: it is null where a tag lacks omitempty"
	emptyText = "the format of bytes refuses an empty text, which Go decodes"
	embedded  = "the metadata of a template has no list types in a definition: its finalizers are no set"
	scale     = "custom resources check the numbers of their scale themselves, and begin its paths with a dot"
	unmanaged = "Go writes an empty spec into an object without fields: no manager sets the spec itself, and an " +
		"object with nothing else has no manager, after which updates aren't tracked"
)

// large are kinds with hundreds of members. Of these, Trial doesn't compare zero values, nor what only the definition
// demands of the members and lists. What is left shows that all else is stored in the same form, that managers have the
// same fields, and that the type refuses nothing that the definition accepts, but for what stands here.
func large(t trial.Trial) trial.Trial {
	t.Thin, t.Native, t.NullIsAbsent, t.Right = true, true, true, 2
	t.Texts = workloadTexts
	return t
}

var workloadTexts = []string{"", "x", "ab", "YWJj"}

const (
	containers = `"containers":[{"name":"web","image":"nginx","ports":[{"containerPort":80}]}]`
	// zeros are members of the spec of a pod in whose place a default is set.
	zeros = `"containers":[{"name":"web","ports":[{"containerPort":80,"protocol":""}]}],"dnsPolicy":"",` +
		`"restartPolicy":"","schedulerName":""`
	deployment = `{"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":` +
		`{"labels":{"app":"web"}},"spec":{` + containers + `}}}}`
	zeroDeployment = `{"spec":{"strategy":{"type":""},"selector":{"matchLabels":{"app":"web"}},"template":` +
		`{"metadata":{"labels":{"app":"web"}},"spec":{` + zeros + `}}}}`
	finalized = `{"spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":` +
		`{"labels":{"app":"web"},"finalizers":["x","x"]},"spec":{` + containers + `}}}}`
)

// workloads are the kinds of examples/workloads, as kinds are those of the other examples.
var workloads = map[string]trial.Trial{
	"Deployment": large(trial.Trial{
		Samples: []json.RawMessage{json.RawMessage(deployment)},
		Chosen:  []string{zeroDeployment, finalized},
		Known: map[string][]string{
			scale: {`only the definition refuses .spec.replicas`, `only the definition refuses .status.replicas`},
			hooks: {
				`only the type refuses spec.replicas`,
				`only the type refuses spec.selector`,
				`only the type refuses spec.template.metadata.labels`,
			},
			tags:     {`only the type refuses spec.template.spec.evictionResponders[].name`},
			embedded: {`only the type refuses what it can't decode`},
			written:  {`only the type stores spec.template.spec`}, // with defaults inside of it
			defaulted: {
				`only the type stores spec.progressDeadlineSeconds`,
				`only the type stores spec.replicas`,
				`only the type stores spec.revisionHistoryLimit`,
				`only the type stores spec.strategy`,
				`only the type stores spec.strategy.rollingUpdate`,
				`only the type stores spec.strategy.rollingUpdate.maxSurge`,
				`only the type stores spec.strategy.rollingUpdate.maxUnavailable`,
				`only the type stores spec.strategy.type`,
				`only the type stores spec.template.spec.dnsPolicy`,
				`only the type stores spec.template.spec.restartPolicy`,
				`only the type stores spec.template.spec.schedulerName`,
				`only the type stores spec.template.spec.terminationGracePeriodSeconds`,
				`stored spec.strategy.type is "RollingUpdate" by the type and "" by the definition`,
				`stored spec.template.spec.* is * by the type and "" by the definition`,
			},
			emptyList: {`stored spec.template.spec.containers is null by the type and [] by the definition`},
		},
	}),
	"ReplicaSet": large(trial.Trial{
		Samples: []json.RawMessage{json.RawMessage(deployment)},
		Chosen:  []string{zeroDeployment, finalized},
		Known: map[string][]string{
			scale:    {`only the definition refuses .spec.replicas`, `only the definition refuses .status.replicas`},
			tags:     {`only the type refuses spec.template.spec.evictionResponders[]*`},
			embedded: {`only the type refuses what it can't decode`},
			written: {
				`only the type refuses spec.selector`, // of an absent spec, which only the definition finds missing
				`only the type stores spec.template`,  // with defaults inside of it
				`only the type stores spec.template.spec`,
			},
			defaulted: {
				`only the type stores spec.replicas`,
				`only the type stores spec.template.spec.dnsPolicy`,
				`only the type stores spec.template.spec.restartPolicy`,
				`only the type stores spec.template.spec.schedulerName`,
				`only the type stores spec.template.spec.terminationGracePeriodSeconds`,
				`stored spec.template.spec.* is * by the type and "" by the definition`,
			},
			emptyList: {`stored spec.template.spec.containers is null by the type and [] by the definition`},
		},
	}),
	"Pod": large(trial.Trial{
		Samples: []json.RawMessage{json.RawMessage(`{"spec":{` + containers + `}}`)},
		Chosen: []string{
			`{"spec":{` + zeros + `}}`,
			`{"spec":{"containers":[{"name":"x"}],"evictionResponders":[{"name":"x","priority":1}]}}`,
		},
		Known: map[string][]string{
			hooks: {
				`only the type refuses spec.containers`,          // of a change of resources
				`only the type refuses spec.ephemeralContainers`, // of a change
				`only the type stores status`,
				`only the type stores status.phase`,
			},
			tags:    {`only the type refuses spec.evictionResponders[].name`},
			written: {`only the type stores spec`}, // with defaults inside of it
			defaulted: {
				`only the type stores spec.dnsPolicy`,
				`only the type stores spec.restartPolicy`,
				`only the type stores spec.schedulerName`,
				`only the type stores spec.terminationGracePeriodSeconds`,
				`stored spec.* is * by the type and "" by the definition`,
			},
			emptyList: {
				`stored spec.containers is null by the type and [] by the definition`,
				`stored *.requestMappings is null by the type and [] by the definition`,
			},
		},
	}),
	"Node": large(trial.Trial{
		Known: map[string][]string{
			tags:      {`only the type refuses spec.podPreemptionPolicy.disableResizePreemption[]`},
			emptyList: {`stored status.images[].names is null by the type and [] by the definition`},
		},
	}),
	"Lease": {
		Texts: workloadTexts, NullIsAbsent: true,
		Known: map[string][]string{
			precise: {`only the type refuses what it can't decode`},
			written: {`only the type stores spec`},
			unmanaged: {`of an equal object, only the definition manages fields`,
				`of an equal object, only the definition manages spec itself`},
		},
	},
	"PodDisruptionBudget": {
		Texts: workloadTexts, NullIsAbsent: true,
		Chosen: []string{
			`{"spec":{"selector":{"matchExpressions":[null],"matchLabels":{}}}}`,
			`{"spec":{"selector":{"matchExpressions":[{"key":"x","operator":"In","values":[null]}]}}}`,
		},
		Known: map[string][]string{
			unmarked: {
				`only the definition refuses spec.selector.matchExpressions[].key`,
				`only the definition refuses spec.selector.matchExpressions[].operator`,
				`only the definition refuses status.conditions[]`, // of one type
			},
			null: {
				`only the definition refuses spec.selector.matchExpressions[]`,
				`only the definition refuses spec.selector.matchExpressions[].values[]`,
			},
			native: {
				`only the definition stores spec.selector.*`,
				`only the definition stores status.conditions`,
				`only the definition stores status.conditions[].observedGeneration`,
				`only the definition stores status.disruptedPods`,
				`only the definition stores status.observedGeneration`,
			},
			written: {
				`only the type stores spec`,
				`only the type stores status`,
				`only the type stores status.currentHealthy`,
				`only the type stores status.desiredHealthy`,
				`only the type stores status.disruptionsAllowed`,
				`only the type stores status.expectedPods`,
			},
			canonical: {time, `stored status.disruptedPods[] is "2026-01-02T03:04:05Z" by the type*`},
		},
	},
	"ConfigMap": {
		Texts: workloadTexts, NullIsAbsent: true,
		Chosen: []string{
			`{"data":{"key-a":null},"binaryData":{}}`, `{"data":{},"binaryData":{"key-b":null}}`,
			`{"data":{"/":"x"}}`, `{"data":{"key-a":"x"},"binaryData":{"key-b":"YWJj"},"immutable":true}`,
		},
		Known: map[string][]string{
			emptyText: {`only the definition refuses binaryData[]`},
			native:    {`only the definition stores binaryData`, `only the definition stores data`},
			null:      {`only the type stores binaryData[]`, `only the type stores data[]`},
			hooks: { // of a change of an immutable one, and of keys
				`only the type refuses binaryData`,
				`only the type refuses data`,
				`only the type refuses data[]`,
				`only the type refuses immutable`,
			},
		},
	},
	"Secret": {
		Texts: workloadTexts, NullIsAbsent: true,
		Chosen: []string{
			`{"data":{"key-a":""}}`, `{"data":{"key-a":"YWJj"},"immutable":true}`,
			`{"data":{},"stringData":{},"type":""}`,
			`{"data":{"key-a":"YWJj"},"stringData":{"key-a":"x","key-b":"x"}}`,
		},
		Known: map[string][]string{
			emptyText: {`only the definition refuses data[]`},
			native:    {`only the definition stores data`, `only the definition stores stringData`},
			hooks: {
				`only the type refuses data`,
				`only the type refuses immutable`,
				`only the type refuses type`,
				`only the type stores data`, // of stringData
				`only the type stores data[]`,
				`stored data[] is * by the type and "YWJj" by the definition`,
			},
			defaulted: {
				`only the type stores type`,
				`stored type is "Opaque" by the type and "" by the definition`,
			},
		},
	},
	"ServiceAccount": {
		Texts: workloadTexts, NullIsAbsent: true,
		Chosen: []string{
			`{"secrets":[{"name":""}]}`, `{"imagePullSecrets":[null],"secrets":[null]}`,
			`{"secrets":[{"name":"x","apiVersion":"","fieldPath":"","kind":"","namespace":"","resourceVersion":"",` +
				`"uid":""}]}`,
		},
		Known: map[string][]string{
			null: {`only the definition refuses imagePullSecrets[]`, `only the definition refuses secrets[]`},
			native: {
				`only the definition stores imagePullSecrets`,
				`only the definition stores imagePullSecrets[].name`,
				`only the definition stores secrets`,
				`only the definition stores secrets[].*`,
			},
			keyless: {
				`only the type refuses what it can't decode`,
				`the type refuses what it has answered: *.secrets: element *: associative list with keys has an ` +
					`element that omits all key fields*`,
			},
		},
	},
	"Event": {
		Texts: workloadTexts, NullIsAbsent: true,
		Chosen: []string{`{"eventTime":"2026-01-02T03:04:05Z","involvedObject":{}}`},
		Known: map[string][]string{
			unmarked: {`only the definition refuses involvedObject`},
			native: {
				`only the definition stores action`,
				`only the definition stores count`,
				`only the definition stores involvedObject.*`,
				`only the definition stores message`,
				`only the definition stores reason`,
				`only the definition stores related.*`,
				`only the definition stores series*`, // also of one that an apply emptied
				`only the definition stores source.*`,
				`only the definition stores type`,
			},
			precise: {`only the type refuses what it can't decode`},
			written: {
				`only the type stores eventTime`,
				`only the type stores firstTimestamp`,
				`only the type stores lastTimestamp`,
				`only the type stores reportingComponent`,
				`only the type stores reportingInstance`,
				`only the type stores series.lastObservedTime`,
				`only the type stores source`,
			},
			canonical: {
				`stored firstTimestamp is "2026-01-02T03:04:05Z" by the type*`,
				`stored lastTimestamp is "2026-01-02T03:04:05Z" by the type*`,
			},
		},
	},
}
