// Package builtin serves kinds for the tables of what kube-apiserver says of its built-in kinds: three of k8s.io/api, as
// they are, and kinds of our own with the rules for names that the built-in kinds have.
//
// +apigen:groups
package builtin
