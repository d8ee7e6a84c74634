// Package builtin serves kinds for the recorded tables about kube-apiserver's built-in kinds: some of k8s.io/api as
// they are, and kinds of our own with the rules for names that the built-in kinds have.
//
// +apigen:groups
package builtin
