package proxy

import (
	"net/http"
	"reflect"
	"testing"
)

// TestCredentials: no credential of a client reaches a backend, whichever of them authenticated the client.
func TestCredentials(t *testing.T) {
	const channels = "v5.channel.k8s.io, v4.channel.k8s.io"
	const token = "base64url.bearer.authorization.k8s.io.c2VjcmV0"
	both(t, func(t *testing.T, http2 bool) {
		seen := make(chan *http.Request, 1)
		s := pair(t, http2, func(_ http.ResponseWriter, r *http.Request) { seen <- r })
		for name, test := range map[string]struct{ protocols, want []string }{
			"none":         {nil, nil},
			"no token":     {[]string{channels}, []string{channels}},
			"the first":    {[]string{token + ", v5.channel.k8s.io"}, []string{"v5.channel.k8s.io"}},
			"the last":     {[]string{"v5.channel.k8s.io," + token}, []string{"v5.channel.k8s.io"}},
			"alone":        {[]string{token}, nil},
			"in two lines": {[]string{"v5.channel.k8s.io", token, "b"}, []string{"v5.channel.k8s.io", "b"}},
			"twice":        {[]string{token + "," + token}, nil},
			"in capitals":  {[]string{"BASE64URL.Bearer.authorization.k8s.io.c2VjcmV0 , a"}, []string{"a"}},
			"broken":       {[]string{"base64url.bearer.authorization.k8s.io.?, a"}, []string{"a"}},
		} {
			header := http.Header{
				"Cookie": {"session=secret"}, "cookie2": {"x"}, "Authorization": {"Basic secret"},
				"Proxy-Authorization": {"Basic secret"},
			}
			if test.protocols != nil {
				header["Sec-WebSocket-Protocol"] = test.protocols
			}
			get(t, s.URL+"/apis/g/v1/things", header)
			r := receive(t, seen)
			for _, credential := range []string{"Cookie", "Cookie2", "Authorization", "Proxy-Authorization"} {
				if values := r.Header[credential]; values != nil {
					t.Errorf("%s: the backend saw %s: %v", name, credential, values)
				}
			}
			if got := r.Header["Sec-Websocket-Protocol"]; !reflect.DeepEqual(got, test.want) {
				t.Errorf("%s: the backend saw the protocols %q, want %q", name, got, test.want)
			}
		}
	})
}
