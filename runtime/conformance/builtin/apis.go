// Package builtin serves kinds for the recorded tables about kube-apiserver's built-in kinds: those of k8s.io/api that
// have a status, some with fewer verbs than others, and kinds of our own with the rules for names that the built-in
// kinds have. Markers say what writes of subresources change, as the table in docs/reference/subresources.md has it.
//
// +apigen:groups
package builtin
