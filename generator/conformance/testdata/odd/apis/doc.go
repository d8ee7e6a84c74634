// Package apis collects.
//
// +apigen:clients=generated
package apis
