// Package celrules compares runtime/cel with k8s.io/apiextensions-apiserver on the CEL rules of real projects: both
// must accept and refuse the same rules, and give the same answers.
package celrules
