// Package apis collects the API groups of this project. apigen generates its function Groups, which returns the wiring
// of every group below this directory, and cmd/shop serves them. Clients of the types import the packages of the
// versions, and not this one.
//
// +apigen:groups
package apis

//go:generate go tool apigen build ./...
