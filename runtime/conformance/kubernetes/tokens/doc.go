// Package tokens proves tokens and their configuration against programs that others wrote: kube-apiserver's own signer,
// verifier and validation, and a real OpenID Connect provider.
package tokens
