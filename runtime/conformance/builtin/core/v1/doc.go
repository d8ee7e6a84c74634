// Package v1 serves kinds of the core group that kube-apiserver serves with fewer verbs than others.
//
// +apigen:serve=k8s.io/api/core/v1
// +apigen:serve:kinds=Namespace;Binding;ComponentStatus
//
// +apigen:kind(Namespace)=+apigen:name=k8s-short-name
// +apigen:kind(Namespace)=+kubebuilder:resource:shortName=ns
// +apigen:kind(Binding)=+apigen:storage=none
// +apigen:kind(Binding)=+apigen:verbs=create
// +apigen:kind(ComponentStatus)=+apigen:storage=none
// +apigen:kind(ComponentStatus)=+apigen:verbs=get;list
// +apigen:kind(ComponentStatus)=+kubebuilder:resource:shortName=cs
// +apigen:kind(ComponentStatus)=+kubebuilder:deprecatedversion:warning="v1 ComponentStatus is deprecated in v1.19+"
package v1
