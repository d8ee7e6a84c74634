// Package seal holds the encryption of values at rest against k8s.io/apiserver's: the same configuration, the same
// bytes. Its test takes k8s.io/apiserver to compile, so it has the tag peer: make peer.
package seal
