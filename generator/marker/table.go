package marker

import "slices"

// table is every marker that apigen knows, in the order of the reference. A new marker is a row in one of the parts.
var table = slices.Concat(
	ownMarkers, controlMarkers, clientMarkers, schemaMarkers, validationMarkers,
	kubebuilderMarkers, valueMarkers, elementMarkers, foreignMarkers,
)

var byName = func() map[string]*Definition {
	m := make(map[string]*Definition, len(table))
	for i := range table {
		m[table[i].Name] = &table[i]
	}
	return m
}()

// Lookup returns the definition of that name, plus sign excluded.
func Lookup(name string) (*Definition, bool) {
	d, ok := byName[name]
	return d, ok
}

// Definitions returns the whole table, in the order of the reference. The result is the caller's.
func Definitions() []Definition { return slices.Clone(table) }

// Reasons why a known marker has no effect.
const (
	applied   = "apply configurations are written for all kinds with clients"
	protobufs = "protobuf messages are go-to-protobuf's work"
	lifecycle = "apigen serves what the package declares; prerelease-lifecycle-gen reads it"
	manifests = "it is for manifests that controller-gen writes"
	document  = "it documents the field, nothing is generated from it"
	validated = "validation functions are written for every package of a version with kinds"
	gated     = "it asks for a feature gate of kube-apiserver: put what always holds on the field itself"
	copied    = "the struct tag of the same name counts, this is its copy in the comment"
)

// values are the places of markers that say something of values.
const values = Type | Field

// foreignMarkers are those of tools that are no more, and misspellings that are known.
var foreignMarkers = []Definition{
	{Name: "deepequal-gen", Places: anywhere, Kind: OptionalText, Ignored: "it is for a tool of its own",
		Doc: "Asks for DeepEqual."},
	{Name: "resource:path", Places: Type, Kind: Text, Ignored: "it was apiserver-builder's: use " +
		"+kubebuilder:resource:path=",
		Doc: "The plural of the kind."},
	{Name: "subresource:request", Places: Type, Kind: OptionalText, Ignored: "it was apiserver-builder's",
		Doc: "A subresource of the kind."},
	{Name: "listKey", Places: anywhere, Kind: OptionalText, Ignored: "no tool knows it: write +listMapKey",
		Doc: "A misspelling of +listMapKey."},
	{Name: "domain", Places: Package, Kind: Text, Ignored: "it was apiserver-builder's: use +groupName=",
		Doc: "The suffix of groups."},
}
