// Package rbac compares decisions of runtime/auth/rbac with those of Kubernetes' own authorizer, and its bootstrap
// roles with those of kube-apiserver. It is a module of its own, because it needs k8s.io/kubernetes.
package rbac
