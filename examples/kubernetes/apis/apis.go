// Package apis collects the API groups of Kubernetes that the ready-made groups of apigen don't have. apigen generates
// its function Groups, which cmd/kubernetes serves. The types are those of k8s.io/api.
//
// +apigen:groups
package apis

//go:generate go tool apigen build ./...
