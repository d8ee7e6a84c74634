// Package definitions runs the integration suites of k8s.io/apiextensions-apiserver against a server made by apigen,
// and measures what the definitions of real projects cost it, beside kube-apiserver.
package definitions
