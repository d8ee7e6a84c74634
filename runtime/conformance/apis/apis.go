// Package apis serves a copy of k8s.io/sample-apiserver's types with what apigen generates for them.
//
// +apigen:groups
package apis
