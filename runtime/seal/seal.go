// Package seal keeps values encrypted at rest, as kube-apiserver does it: it reads the same EncryptionConfiguration
// and writes the same bytes, so that a server can be replaced in place, keys and all. Providers are identity, aesgcm,
// secretbox and aescbc; the first one of a resource seals, all of them open.
//
// A Source is a configuration that is read from a file and may be read again; a Transformer is what it means to one
// resource at any time. The package knows keys of etcd and bytes, no objects, and nothing else of ours.
//
// A value that aesgcm sealed opens under the key of etcd where it was written and nowhere else. Its nonces are random:
// one secret should seal no more than 2^32 values before a new one is put in front of it. secretbox has no such limit in
// practice, and doesn't bind a value to its key; aescbc does not even tell a value that was tampered with.
package seal

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// mark is how every sealed value begins: no JSON does.
const mark = "k8s:enc:"

// Chain is the providers of one resource, with a link for each of their keys: the first link seals, all open. It is
// immutable and safe for concurrent use.
type Chain struct{ links []link }

// link is one key of one provider.
type link struct {
	prefix string // what its values begin with; "" for identity
	name   string // how errors call it
	cipher provider
}

// provider seals and opens what stands behind a link's prefix. The etcd key is authenticated, where it can be.
type provider interface {
	// seal appends the sealed value to dst.
	seal(dst []byte, key string, plain []byte) ([]byte, error)
	// open must not change sealed.
	open(key string, sealed []byte) ([]byte, error)
	// overhead is by how much seal grows a value at most.
	overhead() int
}

// Open returns what Seal was given, or kube-apiserver with the same configuration. stale tells that Seal would take
// another key today. plain may share memory with stored, which is not changed.
func (c *Chain) Open(key string, stored []byte) (plain []byte, stale bool, err error) {
	var failed []string
	for i := range c.links {
		l := &c.links[i]
		if !bytes.HasPrefix(stored, []byte(l.prefix)) {
			continue
		}
		plain, err := l.cipher.open(key, stored[len(l.prefix):])
		switch {
		case err == nil:
			return plain, i > 0, nil
		case l.prefix != "": // that identity doesn't open a sealed value says nothing
			failed = append(failed, fmt.Sprintf("%s does not open it: %v", l.name, err))
		}
	}
	if len(failed) > 0 {
		return nil, false, errors.New(strings.Join(failed, "; "))
	}
	return nil, false, fmt.Errorf("%s, and the encryption configuration has only %s for this resource", sealedWith(stored), c.names())
}

// Seal returns the value to store under a key of etcd.
func (c *Chain) Seal(key string, plain []byte) ([]byte, error) {
	l := &c.links[0]
	if l.prefix == "" {
		return plain, nil
	}
	sealed := make([]byte, len(l.prefix), len(l.prefix)+len(plain)+l.cipher.overhead())
	copy(sealed, l.prefix)
	return l.cipher.seal(sealed, key, plain)
}

func (c *Chain) names() string {
	names := make([]string, len(c.links))
	for i, l := range c.links {
		names[i] = l.name
	}
	return strings.Join(names, ", ")
}

// sealedWith says what a stored value tells of itself: provider and name of the key, no secret.
func sealedWith(stored []byte) string {
	rest, sealed := bytes.CutPrefix(stored, []byte(mark))
	if !sealed {
		return "the value is not encrypted"
	}
	const longest = 300 // of names that are worth to be repeated
	parts := strings.SplitN(string(rest[:min(len(rest), longest)]), ":", 4)
	if len(parts) < 4 {
		return "the value begins as an encrypted one and is none"
	}
	return fmt.Sprintf("the value was encrypted with %s", nameOf(clean(parts[0]), parts[2]))
}

// clean drops what is not printable ASCII.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
}

func nameOf(provider, key string) string { return fmt.Sprintf("%s key %q", provider, key) }
