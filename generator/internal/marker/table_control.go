package marker

import "apigen.dev/generator/internal/model"

// controlMarkers ask for code: they are those of Kubernetes' generators.
var controlMarkers = []Definition{
	{Name: "groupName", Places: Package | Type, Kind: OptionalText, Conflicts: Conflicts{Single: true},
		Set:  Set{Package: setGroup},
		Read: Read{Detached: true},
		Doc:  "Sets the API group of the package: +groupName=shop.example.com. An empty value is the core group."},
	{Name: "groupGoName", Places: Package, Kind: Text, Conflicts: Conflicts{Single: true},
		Set: Set{Package: setGroupGoName},
		Doc: "Sets the Go identifier of the group. Without it, apigen takes the group's first label in camel case."},
	{Name: "versionName", Places: Package, Kind: Text, Set: Set{Package: setVersion}, Read: Read{Detached: true},
		Doc: "Sets the version of the package where the package name is no version: +versionName=v1."},
	{Name: "resourceName", Places: Type, Kind: Text, Conflicts: Conflicts{Single: true}, Foreign: true,
		Set: Set{Kind: setPlural},
		Doc: "Sets the plural under which the server serves the kind, where the English rule gives another."},
	{Name: "k8s:deepcopy-gen", Places: Package | Type, Kind: Word, Words: []string{"package", "register", "true",
		"false"},
		Set: Set{Package: setPackageCopies, Type: setCopies},
		Doc: "On the package, =package writes DeepCopyInto and DeepCopy for all of its types. On a type, true " +
			"writes them and false leaves them out."},
	{Name: "k8s:deepcopy-gen:interfaces", Places: Type, Kind: Text, Many: true, Set: Set{Type: addInterfaces},
		Read: Read{Packages: packagesOfTypes},
		Doc: "Writes DeepCopy<Interface> for each interface of a comma-separated list, each with its package's " +
			"path: k8s.io/apimachinery/pkg/runtime.Object for kinds."},
	{Name: "k8s:deepcopy-gen:nonpointer-interfaces", Places: Type, Kind: Bool,
		Set: Set{Type: flag(func(t *model.Type) *bool { return &t.NonPointerInterfaces })},
		Doc: "Gives the methods of :interfaces a value receiver."},
	{Name: "k8s:conversion-gen", Places: Package | Type | Field, Kind: Text, Many: true, Asks: Peer,
		Set: Set{
			Package: setConversion,
			Type:    off(func(t *model.Type) *bool { return &t.ConversionOff }),
			Field:   off(func(f *model.Field) *bool { return &f.ConversionOff }),
		},
		Read: Read{Packages: ownValue, Named: true, DocOnly: true},
		Doc: "On the package, names the import path of the hub, the package that it converts to and from. Where " +
			"it is repeated, apigen tries the packages in turn, as conversion-gen tries those of " +
			"--extra-peer-dirs. =false leaves a package, type or field out."},
	{Name: "k8s:conversion-gen:explicit-from", Places: Type, Kind: Text, Many: true,
		Set: Set{Type: addConversionFrom}, Read: Read{Packages: packagesOfTypes},
		Doc: "Also writes a conversion from this type: net/url.Values for options that clients send in queries."},
	{Name: "k8s:conversion-gen-external-types", Places: Package, Kind: Text, Asks: ExternalTypes,
		Read: Read{Packages: ownValue, Named: true},
		Doc:  "Names the package that has the versioned types. apigen writes their conversions into this package."},
	{Name: "k8s:conversion-fn", Places: Func, Kind: Word, Words: []string{"copy-only", "drop"},
		Set: Set{Func: text(func(f *model.Func) *string { return &f.ConversionFn })},
		Doc: "On a hand-written conversion, copy-only says that it does what a plain copy would do, and drop that " +
			"generated code should not call it."},
	{Name: "k8s:defaulter-gen", Places: Package | Type | Func, Kind: Text,
		Set: Set{
			Package: setDefaulter,
			Type:    text(func(t *model.Type) *string { return &t.Defaulter }),
			Func:    setCovers,
		},
		Doc: "On the package, names a field (TypeMeta): apigen writes defaulting functions for all types that have " +
			"the field. On a type, it is true or false. On a hand-written SetDefaults function, covers says that " +
			"the function also sets the defaults of all fields inside the type."},
	{Name: "k8s:defaulter-gen-input", Places: Package, Kind: Text, Asks: DefaulterInput,
		Read: Read{Packages: ownValue, Named: true},
		Doc:  "Names the package that has the types to default. apigen writes the functions into this package."},
	{Name: "k8s:openapi-model-package", Places: Package | Type, Kind: Text,
		Set: Set{Package: text(func(p *model.Package) *string { return &p.ModelPackage })},
		Doc: "Sets the prefix of the names of the package's schemas: io.k8s.api.core.v1."},
	{Name: "k8s:validation-gen", Places: Package | Type, Kind: OptionalText,
		Set: Set{Package: flag(func(p *model.Package) *bool { return &p.Validation })},
		Doc: "On a version's package, writes validation functions for its types. In a module that requires " +
			"apigen.dev, apigen writes them without the marker."},
}

var clientMarkers = []Definition{
	{Name: "genclient", Places: Type, Kind: OptionalText, Set: Set{Kind: setClient},
		Doc: "Makes the type a kind that servers serve and clients know. Where +apigen:clients asks for clients, " +
			"apigen writes one for it."},
	{Name: "genclient:nonNamespaced", Places: Type, Kind: OptionalText, Foreign: true,
		Set: Set{Kind: setNonNamespaced}, Doc: "Makes the kind cluster scoped."},
	{Name: "genclient:noStatus", Places: Type, Kind: OptionalText, Foreign: true, Set: Set{Kind: setNoStatus},
		Doc: "Takes the subresource status from a kind that has a Status field and isn't marked " +
			"+kubebuilder:subresource:status."},
	{Name: "genclient:method", Places: Type, Kind: Text, Many: true, Set: Set{Kind: addClientMethod},
		Read: Read{Packages: methodPackages, OfClients: true},
		Doc: "Adds a method to the client: +genclient:method=UpdateScale,verb=update,subresource=scale," +
			"input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale. " +
			"Verbs are create, update, get, list, patch and apply."},
	{Name: "genclient:onlyVerbs", Places: Type, Kind: Text, Many: true, Set: Set{Kind: addOnlyVerbs},
		Doc: "Restricts the client to these verbs, separated by commas: create, update, updateStatus, delete, " +
			"deleteCollection, get, list, watch, patch, apply, applyStatus. The server serves a kind without " +
			"storage (+apigen:storage=none), or of another module, with them. +apigen:verbs overrides that."},
	{Name: "genclient:skipVerbs", Places: Type, Kind: Text, Many: true, Set: Set{Kind: addSkippedVerbs},
		Doc: "Takes these verbs from the client. The server serves a kind of another module without them, too, " +
			"unless +apigen:verbs names them."},
	{Name: "genclient:noVerbs", Places: Type, Kind: OptionalText,
		Set: Set{Kind: set(func(k *model.Kind) *bool { return &k.Client.NoVerbs })},
		Doc: "Takes all methods from the client."},
	{Name: "genclient:readonly", Places: Type, Kind: OptionalText, Set: Set{Kind: setReadonly},
		Doc: "Restricts the client to get, list and watch."},
}
