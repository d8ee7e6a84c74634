// Package v1 serves CustomResourceDefinitions with the types of k8s.io/apiextensions-apiserver, as kube-apiserver
// does: defaults, preparation, validation and columns. It may know packages cel, jsonpath and structural, and the
// package of webhooks for the rules of their addresses.
//
// There is no fuzz test of the round trip, because the deep copy of upstream's types shares values in JSON, which
// nobody changes.
//
// +apigen:kind(CustomResourceDefinition)=+apigen:roundtrip=false
// +apigen:serve=k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1
// +apigen:kind(CustomResourceDefinition)=+apigen:requireResourceVersion
// +apigen:kind(CustomResourceDefinition)=+kubebuilder:resource:shortName=crd;crds,categories=api-extensions
// +apigen:kind(CustomResourceDefinition)=+apigen:printcolumn:name="Created At",type=string,method=CreatedAtColumn
package v1
