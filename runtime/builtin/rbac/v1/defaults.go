package v1

import rbacv1 "k8s.io/api/rbac/v1"

// SetDefaults_ClusterRoleBinding sets the API group of the role.
func SetDefaults_ClusterRoleBinding(binding *rbacv1.ClusterRoleBinding) {
	setGroup(&binding.RoleRef.APIGroup)
}

// SetDefaults_RoleBinding sets the API group of the role.
func SetDefaults_RoleBinding(binding *rbacv1.RoleBinding) { setGroup(&binding.RoleRef.APIGroup) }

// SetDefaults_Subject sets the API group of users and groups. Service accounts are of the core group, which is empty.
func SetDefaults_Subject(subject *rbacv1.Subject) {
	if subject.Kind == rbacv1.UserKind || subject.Kind == rbacv1.GroupKind {
		setGroup(&subject.APIGroup)
	}
}

func setGroup(group *string) {
	if *group == "" {
		*group = rbacv1.GroupName
	}
}
