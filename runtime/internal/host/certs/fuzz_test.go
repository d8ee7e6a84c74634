package certs

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// FuzzParseKeys reads files of private keys, and of an authority: what is read can be written and read again, and an
// authority has the key of its first certificate.
func FuzzParseKeys(f *testing.F) {
	made := newIssuer(&testing.T{}, "ca")
	key, err := encodeKey(made.key)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(slices.Concat(key, made.pem()))
	f.Add([]byte("-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n"))
	f.Add(bytes.Replace(key, []byte("PRIVATE"), []byte("RSA PRIVATE"), 2))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		keys, err := parseKeys(content)
		if (err == nil) != (len(keys) > 0) {
			t.Fatalf("%d keys and the error %v", len(keys), err)
		}
		for _, key := range keys {
			text, err := encodeKey(key)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := parseKeys(text); err != nil || len(again) != 1 {
				t.Errorf("%s is read as %d keys, %v", text, len(again), err)
			}
		}
		authority, err := parseAuthority(dir, time.Now, content, content)
		if err == nil && authority.key == nil {
			t.Error("an authority without a key")
		}
	})
}
