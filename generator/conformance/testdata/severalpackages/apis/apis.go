// Package apis collects the API groups.
//
// +apigen:groups
// +apigen:crds=../config/crd
package apis
