// Package encryption encrypts values at rest, as kube-apiserver does: it reads the same EncryptionConfiguration and
// writes the same bytes, so that a server can be replaced in place, keys and all. Providers are identity, aesgcm,
// secretbox and aescbc; the first one of a resource encrypts, and all of them decrypt.
//
// A Source is a configuration in a file, which it may read again; a Transformer applies the present configuration to
// one resource. The package knows keys of etcd and bytes, no objects, and nothing else of ours.
//
// A value that aesgcm sealed opens only under the key of etcd for which it was sealed. Its nonces are random: one
// secret should seal at most 2^32 values before an operator puts a new one in front of it. secretbox has no such limit
// in practice, and doesn't bind a value to its key. aescbc doesn't even detect a manipulated value.
package encryption

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
)

// mark is the beginning of every sealed value. No JSON begins with it.
const mark = "k8s:enc:"

// Chain is the providers of one resource, with a link for each of their keys: the first link seals, all links open. It
// is immutable and safe for concurrent use.
type Chain struct{ links []link }

// link is one key of one provider.
type link struct {
	prefix string // the prefix of its values; "" for identity
	name   string // its name in errors
	cipher provider
}

// provider seals and opens the bytes behind a link's prefix, which begin with a random nonce. It authenticates the etcd
// key, if it can.
type provider interface {
	// seal appends the sealed value to dst.
	seal(dst, nonce []byte, key string, plain []byte) []byte
	// open opens a sealed value, which it must not change.
	open(key string, nonce, sealed []byte) ([]byte, error)
	// overhead returns the size of the nonce, and bounds the other bytes that seal adds to a value.
	overhead() (nonce, more int)
}

// Open returns the value that this package's Seal, or kube-apiserver with the same configuration, has sealed. stale
// says that Seal would use another key today. plain may share memory with stored, which Open doesn't change.
func (c *Chain) Open(key string, stored []byte) (plain []byte, stale bool, err error) {
	var failed []string
	for i := range c.links {
		l := &c.links[i]
		if !bytes.HasPrefix(stored, []byte(l.prefix)) {
			continue
		}
		plain, err := l.open(key, stored[len(l.prefix):])
		switch {
		case err == nil:
			return plain, i > 0, nil
		case l.prefix != "": // no need to report that identity doesn't open a sealed value
			failed = append(failed, fmt.Sprintf("%s does not open it: %v", l.name, err))
		}
	}
	if len(failed) > 0 {
		return nil, false, errors.New(strings.Join(failed, "; "))
	}
	return nil, false, fmt.Errorf("%s, and the encryption configuration has only %s for this resource",
		sealedWith(stored), c.names())
}

// Seal returns the value to store under a key of etcd.
func (c *Chain) Seal(key string, plain []byte) ([]byte, error) {
	l := &c.links[0]
	if l.prefix == "" {
		return plain, nil
	}
	nonce, more := l.cipher.overhead()
	head := len(l.prefix) + nonce
	sealed := make([]byte, head, head+len(plain)+more)
	copy(sealed, l.prefix)
	if _, err := rand.Read(sealed[len(l.prefix):]); err != nil {
		return nil, err
	}
	return l.cipher.seal(sealed, sealed[len(l.prefix):], key, plain), nil
}

func (l *link) open(key string, stored []byte) ([]byte, error) {
	nonce, _ := l.cipher.overhead()
	if len(stored) < nonce {
		return nil, errShort
	}
	return l.cipher.open(key, stored[:nonce], stored[nonce:])
}

func (c *Chain) names() string {
	names := make([]string, len(c.links))
	for i, l := range c.links {
		names[i] = l.name
	}
	return strings.Join(names, ", ")
}

// sealedWith returns the provider and the name of the key with which a stored value was sealed. It returns no secret.
func sealedWith(stored []byte) string {
	rest, sealed := bytes.CutPrefix(stored, []byte(mark))
	if !sealed {
		return "the value is not encrypted"
	}
	const longest = 300 // longer names are not repeated
	parts := strings.SplitN(string(rest[:min(len(rest), longest)]), ":", 4)
	if len(parts) < 4 {
		return "the value begins as an encrypted one and is none"
	}
	return fmt.Sprintf("the value was encrypted with %s", nameOf(clean(parts[0]), parts[2]))
}

func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
}

func nameOf(provider, key string) string { return fmt.Sprintf("%s key %q", provider, key) }
