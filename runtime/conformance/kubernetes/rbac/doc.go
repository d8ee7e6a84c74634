// Package rbac compares decisions of runtime/internal/access/rbac with those of Kubernetes' own authorizer, and its
// bootstrap roles with those of kube-apiserver.
package rbac
