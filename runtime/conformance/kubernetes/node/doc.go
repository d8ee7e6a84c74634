// Package node compares decisions of runtime/auth/node with those of Kubernetes' own authorizer of nodes.
package node
