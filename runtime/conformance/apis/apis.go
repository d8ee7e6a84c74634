// Package apis serves k8s.io/sample-apiserver's types, copied unchanged but for import paths, with what apigen
// generates for them. The module's TestWardle keeps both as they should be.
//
// +apigen:groups
// +apigen:clients
package apis
