package oidc

import (
	"encoding/json"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// FuzzKeys reads documents of keys of any form: a server takes public keys alone, since everybody can sign with a key
// that is published whole.
func FuzzKeys(f *testing.F) {
	document := func(keys ...jose.JSONWebKey) []byte {
		text, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
		if err != nil {
			f.Fatal(err)
		}
		return text
	}
	public := testKeys["first"].public()
	f.Add(document(public))
	f.Add(document(jose.JSONWebKey{Key: []byte("secret"), KeyID: "k", Algorithm: "HS256"}, public))
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"},null,{"kty":"RSA","n":"","e":"AQAB"}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		keys, err := keysIn(content)
		if err != nil && len(keys) > 0 {
			t.Errorf("%d keys beside the error %v", len(keys), err)
		}
		for _, key := range keys {
			if !key.IsPublic() || !key.Valid() {
				t.Errorf("the key %+v", key)
			}
		}
	})
}
