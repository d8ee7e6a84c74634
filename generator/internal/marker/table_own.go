package marker

import "apigen.dev/generator/internal/model"

var ownMarkers = []Definition{
	{Name: "apigen:groups", Places: Package, Kind: Flag,
		Set: Set{Package: flag(func(p *model.Package) *bool { return &p.CollectGroups })}, Read: Read{Collects: true},
		Doc: "Adds a function Groups() to the package. It returns the wiring of every API group in a folder below " +
			"this package's or beside it, and main passes the result to the server."},
	{Name: "apigen:clients", Places: Package, Kind: OptionalText, Set: Set{Package: setClients},
		Read: Read{Collects: true, Needs: NeedsClients},
		Doc: "Writes a clientset, listers, informers and apply configurations for the kinds marked +genclient in " +
			"every API group below this package's folder. The value names the folder for them, relative to this " +
			"package's: +apigen:clients=../client, which is also the default. The module must require " +
			"k8s.io/client-go."},
	{Name: "apigen:clients:external", Places: Package, Kind: Text, Many: true, Set: Set{Package: setExternalClients},
		Read: Read{Collects: true, Packages: externalPackages, OfClients: true},
		Doc: "Beside +apigen:clients, says that the types of a package have apply configurations in another package: " +
			"+apigen:clients:external=k8s.io/api/core/v1:k8s.io/client-go/applyconfigurations/core/v1. Apply " +
			"configurations of this module refer to those, and without the marker to the types themselves."},
	{Name: "apigen:serve", Places: Package, Kind: Text, Many: true, Asks: Serve,
		Read: Read{Packages: ownValue, Named: true},
		Doc: "Serves the kinds of a version's package in another module, given by its import path: " +
			"+apigen:serve=k8s.io/api/apps/v1. apigen leaves that package as it is, and writes what it generates for " +
			"the kinds into this package and the wiring beside it."},
	{Name: "apigen:serve:kinds", Places: Package, Kind: List, Many: true, Asks: ServeKinds,
		Doc: "Names the kinds that +apigen:serve serves: Deployment;ReplicaSet. Without it, apigen serves all kinds " +
			"that are marked +genclient and whose clients have verbs of storage."},
	{Name: "apigen:kind", Places: Package, Kind: Tag, Wraps: ForeignKind,
		Doc: "Puts the marker behind the equals sign on a kind of +apigen:serve, whose source the user can't edit: " +
			"+apigen:kind(Deployment)=+kubebuilder:resource:shortName=deploy. It takes several kinds, " +
			"+apigen:kind(\"Role;RoleBinding\")=+apigen:verbs=get;list, or \"*\" for all that are served; a " +
			"marker that names a kind counts more than one for all."},
	{Name: "apigen:preferred", Places: Package, Kind: Flag, Set: Set{Package: setPreferred},
		Doc: "Makes a version the preferred one of its group: discovery names it first, and kubectl uses it where " +
			"the user names no version. Without the marker, the version that objects are stored in is preferred."},
	{Name: "apigen:reference", Places: Package, Kind: Text,
		Set:  Set{Package: folder(func(p *model.Package) **model.Folder { return &p.Reference })},
		Read: Read{Collects: true},
		Doc: "Writes a reference of the API groups below this package's folder into the folder that the value names, " +
			"in Markdown and HTML, one page for each version: +apigen:reference=../docs."},
	{Name: "apigen:crds", Places: Package, Kind: Text,
		Set:  Set{Package: folder(func(p *model.Package) **model.Folder { return &p.CRDs })},
		Read: Read{Collects: true},
		Doc: "Writes the CustomResourceDefinitions of the kinds below this package's folder into the folder that the " +
			"value names, one file for each: +apigen:crds=../config/crd."},
	{Name: "apigen:crds:embeddedMetadata", Places: Package, Kind: Flag,
		Set:  Set{Package: flag(func(p *model.Package) *bool { return &p.EmbeddedMetadata })},
		Read: Read{Collects: true},
		Doc: "Describes the metadata of embedded objects in the documents of +apigen:crds: name, namespace, labels, " +
			"annotations and finalizers. Without it, a cluster prunes that metadata, as with controller-gen's " +
			"crd:generateEmbeddedObjectMeta=false."},
	{Name: "apigen:conversion:drop", Places: Field, Kind: Flag,
		Set: Set{Field: flag(func(f *model.Field) *bool { return &f.ConversionOff })},
		Doc: "Lets conversions lose this field. Without it, a field that has no counterpart is an error."},
	{Name: "apigen:conversion:prune", Places: Package, Kind: Flag,
		Set: Set{Package: setPrune},
		Doc: "Above the package clause of a version, lets conversions between it and the hub lose the fields that " +
			"only one of the two has, as a CustomResourceDefinition with the conversion strategy None does. The " +
			"build lists these fields. Fields marked +apigen:conversion:preserve are kept, and structs whose " +
			"conversions are written by hand are left to those."},
	{Name: "apigen:conversion:preserve", Places: Field, Kind: Flag,
		Set: Set{Field: flag(func(f *model.Field) *bool { return &f.Preserve })},
		Doc: "On a field of the hub: versions without the field carry its value in the annotation " +
			"apigen.dev/preserved, and conversions to the hub restore it. On a field that only a version has: the " +
			"hub carries its value in apigen.dev/preserved-<version>."},
	{Name: "apigen:conversion:name", Places: Field, Kind: Text,
		Set: Set{Field: text(func(f *model.Field) *string { return &f.ConversionName })},
		Doc: "On a field of a version, gives the Go name of its counterpart in the hub: " +
			"+apigen:conversion:name=PageCount."},
	{Name: "apigen:conversion:names", Places: Type, Kind: List, Many: true, Subject: Kinds, Foreign: true,
		Set: Set{Kind: setConversionNames},
		Doc: "On a kind, gives the Go names of counterparts in the hub for several of its fields, as " +
			"+apigen:conversion:name does for one: +apigen:conversion:names=Note:Message;Regarding:InvolvedObject. " +
			"It is for kinds of another module, whose fields the user can't edit."},
	{Name: "apigen:roundtrip", Places: Package | Type, Kind: Bool, Foreign: true,
		Set: Set{
			Package: off(func(p *model.Package) *bool { return &p.RoundTripOff }),
			Kind:    off(func(k *model.Kind) *bool { return &k.RoundTripOff }),
		},
		Doc: "+apigen:roundtrip=false on a version's package, or on a kind, leaves out the fuzz tests of its " +
			"conversions, codecs, defaults and copies. apigen writes them beside the wiring otherwise. The test that " +
			"sends requests to a server leaves out a kind all of whose versions are marked so."},
	{Name: "apigen:printcolumn", Places: Type, Kind: Arguments,
		Keys: []string{"name", "type", "format", "description", "priority", "method"}, Many: true, Subject: Kinds,
		Foreign: true, Set: Set{Kind: addMethodColumn},
		Doc: "Adds a column to kubectl get. A method of the kind returns its cells: " +
			"+apigen:printcolumn:name=Age,type=string,method=AgeColumn. A version without such a method shows what " +
			"the hub's method returns. A method that returns (before string, since *metav1.Time, after string) shows " +
			"text with the age of a time in it, such as 3 (5m ago). A column with format=name and no method shows " +
			"the name, which otherwise stands before all other columns."},
	{Name: "apigen:selectablefield", Places: Type, Kind: Arguments, Keys: []string{"name", "JSONPath", "method"},
		Many: true, Subject: Kinds, Foreign: true, Set: Set{Kind: addNamedSelectable},
		Doc: "Lets field selectors select by a field under another name than its path, as by the status.successful " +
			"of a Job: +apigen:selectablefield:name=status.successful,JSONPath=.status.succeeded. With method=, a " +
			"method of the hub returns the value: +apigen:selectablefield:name=source,method=SourceField. For a kind " +
			"of another module, write a function in the package that serves it: SourceField_Event(*Event)."},
	{Name: "apigen:createOnUpdate", Places: Type, Kind: Flag, Subject: Kinds, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.CreateOnUpdate })},
		Doc: "Makes an update of an object that doesn't exist create it, as kube-apiserver does for some kinds."},
	{Name: "apigen:served", Places: Type, Kind: Bool,
		Set: Set{Kind: boolean(func(k *model.Kind) **bool { return &k.Asked })},
		Doc: "Says whether the server serves the kind in this version: +apigen:served=true, or =false. Without the " +
			"marker, the server leaves out kinds that +kubebuilder:skip or +kubebuilder:skipversion keeps from " +
			"having a CustomResourceDefinition, and kinds without +genclient and +kubebuilder:resource that the " +
			"package's own code doesn't add to its scheme although it adds others."},
	{Name: "apigen:generation", Places: Type, Kind: Bool, Foreign: true,
		Set: Set{Kind: boolean(func(k *model.Kind) **bool { return &k.Generation })},
		Doc: "Says whether the server counts changes in metadata.generation: 1 for a new object, and one more with " +
			"each change of anything but metadata and status. Without the marker, the server counts for kinds with a " +
			"field spec, and keeps what clients send for others: +apigen:generation=true."},
	{Name: "apigen:subresource", Places: Type, Kind: Arguments,
		Keys: []string{"name", "methods", "subpath", "address", "contentType", "parts", "metadata"}, Many: true,
		Foreign: true,
		Bare:    "subpath",
		Set:     Set{Kind: addSubresource},
		Doc: "Adds a subresource to the kind: +apigen:subresource:name=log. It is a field of that name, which " +
			"clients then write through the subresource alone, or a method of the kind's hub with the name in camel " +
			"case. The signature of the method decides what the subresource does: (ctx, *Body) error and (ctx, " +
			"*Body) (*Answer, error) take a POST; (ctx, *Body) (*metav1.DeleteOptions, error) takes a POST that " +
			"deletes the object; (ctx, *Options) (*Answer, error), where Options is no kind, answers a GET; (ctx, " +
			"*Options) (io.ReadCloser, error) sends output of the content type contentType, by default text/plain; " +
			"(ctx, *Options) (http.Handler, error) serves connections of the HTTP methods in methods, by default " +
			"GET;POST, and with subpath=true also on paths below; with address=true requests may name the object " +
			"with a scheme and a port, https:name:port, which the handler finds in the URL of its request. With " +
			"parts=.spec.ephemeralContainers, the subresource is the whole object, of which a write changes " +
			"these fields; .spec.containers[*].resources is a field of the items of a list. It then has the " +
			"methods GET;PATCH;PUT, or those of methods. metadata=annotations;labels says which members of " +
			"metadata a write of a field or of parts changes, of annotations, finalizers, labels and " +
			"ownerReferences, or * for all; without it, none. The same is said of a Status field by " +
			"+apigen:subresource:name=status,metadata=annotations. For a kind of another module, write a " +
			"function in the package that serves it, named after both, which takes the object behind the " +
			"context: Log_Pod(ctx, *Pod, *Options)."},
	{Name: "apigen:storage", Places: Type, Kind: Word, Words: []string{"none"}, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.WithoutStorage })},
		Doc: "=none stores no objects of the kind. Main passes a Provider to Group, and the server answers requests " +
			"with what the Provider returns. The verbs are get, list, watch and create, or those of " +
			"+apigen:verbs or +genclient:onlyVerbs, which may also name update, patch, delete and deleteCollection."},
	{Name: "apigen:sameAs", Places: Type, Kind: Text, Subject: Kinds, Foreign: true, Set: Set{Kind: setSameAs},
		Read: Read{Packages: packagesOfTypes, Named: true},
		Doc: "Serves the objects of another group's kind in this group, too: " +
			"+apigen:sameAs=example.com/workloads/apis/core/v1.Event. The value is the import path of a package of " +
			"that group, and the kind. Both kinds have one store, one key for each object and one watch cache; each " +
			"has its own names, schema, columns and selectable fields, and its versions are converted to the hub of " +
			"the other kind."},
	{Name: "apigen:storagePrefix", Places: Type, Kind: Text, Foreign: true, Set: Set{Kind: setStoragePrefix},
		Doc: "Stores the kind's objects under these keys below --etcd-prefix, in place of <group>/<plural>: " +
			"+apigen:storagePrefix=deployments is where kube-apiserver stores deployments. * stands for the plural. " +
			"The server doesn't find objects that are stored elsewhere."},
	{Name: "apigen:name", Places: Type, Kind: Word, Words: model.NameRuleWords(), Subject: Kinds, Foreign: true,
		Set: Set{Kind: setNameRule},
		Doc: "Names the rule for metadata.name and metadata.generateName of new objects: k8s-long-name is a DNS " +
			"subdomain, and the rule without the marker; k8s-short-name is a DNS label; k8s-path-segment-name is " +
			"anything that can stand between two slashes of a URL, such as system:foo; any is the same, and also " +
			"takes the prefixes . and .. of generated names; dns1035-label is a DNS label that begins with a " +
			"letter; ip is an IP address in canonical form. The method ValidateName, or " +
			"for a kind of another module the function ValidateName_X, is any other rule."},
	{Name: "apigen:verbs", Places: Type, Kind: List, Subject: Kinds, Foreign: true, Set: Set{Kind: setVerbs},
		Doc: "Serves the kind with these verbs alone: +apigen:verbs=get;list;watch. Others are create, delete, " +
			"deleteCollection, patch and update. watch and deleteCollection need list. Without the marker, the " +
			"server serves a kind of another module with the verbs of its client (+genclient:onlyVerbs, " +
			":skipVerbs), and other stored kinds with all verbs. The marker takes the other verbs from generated " +
			"clients, too."},
	{Name: "apigen:requireResourceVersion", Places: Type, Kind: Flag, Subject: Kinds, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.RequireResourceVersion })},
		Doc: "Rejects updates that don't say which resourceVersion they were made from."},
	{Name: "apigen:returnDeletedObject", Places: Type, Kind: Flag, Subject: Kinds, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.ReturnDeletedObject })},
		Doc: "Answers a deletion with the deleted object, as kube-apiserver does for some kinds, and not with a " +
			"Status."},
}
