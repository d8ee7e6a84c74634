package marker

import "slices"

// table is every marker that apigen knows, in the order of the reference. A new marker is a row in one of the parts.
var table = slices.Concat(ownMarkers, controlMarkers, clientMarkers, schemaMarkers, validationMarkers, kubebuilderMarkers, foreignMarkers)

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

var ownMarkers = []Definition{
	{Name: "apigen:groups", Places: Package, Kind: Flag,
		Doc: "The package gets a function Groups() that returns the wiring of every API group below this package's folder or beside it, for main to hand to the server."},
	{Name: "apigen:clients", Places: Package, Kind: OptionalText,
		Doc: "The kinds marked +genclient in every API group below this package's folder get a clientset, listers, informers and apply configurations, in the folder that the value names, relative to this package's: +apigen:clients=../client, which is also where they go without a value. The module must require k8s.io/client-go."},
	{Name: "apigen:clients:external", Places: Package, Kind: Text,
		Doc: "Beside +apigen:clients: types of a package have apply configurations already, in another: +apigen:clients:external=k8s.io/api/core/v1:k8s.io/client-go/applyconfigurations/core/v1. Apply configurations of this module refer to them; without it, to the types themselves."},
	{Name: "apigen:serve", Places: Package, Kind: Text,
		Doc: "The import path of a version's package in another module, which stays as it is: +apigen:serve=k8s.io/api/apps/v1. Its kinds are served, and what is generated for them is written into this package and the wiring beside it."},
	{Name: "apigen:serve:kinds", Places: Package, Kind: List,
		Doc: "The kinds that +apigen:serve is about: Deployment;ReplicaSet. Without it, all that clients are generated for (+genclient) and that have verbs of storage."},
	{Name: "apigen:kind", Places: Package, Kind: Tag,
		Doc: "Puts the marker behind the equals sign on a kind of +apigen:serve, whose source can't be edited: +apigen:kind(Deployment)=+kubebuilder:resource:shortName=deploy."},
	{Name: "apigen:reference", Places: Package, Kind: Text,
		Doc: "A reference of the API groups below this package's folder is written into that folder, in Markdown and HTML, a page for each version: +apigen:reference=../docs."},
	{Name: "apigen:crds", Places: Package, Kind: Text,
		Doc: "CustomResourceDefinitions of the kinds below this package's folder are written into that folder, a file for each: +apigen:crds=../config/crd."},
	{Name: "apigen:crds:embeddedMetadata", Places: Package, Kind: Flag,
		Doc: "The documents of +apigen:crds say what the metadata of objects inside of objects is: name, namespace, labels, annotations and finalizers. Without it a cluster prunes them to nothing, as with controller-gen's crd:generateEmbeddedObjectMeta=false."},
	{Name: "apigen:conversion:drop", Places: Field, Kind: Flag,
		Doc: "Conversions lose this field on purpose: without it, a field that has no counterpart is an error."},
	{Name: "apigen:conversion:preserve", Places: Field, Kind: Flag,
		Doc: "On a field of the hub: versions that have no such field carry it in the annotation apigen.dev/preserved, and it is there again when the object comes back. On a field of a version alone: the hub carries it in apigen.dev/preserved-<version>."},
	{Name: "apigen:conversion:name", Places: Field, Kind: Text,
		Doc: "On a field of a version: the Go name of the field of the hub that it is: +apigen:conversion:name=PageCount."},
	{Name: "apigen:roundtrip", Places: Package | Type, Kind: Bool,
		Doc: "+apigen:roundtrip=false on a version's package, or on a kind, leaves out the fuzz tests of its conversions, codecs, defaults and copies, which are otherwise generated beside the wiring."},
	{Name: "apigen:printcolumn", Places: Type, Kind: Arguments,
		Keys: []string{"name", "type", "format", "description", "priority", "method"},
		Doc:  "A column of kubectl get whose cell is what a method of the kind returns: +apigen:printcolumn:name=Age,type=string,method=AgeColumn."},
	{Name: "apigen:createOnUpdate", Places: Type, Kind: Flag,
		Doc: "An update of an object that doesn't exist creates it, as kube-apiserver does for some kinds."},
	{Name: "apigen:generation", Places: Type, Kind: Bool,
		Doc: "Whether metadata.generation is 1 for what is created and grows with each change of what the object is to be (of anything but its metadata and status). Without the marker that is so for kinds with a field spec, and for no others, whose generation stays what clients say: +apigen:generation=true."},
	{Name: "apigen:subresource", Places: Type, Kind: Arguments, Keys: []string{"name", "methods", "subpath", "contentType"},
		Doc: "A subresource of the kind: a field of that name, which is then written through it alone, or a method of the kind's hub with the name in camel case, whose signature says what it is: (ctx, *Body) error or (*Answer, error) takes a POST, (ctx, *Body) (*metav1.DeleteOptions, error) one that deletes the object, (ctx, *Options) (*Answer, error) answers a GET, Options being no kind, (ctx, *Options) (io.ReadCloser, error) sends output (of contentType, text/plain if unsaid), (ctx, *Options) (http.Handler, error) serves connections (of the HTTP methods named, GET;POST if unsaid, with subpath=true those below it, too): +apigen:subresource:name=log. For a kind of another module the method is a function of the package that serves it, named after both, with the object behind the context: Log_Pod(ctx, *Pod, *Options)."},
	{Name: "apigen:storage", Places: Type, Kind: Word, Words: []string{"none"},
		Doc: "=none: nothing is stored of the kind; what a Provider answers that main hands to Group is served, by the verbs get, list, watch and create, or those of +genclient:onlyVerbs, which may also be update, patch, delete and deleteCollection."},
	{Name: "apigen:storagePrefix", Places: Type, Kind: Text,
		Doc: "Where the keys of the kind's objects are, below --etcd-prefix, in place of <group>/<plural>: +apigen:storagePrefix=deployments is where kube-apiserver has deployments. Objects that are stored elsewhere are not found."},
	{Name: "apigen:requireResourceVersion", Places: Type, Kind: Flag,
		Doc: "An update must say which resourceVersion it was made from; without one it is refused."},
	{Name: "apigen:returnDeletedObject", Places: Type, Kind: Flag,
		Doc: "A deletion answers with the object that it deleted, as kube-apiserver does for some kinds, and not with a Status."},
}

var controlMarkers = []Definition{
	{Name: "groupName", Places: Package | Type, Kind: OptionalText,
		Doc: "The API group of the package: +groupName=shop.example.com. Empty is the core group."},
	{Name: "groupGoName", Places: Package, Kind: Text,
		Doc: "The Go identifier of the group; without it, the group's first label in camel case."},
	{Name: "versionName", Places: Package, Kind: Text,
		Doc: "The version of the package, where its name doesn't tell: +versionName=v1."},
	{Name: "resourceName", Places: Type, Kind: Text,
		Doc: "The plural by which the kind is served, where the English rule doesn't give it."},
	{Name: "k8s:deepcopy-gen", Places: Package | Type, Kind: Word, Words: []string{"package", "register", "true", "false"},
		Doc: "On the package, =package writes DeepCopyInto and DeepCopy for all of its types; on a type, true or false writes or withholds them."},
	{Name: "k8s:deepcopy-gen:interfaces", Places: Type, Kind: Text,
		Doc: "Writes DeepCopy<Interface> for each interface, comma separated, with its package's path: k8s.io/apimachinery/pkg/runtime.Object for kinds."},
	{Name: "k8s:deepcopy-gen:nonpointer-interfaces", Places: Type, Kind: Bool,
		Doc: "The methods of :interfaces have a value receiver."},
	{Name: "k8s:conversion-gen", Places: Package | Type | Field, Kind: Text,
		Doc: "On the package, the import path of the package that it converts to and from, the hub; several are tried in turn, as conversion-gen tries what --extra-peer-dirs names; =false on a package, type or field leaves it out."},
	{Name: "k8s:conversion-gen:explicit-from", Places: Type, Kind: Text,
		Doc: "Also writes a conversion from that type, which is net/url.Values for options of queries."},
	{Name: "k8s:conversion-gen-external-types", Places: Package, Kind: Text,
		Doc: "The versioned types are those of that package; conversions are written here."},
	{Name: "k8s:conversion-fn", Places: Func, Kind: Word, Words: []string{"copy-only", "drop"},
		Doc: "On a hand-written conversion: copy-only says that it does what a plain copy would do, drop that nothing is to be converted."},
	{Name: "k8s:defaulter-gen", Places: Package | Type | Func, Kind: Text,
		Doc: "On the package, the name of a field (TypeMeta): all types that have it get defaulting functions; on a type, true or false; on a hand-written SetDefaults function, covers says that it takes care of all that is inside the type."},
	{Name: "k8s:defaulter-gen-input", Places: Package, Kind: Text,
		Doc: "The types to default are those of that package; functions are written here."},
	{Name: "k8s:openapi-gen", Places: Package | Type | Field, Kind: OptionalText, Ignored: "schemas are written for every kind that is served",
		Doc: "Asks openapi-gen for definitions."},
	{Name: "k8s:openapi-model-package", Places: Package | Type, Kind: Text,
		Doc: "The prefix of the names of the package's schemas: io.k8s.api.core.v1."},
	{Name: "k8s:register-gen", Places: Package | Type, Kind: OptionalText, Ignored: "registration is written for every package with kinds",
		Doc: "Asks register-gen for a type's registration."},
	{Name: "k8s:protobuf-gen", Places: Package | Type, Kind: OptionalText, Ignored: protobufs, Doc: "Asks for a protobuf message."},
	{Name: "k8s:protobuf-deprecated", Places: Type | Field, Kind: OptionalText, Ignored: protobufs, Doc: "The protobuf of a removed field."},
	{Name: "k8s:prerelease-lifecycle-gen", Places: Package | Type, Kind: OptionalText, Ignored: lifecycle, Doc: "Asks for the kind's lifecycle methods."},
	{Name: "k8s:prerelease-lifecycle-gen:introduced", Places: Type, Kind: Text, Ignored: lifecycle, Doc: "The release that introduced the kind."},
	{Name: "k8s:prerelease-lifecycle-gen:deprecated", Places: Type, Kind: Text, Ignored: lifecycle, Doc: "The release that deprecates the kind."},
	{Name: "k8s:prerelease-lifecycle-gen:removed", Places: Type, Kind: Text, Ignored: lifecycle, Doc: "The release that stops serving the kind."},
	{Name: "k8s:prerelease-lifecycle-gen:replacement", Places: Type, Kind: Text, Ignored: lifecycle, Doc: "The group, version and kind to use instead."},
	{Name: "k8s:validation-gen", Places: Package | Type, Kind: OptionalText, Doc: "On a version's package: writes validation functions for its types, which a module that requires apigen.dev gets anyway."},
	{Name: "k8s:validation-gen-input", Places: Package, Kind: Text, Ignored: validated, Doc: "The package that has the types to validate."},
	{Name: "k8s:validation-gen-nolint", Places: anywhere, Kind: OptionalText, Ignored: validated, Doc: "Silences the linter of validation tags."},
	{Name: "k8s:validation-gen-scheme-registry", Places: Package, Kind: Text, Ignored: validated, Doc: "The scheme type that validation functions register with."},
	{Name: "k8s:validation-gen-test-fixture", Places: Package, Kind: OptionalText, Ignored: validated, Doc: "Asks for test fixtures of validation."},
	{Name: "k8s:verify-mutation:reason", Places: anywhere, Kind: OptionalText, Ignored: "it is for a linter of Kubernetes itself", Doc: "Why an object may be mutated here."},
}

var clientMarkers = []Definition{
	{Name: "genclient", Places: Type, Kind: OptionalText, Doc: "The type is a kind that clients and servers know. Where +apigen:clients asks for clients, it gets one."},
	{Name: "genclient:nonNamespaced", Places: Type, Kind: OptionalText, Doc: "The kind is cluster scoped."},
	{Name: "genclient:noStatus", Places: Type, Kind: OptionalText, Doc: "The kind's Status field is no subresource."},
	{Name: "genclient:method", Places: Type, Kind: Text, Doc: "An extra method of the client: +genclient:method=UpdateScale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale. Verbs are create, update, get, list, patch and apply."},
	{Name: "genclient:onlyVerbs", Places: Type, Kind: Text, Doc: "The client has only these verbs, separated by commas: create, update, updateStatus, delete, deleteCollection, get, list, watch, patch, apply, applyStatus. A kind without storage (+apigen:storage=none) is served with them."},
	{Name: "genclient:skipVerbs", Places: Type, Kind: Text, Doc: "The client doesn't have these verbs."},
	{Name: "genclient:noVerbs", Places: Type, Kind: OptionalText, Doc: "The client has no methods."},
	{Name: "genclient:readonly", Places: Type, Kind: OptionalText, Doc: "The client has get, list and watch."},
	{Name: "k8s:informers:internal", Places: Package, Kind: OptionalText, Ignored: "informers are written for versions; informer-gen reads it", Doc: "Informers of internal types."},
	{Name: "k8s:supportsSubresource", Places: Type, Kind: Text, Ignored: "rules hold for every write of the kind, subresources included", Doc: "The kind has this subresource: /status, /scale."},
	{Name: "k8s:isSubresource", Places: Type, Kind: Text, Ignored: "rules hold for every write of the kind, subresources included", Doc: "The kind is the body of this subresource."},
	{Name: "k8s:deprecated", Places: Type | Field | Const, Kind: OptionalText, Ignored: document, Doc: "The field is deprecated."},
}

var schemaMarkers = []Definition{
	{Name: "optional", Places: Type | Field, Kind: OptionalText, Doc: "The field may be absent."},
	{Name: "required", Places: Type | Field, Kind: OptionalText, Doc: "The field must be there."},
	{Name: "nullable", Places: Type | Field, Kind: OptionalText, Doc: "null is a value of the field."},
	{Name: "default", Places: Type | Field, Kind: JSON,
		Doc: "The value that the field gets when it is absent: a JSON literal (+default=\"TCP\", +default={}) or ref(Constant), a constant of this package or, with its path, of another."},
	{Name: "enum", Places: Type, Kind: OptionalText, Doc: "The constants of the type are its legal values, in the schema alone, as for kube-apiserver's kinds: the server checks +k8s:enum."},
	{Name: "listType", Places: Type | Field, Kind: Word, Words: []string{"atomic", "set", "map"},
		Doc: "How server-side apply merges the list: atomic as a whole, set by value, map by its listMapKey. That values of a set and keys of a map are unique is checked."},
	{Name: "listMapKey", Places: Type | Field, Kind: Text, Doc: "A field by which the elements of a list of listType map are told apart; repeat it for several."},
	{Name: "mapType", Places: Type | Field, Kind: Word, Words: []string{"atomic", "granular"}, Doc: "How server-side apply merges the map."},
	{Name: "structType", Places: Type | Field, Kind: Word, Words: []string{"atomic", "granular"}, Doc: "How server-side apply merges the struct."},
	{Name: "patchStrategy", Places: Field, Kind: Text, Ignored: copied, Doc: "The strategy of a strategic merge patch."},
	{Name: "patchMergeKey", Places: Field, Kind: Text, Ignored: copied, Doc: "The merge key of a strategic merge patch."},
	{Name: "union", Places: Type | Field, Kind: OptionalText, Ignored: document, Doc: "The type is a union."},
	{Name: "unionDiscriminator", Places: Field, Kind: OptionalText, Ignored: document, Doc: "The field tells which member of the union is set."},
	{Name: "unionMember", Places: Field, Kind: OptionalText, Ignored: document, Doc: "The field is a member of the union."},
	{Name: "oneOf", Places: Type | Field, Kind: OptionalText, Ignored: document, Doc: "The field is one of a set of which one is set."},
	{Name: "zeroOrOneOf", Places: Type | Field, Kind: OptionalText, Ignored: document, Doc: "The field is one of a set of which at most one is set."},
	{Name: "featureGate", Places: anywhere, Kind: OptionalText, Ignored: document, Doc: "The field counts only with that feature gate."},
	{Name: "protobuf", Places: Type | Field, Kind: OptionalText, Ignored: protobufs, Doc: "Options of the protobuf message."},
	{Name: "protobuf.nullable", Places: Type | Field, Kind: OptionalText, Ignored: protobufs, Doc: "The message is like a pointer."},
	{Name: "protobuf.options", Places: Package | Type | Field, Kind: Arguments, Ignored: protobufs, Doc: "Options of the protobuf message."},
	{Name: "protobuf.options.marshal", Places: Type | Field, Kind: OptionalText, Ignored: protobufs, Doc: "The marshaller is hand-written."},
	{Name: "protobuf.as", Places: Type | Field, Kind: OptionalText, Ignored: protobufs, Doc: "The message to use instead."},
	{Name: "protobuf.embed", Places: Type | Field, Kind: OptionalText, Ignored: protobufs, Doc: "The message to embed."},
}

var validationMarkers = []Definition{
	{Name: "k8s:alpha", Places: Type | Field | Const, Kind: Tag, Ignored: "kube-apiserver only counts its violations", Doc: "Wraps another marker that is not enforced yet: +k8s:alpha(since: \"1.36\")=+k8s:required."},
	{Name: "k8s:beta", Places: Type | Field | Const, Kind: Tag, Doc: "Wraps another marker, which is enforced as if it stood alone: +k8s:beta(since: \"1.37\")=+k8s:required. What it wraps may wrap another: +k8s:beta(since: \"1.37\")=+k8s:eachVal=+k8s:maxLength=63."},
	{Name: "k8s:eachVal", Places: Type | Field, Kind: Tag, Doc: "Wraps a marker that holds for every element of a list, or every value of a map: +k8s:eachVal=+k8s:maxLength=63. For lists of lists, once more: +k8s:eachVal=+k8s:eachVal=+k8s:maxLength=63."},
	{Name: "k8s:eachKey", Places: Type | Field, Kind: Tag, Doc: "Wraps a marker that holds for every key of a map: +k8s:eachKey=+k8s:format=k8s-short-name."},
	{Name: "k8s:ifEnabled", Places: Type | Field | Const, Kind: Tag, Ignored: gated, Doc: "Wraps a marker that holds when the option is on: +k8s:ifEnabled(\"Feature\")=+k8s:required."},
	{Name: "k8s:ifDisabled", Places: Type | Field | Const, Kind: Tag, Ignored: gated, Doc: "Wraps a marker that holds when the option is off: +k8s:ifDisabled(\"Feature\")=+k8s:forbidden."},
	{Name: "k8s:ifMode", Places: Type | Field, Kind: Tag, Doc: "Wraps a marker that holds while the field beside it that is marked +k8s:modeDiscriminator has that value: +k8s:ifMode(\"Manual\")=+k8s:required."},
	{Name: "k8s:subfield", Places: Type | Field, Kind: Tag, Doc: "Wraps a marker that holds for a field of the struct, which may be of another package, by its name in JSON: +k8s:subfield(name)=+k8s:required."},
	{Name: "k8s:item", Places: Type | Field, Kind: Tag, Doc: "Wraps a marker that holds for the item of a list of type map that has those keys: +k8s:item(type: \"Ready\")=+k8s:immutable."},
	{Name: "k8s:optional", Places: Type | Field, Kind: Flag, Doc: "The field may be absent."},
	{Name: "k8s:required", Places: Type | Field, Kind: Flag, Doc: "The field must be there."},
	{Name: "k8s:forbidden", Places: Type | Field, Kind: Flag, Doc: "The field must not be there."},
	{Name: "k8s:format", Places: Type | Field, Kind: Text, Doc: "The format of a string: k8s-short-name, k8s-uuid and others."},
	{Name: "k8s:minimum", Places: Type | Field, Kind: Number, Doc: "The least value."},
	{Name: "k8s:maximum", Places: Type | Field, Kind: Number, Doc: "The greatest value."},
	{Name: "k8s:minItems", Places: Type | Field, Kind: Int, Doc: "The least number of elements."},
	{Name: "k8s:maxItems", Places: Type | Field, Kind: Int, Doc: "The greatest number of elements."},
	{Name: "k8s:minLength", Places: Type | Field, Kind: Int, Doc: "The least number of characters."},
	{Name: "k8s:maxLength", Places: Type | Field, Kind: Int, Doc: "The greatest number of characters."},
	{Name: "k8s:maxBytes", Places: Type | Field, Kind: Int, Doc: "The greatest number of bytes."},
	{Name: "k8s:minProperties", Places: Type | Field, Kind: Int, Doc: "The least number of entries of a map."},
	{Name: "k8s:maxProperties", Places: Type | Field, Kind: Int, Doc: "The greatest number of entries of a map."},
	{Name: "k8s:immutable", Places: Type | Field, Kind: Flag, Doc: "The value can't change once the object is created."},
	{Name: "k8s:listType", Places: Type | Field, Kind: Word, Words: []string{"atomic", "set", "map"}, Doc: "As +listType."},
	{Name: "k8s:listMapKey", Places: Type | Field, Kind: Text, Doc: "As +listMapKey."},
	{Name: "k8s:unique", Places: Type | Field, Kind: Text, Doc: "The elements of an atomic list are unique: as a set (=set), or by their +k8s:listMapKey (=map)."},
	{Name: "k8s:customUnique", Places: Type | Field, Kind: Flag, Doc: "That the elements of a set or map are unique is left to a method Validate."},
	{Name: "k8s:enum", Places: Type, Kind: Flag, Doc: "The constants of the type are its legal values."},
	{Name: "k8s:enumExclude", Places: Const, Kind: Flag, Doc: "The constant is no value of the enum."},
	{Name: "k8s:neq", Places: Type | Field, Kind: Text, Doc: "A value that is not legal."},
	{Name: "k8s:update", Places: Type | Field, Kind: Text, Doc: "What an update may not do: NoSet, NoUnset, NoModify, NoAddItem, NoRemoveItem."},
	{Name: "k8s:monotonic", Places: Type | Field, Kind: OptionalText, Doc: "An update may not make the value less."},
	{Name: "k8s:opaqueType", Places: Type | Field, Kind: Flag, Doc: "The markers of the field's type don't count here."},
	{Name: "k8s:unionMember", Places: Type | Field, Kind: OptionalText, Keys: []string{"union", "memberName"}, Doc: "The field is a member of a union: exactly one of them is set."},
	{Name: "k8s:unionDiscriminator", Places: Type | Field, Kind: OptionalText, Keys: []string{"union"}, Doc: "The field tells which member of the union is set."},
	{Name: "k8s:validation", Places: Type | Field, Kind: Family, Ignored: "openapi-gen reads it; write the kubebuilder marker of the same meaning", Doc: "A constraint: +k8s:validation:maxLength=64, +k8s:validation:items:pattern=..., +k8s:validation:cel[0]:rule=...."},
	{Name: "k8s:zeroOrOneOfMember", Places: Type | Field, Kind: OptionalText, Doc: "The field is one of those of which at most one is set."},
	{Name: "k8s:modeDiscriminator", Places: Type | Field, Kind: OptionalText, Doc: "The field by whose value +k8s:ifMode asks, on fields beside it."},
	{Name: "k8s:dependentRequired", Places: Type | Field, Kind: OptionalText, Doc: "Where the field is set, the one beside it that is named must be set, too: +k8s:dependentRequired(\"seal\")."},
	{Name: "k8s:dependentForbidden", Places: Type | Field, Kind: OptionalText, Doc: "Where the field is set, the one beside it that is named must not be: +k8s:dependentForbidden(\"seal\")."},
	{Name: "k8s:customValidation", Places: Type | Field, Kind: OptionalText, Ignored: "write a method Validate of the kind: the server calls it", Doc: "A hand-written function validates the value."},
	{Name: "k8s:validateTrue", Places: Type | Field | Const, Kind: OptionalText, Ignored: "it is for the tests of validation-gen", Doc: "Always valid: for tests."},
	{Name: "k8s:validateFalse", Places: Type | Field | Const, Kind: OptionalText, Ignored: "it is for the tests of validation-gen", Doc: "Never valid: for tests."},
	{Name: "k8s:validateError", Places: Type | Field | Const, Kind: OptionalText, Ignored: "it is for the tests of validation-gen", Doc: "Fails the generation: for tests."},
}
