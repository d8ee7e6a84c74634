package proxy

import "testing"

func TestEscapeKey(t *testing.T) {
	for key, want := range map[string]string{
		"": "", "scopes": "scopes", "example.com/scopes": "example.com%2Fscopes", "50%": "50%25",
		"a b\x00é":       "a%20b%00%C3%A9",
		"!#$&'*+-.^_`|~": "!#$&'*+-.^_`|~", "(\x7f)": "%28%7F%29",
	} {
		if got := escapeKey(key); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}
