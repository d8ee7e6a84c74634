// Package policies holds the evaluation of admission policies against kube-apiserver's: expressions of policies that
// other projects wrote, on objects made at random from theirs.
package policies
