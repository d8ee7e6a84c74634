package auth

import "net/http"

// First asks authenticators in order, and returns the first user that one of them finds. If none finds one, First
// returns the first error.
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
