// Package apis serves cert-manager's kinds.
//
// +apigen:groups
package apis
