// Package wire is how the two binary encodings are framed: the heads and strings of CBOR, the fields of protobuf, and the
// envelope that Kubernetes puts around a message. It works on bytes alone: what is in a message is for those to know who
// made it. Everything in the runtime may import it, and it imports nothing of ours.
package wire

import "fmt"

// errTruncated is what data that ends too early is refused with.
func errTruncated(what string) error { return fmt.Errorf("%s ends before its end", what) }
