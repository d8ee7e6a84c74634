// Package access holds how a server leaves access to others against the originals: delegated mode behind a real
// kube-apiserver, and configurations and reviews against the types and the checks of k8s.io/apiserver. A chain of two
// servers of apigen with a definition of custom resources is one API for kubectl, client-go and controller-runtime.
//
// Tests that need a kube-apiserver run where the environment variable KUBE_APISERVER names one; `make delegated` builds
// one and runs them.
package access
