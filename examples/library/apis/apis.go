// Package apis collects the API groups of this project. apigen generates its function Groups, which cmd/library serves,
// and the clients in ../client.
//
// +apigen:groups
// +apigen:clients
// +apigen:reference=../docs
// +apigen:crds=../config/crd
package apis

//go:generate go tool apigen build ./...
