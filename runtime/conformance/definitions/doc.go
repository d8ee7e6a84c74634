// Package definitions runs the integration suites of k8s.io/apiextensions-apiserver against a server made by apigen,
// and measures what the definitions of real projects cost it, beside kube-apiserver. It is a module of its own because
// of what the suites need.
package definitions
