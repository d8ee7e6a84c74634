// Package node compares decisions of runtime/auth/node with those of Kubernetes' own authorizer of nodes. It is a
// module of its own, because it needs k8s.io/kubernetes.
package node
