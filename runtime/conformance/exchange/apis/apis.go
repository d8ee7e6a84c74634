// Package apis serves what package exchange compares with kube-apiserver: two of its built-in kinds, with the Go types
// of k8s.io/api and the rules of their strategies, and a kind that kube-apiserver knows as a custom resource.
//
// +apigen:groups
package apis
