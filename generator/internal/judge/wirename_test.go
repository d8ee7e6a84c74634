package judge

import "testing"

func TestWireName(t *testing.T) {
	for field, want := range map[string]string{
		"Email": "email", "DNSNames": "dnsNames", "URL": "url", "CABundle": "caBundle", "IPAddresses": "ipAddresses",
		"X509": "x509", "A": "a", "already": "already", "ÄPfel": "ÄPfel", "HTTPS2Port": "https2Port",
	} {
		if got := wireName(field); got != want {
			t.Errorf("%s becomes %s, not %s", field, got, want)
		}
	}
}
