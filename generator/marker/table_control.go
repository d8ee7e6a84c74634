package marker

import "apigen.dev/generator/model"

// controlMarkers ask for code: they are those of Kubernetes' generators.
var controlMarkers = []Definition{
	{Name: "groupName", Places: Package | Type, Kind: OptionalText, Agree: Agree{Once: true},
		Set: Set{Package: setGroup}, Read: Read{Apart: true},
		Doc: "The API group of the package: +groupName=shop.example.com. Empty is the core group."},
	{Name: "groupGoName", Places: Package, Kind: Text, Agree: Agree{Once: true}, Set: Set{Package: setGroupGoName},
		Doc: "The Go identifier of the group; without it, the group's first label in camel case."},
	{Name: "versionName", Places: Package, Kind: Text, Set: Set{Package: setVersion}, Read: Read{Apart: true},
		Doc: "The version of the package, where its name doesn't tell: +versionName=v1."},
	{Name: "resourceName", Places: Type, Kind: Text, Agree: Agree{Once: true}, Foreign: true,
		Set: Set{Kind: setPlural},
		Doc: "The plural by which the kind is served, where the English rule doesn't give it."},
	{Name: "k8s:deepcopy-gen", Places: Package | Type, Kind: Word, Words: []string{"package", "register", "true",
		"false"},
		Set: Set{Package: setPackageCopies, Type: setCopies},
		Doc: "On the package, =package writes DeepCopyInto and DeepCopy for all of its types; on a type, true or " +
			"false writes or withholds them."},
	{Name: "k8s:deepcopy-gen:interfaces", Places: Type, Kind: Text, Many: true, Set: Set{Type: addInterfaces},
		Read: Read{Packages: packagesOfTypes},
		Doc: "Writes DeepCopy<Interface> for each interface, comma separated, with its package's path: " +
			"k8s.io/apimachinery/pkg/runtime.Object for kinds."},
	{Name: "k8s:deepcopy-gen:nonpointer-interfaces", Places: Type, Kind: Bool,
		Set: Set{Type: flag(func(t *model.Type) *bool { return &t.NonPointerInterfaces })},
		Doc: "The methods of :interfaces have a value receiver."},
	{Name: "k8s:conversion-gen", Places: Package | Type | Field, Kind: Text, Many: true,
		Set: Set{
			Package: setConversion,
			Type:    off(func(t *model.Type) *bool { return &t.ConversionOff }),
			Field:   setFieldConversion,
		},
		Read: Read{Packages: ownValue, Named: true, DocOnly: true},
		Doc: "On the package, the import path of the package that it converts to and from, the hub; several are " +
			"tried in turn, as conversion-gen tries what --extra-peer-dirs names; =false on a package, type or " +
			"field leaves it out."},
	{Name: "k8s:conversion-gen:explicit-from", Places: Type, Kind: Text, Many: true,
		Set: Set{Type: addConversionFrom}, Read: Read{Packages: packagesOfTypes},
		Doc: "Also writes a conversion from that type, which is net/url.Values for options of queries."},
	{Name: "k8s:conversion-gen-external-types", Places: Package, Kind: Text,
		Set: Set{
			Package: request(func(p *model.Package) **model.PackageRequest { return &p.Requests.ExternalTypes }),
		},
		Read: Read{Packages: ownValue, Named: true},
		Doc:  "The versioned types are those of that package; conversions are written here."},
	{Name: "k8s:conversion-fn", Places: Func, Kind: Word, Words: []string{"copy-only", "drop"},
		Set: Set{Func: text(func(f *model.Func) *string { return &f.ConversionFn })},
		Doc: "On a hand-written conversion: copy-only says that it does what a plain copy would do, drop that " +
			"nothing is to be converted."},
	{Name: "k8s:defaulter-gen", Places: Package | Type | Func, Kind: Text,
		Set: Set{
			Package: setDefaulter,
			Type:    text(func(t *model.Type) *string { return &t.Defaulter }),
			Func:    setCovers,
		},
		Doc: "On the package, the name of a field (TypeMeta): all types that have it get defaulting functions; " +
			"on a type, true or false; on a hand-written SetDefaults function, covers says that it takes care of " +
			"all that is inside the type."},
	{Name: "k8s:defaulter-gen-input", Places: Package, Kind: Text,
		Set: Set{
			Package: request(func(p *model.Package) **model.PackageRequest { return &p.Requests.DefaulterInput }),
		},
		Read: Read{Packages: ownValue, Named: true},
		Doc:  "The types to default are those of that package; functions are written here."},
	{Name: "k8s:openapi-gen", Places: Package | Type | Field, Kind: OptionalText,
		Ignored: "schemas are written for every kind that is served",
		Doc:     "Asks openapi-gen for definitions."},
	{Name: "k8s:openapi-model-package", Places: Package | Type, Kind: Text,
		Set: Set{Package: text(func(p *model.Package) *string { return &p.ModelPackage })},
		Doc: "The prefix of the names of the package's schemas: io.k8s.api.core.v1."},
	{Name: "k8s:register-gen", Places: Package | Type, Kind: OptionalText, Ignored: "registration is written for " +
		"every package with kinds",
		Doc: "Asks register-gen for a type's registration."},
	{Name: "k8s:protobuf-gen", Places: Package | Type, Kind: OptionalText, Ignored: protobufs,
		Doc: "Asks for a protobuf message."},
	{Name: "k8s:protobuf-deprecated", Places: values, Kind: OptionalText, Ignored: protobufs,
		Doc: "The protobuf of a removed field."},
	{Name: "k8s:prerelease-lifecycle-gen", Places: Package | Type, Kind: OptionalText, Ignored: lifecycle,
		Doc: "Asks for the kind's lifecycle methods."},
	{Name: "k8s:prerelease-lifecycle-gen:introduced", Places: Type, Kind: Text, Ignored: lifecycle,
		Doc: "The release that introduced the kind."},
	{Name: "k8s:prerelease-lifecycle-gen:deprecated", Places: Type, Kind: Text, Ignored: lifecycle,
		Doc: "The release that deprecates the kind."},
	{Name: "k8s:prerelease-lifecycle-gen:removed", Places: Type, Kind: Text, Ignored: lifecycle,
		Doc: "The release that stops serving the kind."},
	{Name: "k8s:prerelease-lifecycle-gen:replacement", Places: Type, Kind: Text, Ignored: lifecycle,
		Doc: "The group, version and kind to use instead."},
	{Name: "k8s:validation-gen", Places: Package | Type, Kind: OptionalText,
		Set: Set{Package: flag(func(p *model.Package) *bool { return &p.Validation })},
		Doc: "On a version's package: writes validation functions for its types, which a module that requires " +
			"apigen.dev gets anyway."},
	{Name: "k8s:validation-gen-input", Places: Package, Kind: Text, Ignored: validated,
		Doc: "The package that has the types to validate."},
	{Name: "k8s:validation-gen-nolint", Places: anywhere, Kind: OptionalText, Ignored: validated,
		Doc: "Silences the linter of validation tags."},
	{Name: "k8s:validation-gen-scheme-registry", Places: Package, Kind: Text, Ignored: validated,
		Doc: "The scheme type that validation functions register with."},
	{Name: "k8s:validation-gen-test-fixture", Places: Package, Kind: OptionalText, Ignored: validated,
		Doc: "Asks for test fixtures of validation."},
	{Name: "k8s:verify-mutation:reason", Places: anywhere, Kind: OptionalText, Ignored: "it is for a linter of " +
		"Kubernetes itself",
		Doc: "Why an object may be mutated here."},
}

// clientMarkers say what clients are generated.
var clientMarkers = []Definition{
	{Name: "genclient", Places: Type, Kind: OptionalText, Set: Set{Kind: setClient},
		Doc: "The type is a kind that clients and servers know. Where +apigen:clients asks for clients, it gets " +
			"one."},
	{Name: "genclient:nonNamespaced", Places: Type, Kind: OptionalText, Foreign: true,
		Set: Set{Kind: setNonNamespaced}, Doc: "The kind is cluster scoped."},
	{Name: "genclient:noStatus", Places: Type, Kind: OptionalText, Foreign: true, Set: Set{Kind: setNoStatus},
		Doc: "The kind's Status field is no subresource."},
	{Name: "genclient:method", Places: Type, Kind: Text, Many: true, Set: Set{Kind: addClientMethod},
		Read: Read{Packages: methodPackages, OfClients: true},
		Doc: "An extra method of the client: " +
			"+genclient:method=UpdateScale,verb=update,subresource=scale," +
			"input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale. " +
			"Verbs are create, update, get, list, patch and apply."},
	{Name: "genclient:onlyVerbs", Places: Type, Kind: Text, Many: true, Set: Set{Kind: addOnlyVerbs},
		Doc: "The client has only these verbs, separated by commas: create, update, updateStatus, delete, " +
			"deleteCollection, get, list, watch, patch, apply, applyStatus. A kind without storage " +
			"(+apigen:storage=none) is served with them."},
	{Name: "genclient:skipVerbs", Places: Type, Kind: Text, Many: true, Set: Set{Kind: addSkippedVerbs},
		Doc: "The client doesn't have these verbs."},
	{Name: "genclient:noVerbs", Places: Type, Kind: OptionalText,
		Set: Set{Kind: set(func(k *model.Kind) *bool { return &k.Client.NoVerbs })},
		Doc: "The client has no methods."},
	{Name: "genclient:readonly", Places: Type, Kind: OptionalText, Set: Set{Kind: setReadonly},
		Doc: "The client has get, list and watch."},
	{Name: "k8s:informers:internal", Places: Package, Kind: OptionalText, Ignored: "informers are written for " +
		"versions; informer-gen reads it",
		Doc: "Informers of internal types."},
	{Name: "k8s:supportsSubresource", Places: Type, Kind: Text, Ignored: "rules hold for every write of the kind, " +
		"subresources included",
		Doc: "The kind has this subresource: /status, /scale."},
	{Name: "k8s:isSubresource", Places: Type, Kind: Text, Ignored: "rules hold for every write of the kind, " +
		"subresources included",
		Doc: "The kind is the body of this subresource."},
	{Name: "k8s:deprecated", Places: Type | Field | Const, Kind: OptionalText, Ignored: document,
		Doc: "The field is deprecated."},
}
