// Package apis collects the API groups of this project. Groups() in it is generated: it lists the wiring of every group
// below this directory, for cmd/shop to serve. Clients of the types import the version packages alone.
//
// +apigen:groups
package apis

//go:generate go tool apigen build ./...
