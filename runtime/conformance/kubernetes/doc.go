// Package kubernetes has no code of its own: the packages below it compare the runtime with code of k8s.io/kubernetes.
// They are a module of their own, because nothing else needs that module and what it requires.
package kubernetes
