// Package apis collects the API groups of this project, for cmd/library to serve. Groups() is generated, and so are the
// clients in ../client.
//
// +apigen:groups
// +apigen:clients
// +apigen:reference=../docs
// +apigen:crds=../config/crd
package apis

//go:generate go tool apigen build ./...
