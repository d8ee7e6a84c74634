package auth

import "net/http"

// First asks authenticators in order: the first that finds a user decides. Where none does and one of them saw wrong
// credentials, the first such error is returned.
type First []Authenticator

// Authenticate implements Authenticator.
func (f First) Authenticate(r *http.Request) (*User, error) {
	var failure error
	for _, a := range f {
		user, err := a.Authenticate(r)
		if user != nil && err == nil {
			return user, nil
		}
		if err != nil && failure == nil {
			failure = err
		}
	}
	return nil, failure
}
