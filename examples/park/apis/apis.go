// Package apis collects the API groups of this project. apigen generates its function Groups; cmd/park serves them.
//
// +apigen:groups
package apis

//go:generate go tool apigen build ./...
