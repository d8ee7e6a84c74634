// Package apis collects the API groups of this project. apigen generates its function Groups, which cmd/workloads
// serves. The types are those of k8s.io/api.
//
// +apigen:groups
package apis

//go:generate go tool apigen build ./...
