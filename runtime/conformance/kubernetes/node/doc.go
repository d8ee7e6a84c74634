// Package node compares decisions of runtime/builtin/node with those of Kubernetes' own authorizer of nodes.
package node
