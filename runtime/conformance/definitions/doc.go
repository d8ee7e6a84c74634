// Package definitions runs the integration suites of k8s.io/apiextensions-apiserver against a server made by apigen. It
// is a module of its own because of what the suites need.
package definitions
