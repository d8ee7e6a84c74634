package clusterauthenticationtrust

import (
	"reflect"
	"testing"
)

// FuzzParse reads the data of extension-apiserver-authentication of any form: what is published of it is read alike.
func FuzzParse(f *testing.F) {
	f.Add("CA", "CA", `["front-proxy"]`, `["X-Remote-User"]`)
	f.Add("", "x", `[null]`, `[]`)
	f.Add("", "x", `{}`, `null`)
	f.Fuzz(func(t *testing.T, client, proxy, names, users string) {
		read, err := parse(map[string]string{clientCA: client, proxyCA: proxy, proxyNames: names, userHeaders: users})
		if err != nil || proxy == "" {
			return
		}
		data, err := read.data()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parse(data)
		if err != nil || len(again.AllowedNames) != len(read.AllowedNames) ||
			len(read.UsernameHeaders) > 0 && !reflect.DeepEqual(again.UsernameHeaders, read.UsernameHeaders) {
			t.Errorf("%+v is published as %+v, %v", read, again, err)
		}
	})
}
