// Package apis collects the API groups of this project, for cmd/fleet to serve. Groups() is generated.
//
// +apigen:groups
package apis

//go:generate go tool apigen build ./...
