// Package v1 serves the group rbac.authorization.k8s.io.
//
// +apigen:serve=k8s.io/api/rbac/v1
// +apigen:kind("*")=+apigen:storagePrefix=*
// +apigen:kind("*")=+apigen:name=k8s-path-segment-name
//
// +apigen:kind(ClusterRole)=+kubebuilder:printcolumn:name="Created At",type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(ClusterRoleBinding)=+apigen:printcolumn:name=Role,type=string,method=RoleColumn
// +apigen:kind(Role)=+kubebuilder:printcolumn:name="Created At",type=date,JSONPath=.metadata.creationTimestamp
// +apigen:kind(RoleBinding)=+apigen:printcolumn:name=Role,type=string,method=RoleColumn
// +apigen:kind("ClusterRoleBinding;RoleBinding")=+kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp
package v1
