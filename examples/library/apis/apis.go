// Package apis collects the API groups of this project, for cmd/library to serve. Groups() is generated.
//
// +apigen:groups
// +apigen:reference=../docs
package apis

//go:generate go tool apigen build ./...
