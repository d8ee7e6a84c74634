package auth

import "net/http"

// First asks authenticators in order. The first one that finds a user decides. Where none does, First returns the first
// error about wrong credentials, if there is one.
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
