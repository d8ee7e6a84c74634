package marker

import "apigen.dev/generator/internal/model"

// kubebuilderMarkers are controller-gen's markers of packages and kinds.
var kubebuilderMarkers = []Definition{
	{Name: "kubebuilder:object:root", Places: Type, Kind: Bool, Subject: KindsAndLists, Foreign: true,
		Set: Set{Type: addObject, Kind: flag(func(k *model.Kind) *bool { return &k.Kubebuilder })},
		Doc: "Makes the type a kind in controller-gen's style, or the list of one. apigen writes DeepCopyObject for " +
			"it."},
	{Name: "kubebuilder:object:generate", Places: Package | Type, Kind: Bool,
		Set: Set{Package: setPackageObjects, Type: setObjects}, Read: Read{Detached: true},
		Doc: "true writes DeepCopyInto and DeepCopy for all types of the package, or for the type; false leaves " +
			"them out. The kinds of a marked package are in controller-gen's style."},
	{Name: "kubebuilder:resource", Places: Type, Kind: Arguments, Keys: []string{"path", "singular", "shortName",
		"categories", "scope"},
		Many: true, Subject: Kinds, Foreign: true, Set: Set{Kind: setResource},
		Doc: "Sets the names and the scope under which the server serves the kind: " +
			"+kubebuilder:resource:path=books,singular=book,shortName={bk},categories={all},scope=Cluster."},
	{Name: "kubebuilder:subresource:status", Places: Type, Kind: Flag, Subject: Kinds, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.Manifest.Status })},
		Doc: "Makes the field Status a subresource, on the server and in the kind's CustomResourceDefinition. The " +
			"server has it for every kind with such a field that isn't in controller-gen's style."},
	{Name: "kubebuilder:subresource:scale", Places: Type, Kind: Arguments, Keys: []string{"specpath", "statuspath",
		"selectorpath"},
		Subject: Kinds, Foreign: true, Set: Set{Kind: setScale},
		Doc: "Adds the subresource scale, of the kind Scale in autoscaling/v1. The paths lead to the fields that " +
			"hold its values: +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas," +
			"selectorpath=.status.selector."},
	{Name: "kubebuilder:printcolumn", Places: Type, Kind: Arguments, Keys: []string{"name", "type", "format",
		"description", "priority", "JSONPath"},
		Many: true, Subject: Kinds, Foreign: true, Set: Set{Kind: addPathColumn},
		Doc: "Adds a column to kubectl get: +kubebuilder:printcolumn:name=Color,type=string,JSONPath=`.spec.color`."},
	{Name: "kubebuilder:selectablefield", Places: Type, Kind: Arguments, Keys: []string{"JSONPath"}, Many: true,
		Subject: Kinds, Foreign: true, Set: Set{Kind: addSelectable},
		Doc: "Lets field selectors select by a field: +kubebuilder:selectablefield:JSONPath=`.spec.color`."},
	{Name: "kubebuilder:storageversion", Places: Type, Kind: Flag, Subject: Kinds, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.StorageVersion })},
		Doc: "Makes this version the storage version of the kind."},
	{Name: "kubebuilder:unservedversion", Places: Type, Kind: Flag, Foreign: true,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.Unserved })},
		Doc: "Keeps the server from serving the version."},
	{Name: "kubebuilder:skipversion", Places: Type, Kind: Flag,
		Set: Set{Kind: flag(func(k *model.Kind) *bool { return &k.Manifest.Skip })},
		Doc: "Leaves the version out of the kind's CustomResourceDefinition. The server serves it only with " +
			"+apigen:served."},
	{Name: "kubebuilder:skip", Places: Package | Type, Kind: OptionalText,
		Set: Set{Package: flag(func(p *model.Package) *bool { return &p.Skip })}, Read: Read{Detached: true},
		Doc: "On a package, leaves its version out of CustomResourceDefinitions. The server serves its kinds only " +
			"with +apigen:served."},
	{Name: "kubebuilder:deprecatedversion", Places: Type, Kind: Arguments, Keys: []string{"warning"}, Foreign: true,
		Set: Set{Kind: setDeprecated},
		Doc: "Marks the version as deprecated. The server sends clients that use it a warning."},
	{Name: "k8s:prerelease-lifecycle-gen:removed", Places: Type, Kind: Text, Conflicts: Conflicts{Single: true},
		Foreign: true,
		Set:     Set{Kind: setRemoved},
		Doc: "Names the release that no longer has the version. Audit and metrics say it of requests in a version " +
			"that is marked as deprecated, too."},
	{Name: "kubebuilder:metadata", Places: Type, Kind: Arguments, Keys: []string{"annotations", "labels"}, Many: true,
		Set: Set{Kind: addMetadata},
		Doc: "Adds labels and annotations to the kind's CustomResourceDefinition: " +
			"+kubebuilder:metadata:labels=\"team=shop\"."},
	{Name: "kubebuilder:rbac", Places: anywhere, Kind: Arguments, Ignored: manifests, Read: Read{AnyPackage: true},
		Doc: "Adds a rule to a role."},
	{Name: "kubebuilder:webhook", Places: anywhere, Kind: Arguments, Ignored: manifests, Read: Read{AnyPackage: true},
		Doc: "Describes a webhook."},
	{Name: "kubebuilder:webhookconfiguration", Places: anywhere, Kind: Arguments, Ignored: manifests,
		Read: Read{AnyPackage: true}, Doc: "Configures webhooks."},
	{Name: "kubebuilder:scaffold", Places: anywhere, Kind: Arguments, Ignored: "kubebuilder inserts code there",
		Read: Read{AnyPackage: true}, Doc: "Marks where kubebuilder inserts code."},
}
