// Package celrules holds the rules in CEL of real projects against Kubernetes' own: what runtime/cel accepts, refuses and
// answers beside what k8s.io/apiextensions-apiserver does.
package celrules
