package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// APIService says which server answers requests for one version of an API group. Its name is the version, a dot and
// the group; that of the core group's v1 is "v1.".
//
// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:resource:scope=Cluster,categories=api-extensions
// +apigen:name=any
// +apigen:generation=false
// +apigen:requireResourceVersion
// +apigen:printcolumn:name=Service,type=string,method=ServiceColumn
// +apigen:printcolumn:name=Available,type=string,method=AvailableColumn
// +apigen:printcolumn:name=Age,type=string,method=AgeColumn
type APIService struct {
	metav1.TypeMeta `json:",inline"`
	// Standard metadata of the object.
	// More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says for which version the server answers, how to reach it, and where the version stands among others.
	// +optional
	Spec APIServiceSpec `json:"spec,omitempty"`
	// status says whether requests can be sent to the server. The server that has the APIService writes it.
	// +optional
	Status APIServiceStatus `json:"status,omitempty"`
}

// APIServiceList is a list of APIServices.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type APIServiceList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard metadata of the list.
	// More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the APIServices.
	Items []APIService `json:"items"`
}

// APIServiceSpec says for which version of which group a server answers, and how to reach it.
type APIServiceSpec struct {
	// service names the Service in front of the server. Without it, this server answers requests for the version
	// itself.
	// +optional
	Service *ServiceReference `json:"service,omitempty"`
	// group is the API group. The core group, whose name is empty, has no version but v1.
	Group string `json:"group,omitempty"`
	// version is a version of the group, such as "v1".
	Version string `json:"version,omitempty"`
	// insecureSkipTLSVerify accepts any certificate of the server. It is meant for tests: caBundle is the safe way. The
	// two exclude one another.
	InsecureSkipTLSVerify bool `json:"insecureSkipTLSVerify,omitempty"`
	// caBundle holds the certificate authorities, in PEM, one of which must have signed the certificate of the server.
	// Without it, the authorities that the operating system trusts count.
	// +listType=atomic
	// +optional
	CABundle []byte `json:"caBundle,omitempty"`
	// groupPriorityMinimum is the least priority of the group, from 1 to 20000. The priority of a group is the greatest
	// groupPriorityMinimum of its versions. Clients prefer a group to those of lower priority; among equals, the
	// APIService whose name comes first in the alphabet goes first. Groups of Kubernetes itself have priorities around
	// 18000, and those of platforms above it around 2000.
	GroupPriorityMinimum int32 `json:"groupPriorityMinimum"`
	// versionPriority is the priority of the version within its group, from 1 to 1000: the greatest goes first.
	// Versions of equal priority are in Kubernetes' order: stable before beta before alpha versions, the greater number
	// first, and at last, in the order of the alphabet, all versions that don't follow this pattern: v10, v2, v1,
	// v2beta1, v3alpha1, bar1, bar2.
	VersionPriority int32 `json:"versionPriority"`
}

// ServiceReference names a Service and one of its ports.
type ServiceReference struct {
	// namespace is the namespace of the Service.
	Namespace string `json:"namespace,omitempty"`
	// name is the name of the Service.
	Name string `json:"name,omitempty"`
	// port is the port of the Service on which the server listens, from 1 to 65535; 443 by default.
	// +optional
	Port *int32 `json:"port,omitempty"`
}

// APIServiceStatus is what the server that has the APIService found out about the other server.
type APIServiceStatus struct {
	// conditions say whether the version can be served.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	// +k8s:customUnique
	Conditions []APIServiceCondition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// APIServiceCondition is one thing that is known about the other server.
type APIServiceCondition struct {
	// type says what the condition is about, such as Available.
	Type APIServiceConditionType `json:"type"`
	// status is True, False or Unknown.
	Status ConditionStatus `json:"status"`
	// lastTransitionTime is when status last changed.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// reason is one word in CamelCase for why status is what it is.
	// +optional
	Reason string `json:"reason,omitempty"`
	// message tells people why status is what it is.
	// +optional
	Message string `json:"message,omitempty"`
}

// APIServiceConditionType is what a condition is about.
type APIServiceConditionType string

// Available is the condition that requests for the version can be answered.
const Available APIServiceConditionType = "Available"

// ConditionStatus says whether a condition holds.
type ConditionStatus string

// The statuses of conditions.
const (
	ConditionTrue    ConditionStatus = "True"
	ConditionFalse   ConditionStatus = "False"
	ConditionUnknown ConditionStatus = "Unknown"
)
