package marker

import "apigen.dev/generator/model"

// ownMarkers are the markers of apigen itself.
var ownMarkers = []Definition{
	{Name: "apigen:groups", Places: Package, Kind: Flag,
		Set: Set{Package: flag(func(p *model.Package) *bool { return &p.CollectGroups })}, Read: Read{Gathers: true},
		Doc: "The package gets a function Groups() that returns the wiring of every API group below this " +
			"package's folder or beside it, for main to hand to the server."},
	{Name: "apigen:clients", Places: Package, Kind: OptionalText, Set: Set{Package: setClients},
		Read: Read{Gathers: true, Needs: NeedsClients},
		Doc: "The kinds marked +genclient in every API group below this package's folder get a clientset, " +
			"listers, informers and apply configurations, in the folder that the value names, relative to this " +
			"package's: +apigen:clients=../client, which is also where they go without a value. The module must " +
			"require k8s.io/client-go."},
	{Name: "apigen:clients:external", Places: Package, Kind: Text, Many: true, Set: Set{Package: setExternalClients},
		Read: Read{Gathers: true, Packages: externalPackages, OfClients: true},
		Doc: "Beside +apigen:clients: types of a package have apply configurations already, in another: " +
			"+apigen:clients:external=k8s.io/api/core/v1:k8s.io/client-go/applyconfigurations/core/v1. Apply " +
			"configurations of this module refer to them; without it, to the types themselves."},
	{Name: "apigen:serve", Places: Package, Kind: Text, Many: true, Set: Set{Package: addServe},
		Read: Read{Packages: ownValue, Named: true},
		Doc: "The import path of a version's package in another module, which stays as it is: " +
			"+apigen:serve=k8s.io/api/apps/v1. Its kinds are served, and what is generated for them is written " +
			"into this package and the wiring beside it."},
	{Name: "apigen:serve:kinds", Places: Package, Kind: List, Many: true, Set: Set{Package: addServeKinds},
		Doc: "The kinds that +apigen:serve is about: Deployment;ReplicaSet. Without it, all that clients are " +
			"generated for (+genclient) and that have verbs of storage."},
	{Name: "apigen:kind", Places: Package, Kind: Tag, Wraps: ForeignKind,
		Doc: "Puts the marker behind the equals sign on a kind of +apigen:serve, whose source can't be edited: " +
			"+apigen:kind(Deployment)=+kubebuilder:resource:shortName=deploy."},
	{Name: "apigen:reference", Places: Package, Kind: Text,
		Set:  Set{Package: folder(func(p *model.Package) **model.Folder { return &p.Reference })},
		Read: Read{Gathers: true},
		Doc: "A reference of the API groups below this package's folder is written into that folder, in Markdown " +
			"and HTML, a page for each version: +apigen:reference=../docs."},
	{Name: "apigen:crds", Places: Package, Kind: Text,
		Set:  Set{Package: folder(func(p *model.Package) **model.Folder { return &p.CRDs })},
		Read: Read{Gathers: true},
		Doc: "CustomResourceDefinitions of the kinds below this package's folder are written into that folder, a " +
			"file for each: +apigen:crds=../config/crd."},
	{Name: "apigen:crds:embeddedMetadata", Places: Package, Kind: Flag,
		Set:  Set{Package: flag(func(p *model.Package) *bool { return &p.EmbeddedMetadata })},
		Read: Read{Gathers: true},
		Doc: "The documents of +apigen:crds say what the metadata of objects inside of objects is: name, " +
			"namespace, labels, annotations and finalizers. Without it a cluster prunes them to nothing, as with " +
			"controller-gen's crd:generateEmbeddedObjectMeta=false."},
	{Name: "apigen:conversion:drop", Places: Field, Kind: Flag,
		Set: Set{Field: either(func(f *model.Field) *bool { return &f.ConversionOff })},
		Doc: "Conversions lose this field on purpose: without it, a field that has no counterpart is an error."},
	{Name: "apigen:conversion:preserve", Places: Field, Kind: Flag,
		Set: Set{Field: flag(func(f *model.Field) *bool { return &f.Preserve })},
		Doc: "On a field of the hub: versions that have no such field carry it in the annotation " +
			"apigen.dev/preserved, and it is there again when the object comes back. On a field of a version " +
			"alone: the hub carries it in apigen.dev/preserved-<version>."},
	{Name: "apigen:conversion:name", Places: Field, Kind: Text,
		Set: Set{Field: text(func(f *model.Field) *string { return &f.ConversionName })},
		Doc: "On a field of a version: the Go name of the field of the hub that it is: " +
			"+apigen:conversion:name=PageCount."},
	{Name: "apigen:roundtrip", Places: Package | Type, Kind: Bool, Foreign: true,
		Set: Set{
			Package: off(func(p *model.Package) *bool { return &p.RoundTripOff }),
			Kind:    off(func(k *model.Kind) *bool { return &k.RoundTripOff }),
		},
		Doc: "+apigen:roundtrip=false on a version's package, or on a kind, leaves out the fuzz tests of its " +
			"conversions, codecs, defaults and copies, which are otherwise generated beside the wiring."},
	{Name: "apigen:printcolumn", Places: Type, Kind: Arguments, Keys: []string{"name", "type", "format",
		"description", "priority", "method"},
		Many: true, Subject: Kinds, Foreign: true, Set: Set{Kind: addMethodColumn},
		Doc: "A column of kubectl get whose cell is what a method of the kind returns: " +
			"+apigen:printcolumn:name=Age,type=string,method=AgeColumn."},
	{Name: "apigen:createOnUpdate", Places: Type, Kind: Flag, Subject: Kinds, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.CreateOnUpdate })},
		Doc: "An update of an object that doesn't exist creates it, as kube-apiserver does for some kinds."},
	{Name: "apigen:generation", Places: Type, Kind: Bool, Foreign: true,
		Set: Set{Kind: boolean(func(k *model.Kind) **bool { return &k.Generation })},
		Doc: "Whether metadata.generation is 1 for what is created and grows with each change of what the object " +
			"is to be (of anything but its metadata and status). Without the marker that is so for kinds with a " +
			"field spec, and for no others, whose generation stays what clients say: +apigen:generation=true."},
	{Name: "apigen:subresource", Places: Type, Kind: Arguments, Keys: []string{"name", "methods", "subpath",
		"contentType"},
		Many: true, Foreign: true, Bare: "subpath", Set: Set{Kind: addSubresource},
		Doc: "A subresource of the kind: a field of that name, which is then written through it alone, or a " +
			"method of the kind's hub with the name in camel case, whose signature says what it is: (ctx, *Body) " +
			"error or (*Answer, error) takes a POST, (ctx, *Body) (*metav1.DeleteOptions, error) one that " +
			"deletes the object, (ctx, *Options) (*Answer, error) answers a GET, Options being no kind, (ctx, " +
			"*Options) (io.ReadCloser, error) sends output (of contentType, text/plain if unsaid), (ctx, " +
			"*Options) (http.Handler, error) serves connections (of the HTTP methods named, GET;POST if unsaid, " +
			"with subpath=true those below it, too): +apigen:subresource:name=log. For a kind of another module " +
			"the method is a function of the package that serves it, named after both, with the object behind " +
			"the context: Log_Pod(ctx, *Pod, *Options)."},
	{Name: "apigen:storage", Places: Type, Kind: Word, Words: []string{"none"}, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.Virtual })},
		Doc: "=none: nothing is stored of the kind; what a Provider answers that main hands to Group is served, " +
			"by the verbs get, list, watch and create, or those of +genclient:onlyVerbs, which may also be " +
			"update, patch, delete and deleteCollection."},
	{Name: "apigen:storagePrefix", Places: Type, Kind: Text, Foreign: true, Set: Set{Kind: setStoragePrefix},
		Doc: "Where the keys of the kind's objects are, below --etcd-prefix, in place of <group>/<plural>: " +
			"+apigen:storagePrefix=deployments is where kube-apiserver has deployments. Objects that are stored " +
			"elsewhere are not found."},
	{Name: "apigen:requireResourceVersion", Places: Type, Kind: Flag, Subject: Kinds, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.RequireResourceVersion })},
		Doc: "An update must say which resourceVersion it was made from; without one it is refused."},
	{Name: "apigen:returnDeletedObject", Places: Type, Kind: Flag, Subject: Kinds, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.ReturnDeletedObject })},
		Doc: "A deletion answers with the object that it deleted, as kube-apiserver does for some kinds, and not " +
			"with a Status."},
}
