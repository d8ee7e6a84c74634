// Package apis collects the API groups of Kubernetes.
//
// +apigen:groups
package apis
