// Package encryption compares the encryption of values at rest with k8s.io/apiserver's: the same configuration, the
// same bytes. Its test compiles k8s.io/apiserver, so it has the tag peer: make peer.
package encryption
