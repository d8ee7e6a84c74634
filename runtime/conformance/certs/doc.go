// Package certs holds the choice of serving certificates against that of k8s.io/apiserver: on random sets of
// certificates and patterns, both show a client the same one.
package certs
