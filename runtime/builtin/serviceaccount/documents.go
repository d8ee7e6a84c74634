package serviceaccount

import (
	"fmt"
	"net/http"
	"net/url"
)

// The paths of the documents by which others verify tokens.
const (
	configurationPath = "/.well-known/openid-configuration"
	keysPath          = "/openid/v1/jwks"
)

// cacheControl lets clients and proxies remember a document for an hour. A new key must verify tokens for so long
// before it signs some.
const cacheControl = "public, max-age=3600"

// documents returns the handlers of the documents, by their paths. Clients read the keys at keysURL.
func (a *authority) documents(keysURL string) map[string]http.Handler {
	return map[string]http.Handler{
		configurationPath: document("application/json", func() ([]byte, error) {
			return a.keys.Load().configuration(a.issuers[0], keysURL)
		}),
		keysPath: document("application/jwk-set+json", func() ([]byte, error) { return a.keys.Load().set, nil }),
	}
}

func document(contentType string, content func() ([]byte, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		body, err := content()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", cacheControl)
		_, _ = w.Write(body) // an error means that the client closed the connection
	})
}

// discoverable reports whether an issuer can have a discovery document: it is an https URL without query and fragment.
func discoverable(issuer string) error {
	u, err := url.Parse(issuer)
	switch {
	case err != nil:
		return err
	case u.Scheme != "https":
		return fmt.Errorf("issuer URL must use https scheme, got: %s", issuer)
	case u.RawQuery != "":
		return fmt.Errorf("issuer URL may not include a query, got: %s", issuer)
	case u.Fragment != "":
		return fmt.Errorf("issuer URL may not include a fragment, got: %s", issuer)
	}
	return nil
}
