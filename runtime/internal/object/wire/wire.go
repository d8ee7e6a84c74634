// Package wire frames the two binary encodings: the heads and strings of CBOR, the fields of protobuf, and the envelope
// that Kubernetes puts around a message. It works on bytes alone, and doesn't know the contents of messages. Every
// package of the runtime may import it, and it imports nothing of ours.
package wire

import "fmt"

// errTruncated is the error for data that ends too early.
func errTruncated(what string) error { return fmt.Errorf("%s ends before its end", what) }
