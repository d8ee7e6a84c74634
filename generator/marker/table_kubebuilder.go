package marker

import "apigen.dev/generator/model"

// kubebuilderMarkers are controller-gen's markers of packages and kinds.
var kubebuilderMarkers = []Definition{
	{Name: "kubebuilder:object:root", Places: Type, Kind: Bool, Subject: KindsAndLists,
		Set: Set{Type: addObject, Kind: flag(func(k *model.Kind) *bool { return &k.Kubebuilder })},
		Doc: "The type is a kind, or the list of one: DeepCopyObject is written for it."},
	{Name: "kubebuilder:object:generate", Places: Package | Type, Kind: Bool,
		Set: Set{Package: setPackageObjects, Type: setObjects}, Read: Read{Apart: true},
		Doc: "Writes or withholds DeepCopyInto and DeepCopy: for all types of the package, or for the type."},
	{Name: "kubebuilder:resource", Places: Type, Kind: Arguments, Keys: []string{"path", "singular", "shortName",
		"categories", "scope"},
		Many: true, Subject: Kinds, Foreign: true, Set: Set{Kind: setResource},
		Doc: "How the kind is served: " +
			"+kubebuilder:resource:path=books,singular=book,shortName={bk},categories={all},scope=Cluster."},
	{Name: "kubebuilder:subresource:status", Places: Type, Kind: Flag, Subject: Kinds, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.Manifest.Status })},
		Doc: "The kind has a status subresource. For a server a Status field says so already; a " +
			"CustomResourceDefinition has it only where this is written."},
	{Name: "kubebuilder:subresource:scale", Places: Type, Kind: Arguments, Keys: []string{"specpath", "statuspath",
		"selectorpath"},
		Subject: Kinds, Foreign: true, Set: Set{Kind: setScale},
		Doc: "The kind has the subresource scale, of the kind Scale in autoscaling/v1; the paths tell where its " +
			"numbers stand: " +
			"+kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas," +
			"selectorpath=.status.selector."},
	{Name: "kubebuilder:printcolumn", Places: Type, Kind: Arguments, Keys: []string{"name", "type", "format",
		"description", "priority", "JSONPath"},
		Many: true, Subject: Kinds, Foreign: true, Set: Set{Kind: addPathColumn},
		Doc: "A column of kubectl get: +kubebuilder:printcolumn:name=Color,type=string,JSONPath=`.spec.color`."},
	{Name: "kubebuilder:selectablefield", Places: Type, Kind: Arguments, Keys: []string{"JSONPath"}, Many: true,
		Subject: Kinds, Foreign: true, Set: Set{Kind: addSelectable},
		Doc: "A field by which field selectors can select: +kubebuilder:selectablefield:JSONPath=`.spec.color`."},
	{Name: "kubebuilder:storageversion", Places: Type, Kind: Flag, Subject: Kinds, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.StorageVersion })},
		Doc: "Objects of the kind are stored in this version."},
	{Name: "kubebuilder:unservedversion", Places: Type, Kind: Flag, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.Unserved })}, Doc: "The version is not served."},
	{Name: "kubebuilder:skipversion", Places: Type, Kind: Flag,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.Manifest.Skip })},
		Doc: "Leaves the version out of the kind's CustomResourceDefinition."},
	{Name: "kubebuilder:skip", Places: Package | Type, Kind: OptionalText,
		Set: Set{Package: flag(func(p *model.Package) *bool { return &p.Skip })}, Read: Read{Apart: true},
		Doc: "On a package: CustomResourceDefinitions leave its version out."},
	{Name: "kubebuilder:deprecatedversion", Places: Type, Kind: Arguments, Keys: []string{"warning"}, Foreign: true,
		Set: Set{Kind: setDeprecated}, Doc: "The version is deprecated; clients get a warning."},
	{Name: "kubebuilder:metadata", Places: Type, Kind: Arguments, Keys: []string{"annotations", "labels"}, Many: true,
		Set: Set{Kind: addMetadata},
		Doc: "Labels and annotations of the kind's CustomResourceDefinition: " +
			"+kubebuilder:metadata:labels=\"team=shop\"."},
	{Name: "kubebuilder:ac:generate", Places: Package | Type, Kind: Bool, Ignored: applied,
		Doc: "Writes apply configurations."},
	{Name: "kubebuilder:ac:output:package", Places: Package, Kind: Text, Ignored: applied,
		Doc: "Where apply configurations are written."},
	{Name: "kubebuilder:rbac", Places: anywhere, Kind: Arguments, Ignored: manifests, Read: Read{Anywhere: true},
		Doc: "A rule of a role."},
	{Name: "kubebuilder:webhook", Places: anywhere, Kind: Arguments, Ignored: manifests, Read: Read{Anywhere: true},
		Doc: "A webhook."},
	{Name: "kubebuilder:webhookconfiguration", Places: anywhere, Kind: Arguments, Ignored: manifests,
		Read: Read{Anywhere: true}, Doc: "The configuration of webhooks."},
	{Name: "kubebuilder:scaffold", Places: anywhere, Kind: Arguments, Ignored: "it is an insertion point of " +
		"kubebuilder",
		Read: Read{Anywhere: true}, Doc: "Where kubebuilder inserts code."},
	{Name: "kubebuilder:docs-gen:collapse", Places: anywhere, Kind: OptionalText, Ignored: "it is for the book of " +
		"kubebuilder, whose examples carry it",
		Doc: "Folds code in a page."},
}
