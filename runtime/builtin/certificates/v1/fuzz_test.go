package v1

import (
	"encoding/pem"
	"testing"
)

// FuzzParseRequest reads signing requests of any form: one that is read is a request in DER.
func FuzzParseRequest(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----\n"))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		request, err := ParseRequest(content)
		if err != nil {
			return
		}
		again, err := ParseRequest(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request.Raw}))
		if err != nil || again.Subject.String() != request.Subject.String() {
			t.Errorf("%s is read as %v, %v", request.Subject, again, err)
		}
	})
}
