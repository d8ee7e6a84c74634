package marker

import "slices"

// ignoredMarkers are the markers of other tools, of tools that are no longer maintained, and known misspellings: apigen
// checks how they are written, and says why they have no effect. Their own tools document them.
var ignoredMarkers = slices.Concat(
	ignored("apigen writes schemas for every kind that is served", OptionalText, "k8s:openapi-gen"),
	ignored("apigen writes the registration of every package with kinds", OptionalText, "k8s:register-gen"),
	ignored("go-to-protobuf generates protobuf messages", OptionalText,
		"k8s:protobuf-gen", "k8s:protobuf-deprecated", "protobuf", "protobuf.nullable", "protobuf.options.marshal",
		"protobuf.as", "protobuf.embed"),
	ignored("go-to-protobuf generates protobuf messages", Arguments, "protobuf.options"),
	ignored(lifecycle, OptionalText, "k8s:prerelease-lifecycle-gen"),
	ignored(lifecycle, Text,
		"k8s:prerelease-lifecycle-gen:introduced", "k8s:prerelease-lifecycle-gen:deprecated",
		"k8s:prerelease-lifecycle-gen:replacement"),
	ignored(validated, Text, "k8s:validation-gen-input", "k8s:validation-gen-scheme-registry"),
	ignored(validated, OptionalText, "k8s:validation-gen-nolint", "k8s:validation-gen-test-fixture"),
	ignored("validation-gen uses it in its tests", OptionalText,
		"k8s:validateTrue", "k8s:validateFalse", "k8s:validateError"),
	ignored("a linter of Kubernetes itself reads it", OptionalText, "k8s:verify-mutation:reason"),
	ignored("apigen writes informers for versions; informer-gen reads it", OptionalText, "k8s:informers:internal"),
	ignored("rules hold for every write of the kind, subresources included", Text,
		"k8s:supportsSubresource", "k8s:isSubresource"),
	ignored("it documents the field, and apigen generates nothing from it", OptionalText,
		"k8s:deprecated", "union", "unionDiscriminator", "unionMember", "oneOf", "zeroOrOneOf", "featureGate"),
	ignored("apigen writes apply configurations for all kinds with clients", Bool, "kubebuilder:ac:generate"),
	ignored("apigen writes apply configurations for all kinds with clients", Text, "kubebuilder:ac:output:package"),
	ignored("it folds code in the pages of kubebuilder's book", OptionalText, "kubebuilder:docs-gen:collapse"),
	ignored("kube-apiserver only counts its violations", Tag, "k8s:alpha"),
	ignored("it depends on a feature gate of kube-apiserver: put rules that always hold on the field itself", Tag,
		"k8s:ifEnabled", "k8s:ifDisabled"),
	ignored("openapi-gen reads it; write the kubebuilder marker of the same meaning", Family, "k8s:validation"),
	ignored("write a method Validate of the kind, which the server calls", OptionalText, "k8s:customValidation"),
	ignored(manifests, OptionalText, "kubebuilder:topologyMarker"),
	ignored("deepequal-gen reads it", OptionalText, "deepequal-gen"),
	ignored("it belongs to apiserver-builder: use +kubebuilder:resource:path=", Text, "resource:path"),
	ignored("it belongs to apiserver-builder", OptionalText, "subresource:request"),
	ignored("it belongs to apiserver-builder: use +groupName=", Text, "domain"),
	ignored("no tool knows it: write +listMapKey", OptionalText, "listKey"),
)

// Reasons why several markers have no effect.
const (
	lifecycle = "apigen serves what the package declares; prerelease-lifecycle-gen reads this marker"
	manifests = "controller-gen reads it to write manifests"
	validated = "apigen writes validation functions for every package of a version with kinds"
	copied    = "the struct tag of the same name has the effect, and the marker repeats it"
)

func ignored(reason string, kind Kind, names ...string) []Definition {
	var out []Definition
	for _, name := range names {
		out = append(out, Definition{Name: name, Places: anywhere, Kind: kind, Ignored: reason})
	}
	return out
}
