// Package builtin serves the built-in kinds of kube-apiserver that have a status, with the types of k8s.io/api. Markers
// say what writes of their subresources change, as the table in docs/reference/subresources.md has it.
//
// +apigen:groups
package builtin
