package v1

import (
	"context"

	"apigen.dev/runtime/internal/access/rbac"
	rbacv1 "k8s.io/api/rbac/v1"
)

// AuthorizeCreate_ClusterRole refuses a role that grants more than its author may do.
func AuthorizeCreate_ClusterRole(ctx context.Context, role *rbacv1.ClusterRole) error {
	return rbac.AuthorizeClusterRole(ctx, role, nil)
}

// AuthorizeUpdate_ClusterRole refuses a role that grants more than its author may do.
func AuthorizeUpdate_ClusterRole(ctx context.Context, role, old *rbacv1.ClusterRole) error {
	return rbac.AuthorizeClusterRole(ctx, role, old)
}

// AuthorizeCreate_Role refuses a role that grants more than its author may do.
func AuthorizeCreate_Role(ctx context.Context, role *rbacv1.Role) error {
	return rbac.AuthorizeRole(ctx, role, nil)
}

// AuthorizeUpdate_Role refuses a role that grants more than its author may do.
func AuthorizeUpdate_Role(ctx context.Context, role, old *rbacv1.Role) error {
	return rbac.AuthorizeRole(ctx, role, old)
}

// AuthorizeCreate_ClusterRoleBinding refuses to bind a role that grants more than the author of the binding may do.
func AuthorizeCreate_ClusterRoleBinding(ctx context.Context, binding *rbacv1.ClusterRoleBinding) error {
	return rbac.AuthorizeClusterRoleBinding(ctx, binding, nil)
}

// AuthorizeUpdate_ClusterRoleBinding refuses to bind a role that grants more than the author of the binding may do.
func AuthorizeUpdate_ClusterRoleBinding(ctx context.Context, binding, old *rbacv1.ClusterRoleBinding) error {
	return rbac.AuthorizeClusterRoleBinding(ctx, binding, old)
}

// AuthorizeCreate_RoleBinding refuses to bind a role that grants more than the author of the binding may do.
func AuthorizeCreate_RoleBinding(ctx context.Context, binding *rbacv1.RoleBinding) error {
	return rbac.AuthorizeRoleBinding(ctx, binding, nil)
}

// AuthorizeUpdate_RoleBinding refuses to bind a role that grants more than the author of the binding may do.
func AuthorizeUpdate_RoleBinding(ctx context.Context, binding, old *rbacv1.RoleBinding) error {
	return rbac.AuthorizeRoleBinding(ctx, binding, old)
}
