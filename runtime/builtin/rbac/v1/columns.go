package v1

import (
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CreatedAtColumn_ClusterRole returns when a role was created: a time, not an age.
func CreatedAtColumn_ClusterRole(role *rbacv1.ClusterRole) string { return at(role.CreationTimestamp) }

// CreatedAtColumn_Role returns when a role was created: a time, not an age.
func CreatedAtColumn_Role(role *rbacv1.Role) string { return at(role.CreationTimestamp) }

func at(t metav1.Time) string { return t.UTC().Format(time.RFC3339) }

// AgeColumn_ClusterRoleBinding returns when a binding was created.
func AgeColumn_ClusterRoleBinding(
	binding *rbacv1.ClusterRoleBinding,
) (before string, since *metav1.Time, after string) {
	return "", &binding.CreationTimestamp, ""
}

// AgeColumn_RoleBinding returns when a binding was created.
func AgeColumn_RoleBinding(binding *rbacv1.RoleBinding) (before string, since *metav1.Time, after string) {
	return "", &binding.CreationTimestamp, ""
}

// RoleColumn_ClusterRoleBinding returns the role of a binding, such as ClusterRole/admin.
func RoleColumn_ClusterRoleBinding(binding *rbacv1.ClusterRoleBinding) string {
	return role(binding.RoleRef)
}

// RoleColumn_RoleBinding returns the role of a binding, such as Role/reader.
func RoleColumn_RoleBinding(binding *rbacv1.RoleBinding) string { return role(binding.RoleRef) }

func role(ref rbacv1.RoleRef) string { return ref.Kind + "/" + ref.Name }

// UsersColumn_ClusterRoleBinding returns the users that a binding names.
func UsersColumn_ClusterRoleBinding(binding *rbacv1.ClusterRoleBinding) string {
	return subjects(rbacv1.UserKind, binding.Subjects)
}

// UsersColumn_RoleBinding returns the users that a binding names.
func UsersColumn_RoleBinding(binding *rbacv1.RoleBinding) string {
	return subjects(rbacv1.UserKind, binding.Subjects)
}

// GroupsColumn_ClusterRoleBinding returns the groups that a binding names.
func GroupsColumn_ClusterRoleBinding(binding *rbacv1.ClusterRoleBinding) string {
	return subjects(rbacv1.GroupKind, binding.Subjects)
}

// GroupsColumn_RoleBinding returns the groups that a binding names.
func GroupsColumn_RoleBinding(binding *rbacv1.RoleBinding) string {
	return subjects(rbacv1.GroupKind, binding.Subjects)
}

// ServiceAccountsColumn_ClusterRoleBinding returns the service accounts that a binding names.
func ServiceAccountsColumn_ClusterRoleBinding(binding *rbacv1.ClusterRoleBinding) string {
	return subjects(rbacv1.ServiceAccountKind, binding.Subjects)
}

// ServiceAccountsColumn_RoleBinding returns the service accounts that a binding names.
func ServiceAccountsColumn_RoleBinding(binding *rbacv1.RoleBinding) string {
	return subjects(rbacv1.ServiceAccountKind, binding.Subjects)
}

// subjects joins the names of the subjects of a kind. Service accounts have their namespace before the name.
func subjects(kind string, all []rbacv1.Subject) string {
	var names []string
	for _, subject := range all {
		switch {
		case subject.Kind != kind:
		case kind == rbacv1.ServiceAccountKind:
			names = append(names, subject.Namespace+"/"+subject.Name)
		default:
			names = append(names, subject.Name)
		}
	}
	return strings.Join(names, ", ")
}
