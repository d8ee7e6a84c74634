package filter

import (
	"net/http"
	"testing"
)

// FuzzImpersonated reads headers of any form that ask to act for another user: nobody acts for a user without a name,
// and no header that asks for something is passed over in silence.
func FuzzImpersonated(f *testing.F) {
	f.Add("bob", "1", "g", "Scopes", "view")
	f.Add("", "1", "", "A%2fb", "")
	f.Add("", "", "", "", "x")
	f.Add("system:serviceaccount:a:b", "", "system:masters", "%zz", "x")
	f.Fuzz(func(t *testing.T, name, uid, group, key, value string) {
		header := http.Header{}
		set := func(name, value string) {
			if value != "" {
				header.Set(name, value)
			}
		}
		set(impersonateUser, name)
		set(impersonateUID, uid)
		set(impersonateGroup, group)
		set(impersonateExtra+key, value)
		user, asked, err := impersonated(header)
		switch {
		case err == nil && asked != (user != nil && user.Name != ""):
			t.Errorf("user %+v, asked %v", user, asked)
		case err == nil && !asked && len(header) > 0 && name == "" && (uid != "" || group != ""):
			t.Errorf("%v is passed over", header)
		case err == nil && asked && (user.Name != name || user.UID != uid):
			t.Errorf("user %+v of %v", user, header)
		case user != nil:
			_ = withImplied(user) // it must not panic
			for _, mode := range impersonationModes {
				mode.fits(user)
			}
			_ = invalidExtra(user.Extra)
		}
	})
}
