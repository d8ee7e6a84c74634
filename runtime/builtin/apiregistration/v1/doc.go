// Package v1 is the kind APIService, by which a server learns that another server answers for a version of an API
// group: types, defaults, preparation, validation and columns as kube-apiserver has them, and the order in which a
// server lists groups and versions. The types are declared here because k8s.io/kube-aggregator, which has the original
// ones, requires k8s.io/apiserver. It may know no package of ours.
//
// +groupName=apiregistration.k8s.io
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=io.k8s.kube-aggregator.pkg.apis.apiregistration.v1
package v1
