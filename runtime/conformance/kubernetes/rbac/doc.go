// Package rbac compares decisions of runtime/auth/rbac with those of Kubernetes' own authorizer, and its bootstrap
// roles with those of kube-apiserver.
package rbac
