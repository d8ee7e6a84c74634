package v1

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"example.com/conformance/apis/internal/defaults"
)

// SetDefaults_ClusterRoleBinding sets the API group of the role.
func SetDefaults_ClusterRoleBinding(in *rbacv1.ClusterRoleBinding) {
	defaults.Value(&in.RoleRef.APIGroup, rbacv1.GroupName)
}

// SetDefaults_RoleBinding sets the API group of the role.
func SetDefaults_RoleBinding(in *rbacv1.RoleBinding) {
	defaults.Value(&in.RoleRef.APIGroup, rbacv1.GroupName)
}

// SetDefaults_Subject sets the API group of users and groups.
func SetDefaults_Subject(in *rbacv1.Subject) {
	if in.Kind != rbacv1.ServiceAccountKind {
		defaults.Value(&in.APIGroup, rbacv1.GroupName)
	}
}

// RoleColumn_ClusterRoleBinding names the role that is bound.
func RoleColumn_ClusterRoleBinding(in *rbacv1.ClusterRoleBinding) string {
	return in.RoleRef.Kind + "/" + in.RoleRef.Name
}

// RoleColumn_RoleBinding names the role that is bound.
func RoleColumn_RoleBinding(in *rbacv1.RoleBinding) string {
	return in.RoleRef.Kind + "/" + in.RoleRef.Name
}
