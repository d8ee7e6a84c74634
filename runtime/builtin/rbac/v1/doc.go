// Package v1 serves roles and their bindings, with the types of k8s.io/api, as kube-apiserver does: defaults,
// validation and columns. It may know the packages auth and access/rbac.
//
// +apigen:serve=k8s.io/api/rbac/v1
// +apigen:kind("*")=+apigen:storagePrefix=*
// +apigen:kind("*")=+apigen:name=k8s-path-segment-name
// +apigen:kind("*")=+apigen:createOnUpdate
// +apigen:kind("*")=+apigen:generation=false
//
// +apigen:kind("ClusterRole;Role")=+apigen:printcolumn:name="Created At",type=string,method=CreatedAtColumn
// +apigen:kind("ClusterRoleBinding;RoleBinding")=+apigen:printcolumn:name=Role,type=string,method=RoleColumn
// +apigen:kind("ClusterRoleBinding;RoleBinding")=+apigen:printcolumn:name=Age,type=string,method=AgeColumn
// +apigen:kind("ClusterRoleBinding;RoleBinding")=+apigen:printcolumn:name=Users,type=string,priority=1,method=UsersColumn
// +apigen:kind("ClusterRoleBinding;RoleBinding")=+apigen:printcolumn:name=Groups,type=string,priority=1,method=GroupsColumn
// +apigen:kind("ClusterRoleBinding;RoleBinding")=+apigen:printcolumn:name=ServiceAccounts,type=string,priority=1,method=ServiceAccountsColumn
package v1
