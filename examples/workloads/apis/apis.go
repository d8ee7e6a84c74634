// Package apis collects the API groups of this project. Groups() in it is generated: it lists the wiring of every group
// below this directory, for cmd/workloads to serve. The types are those of k8s.io/api, which stays as it is.
//
// +apigen:groups
package apis

//go:generate go tool apigen build ./...
