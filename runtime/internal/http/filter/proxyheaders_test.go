package filter

import (
	"maps"
	"net/http"
	"slices"
	"testing"
)

func TestProxyHeadersAreRemoved(t *testing.T) {
	header := http.Header{}
	for _, name := range []string{"x-remote-user", "X-Remote-Uid", "x-remote-group", "x-remote-extra-scopes%2f",
		"Accept",
		"X-Remote-Address"} {
		header.Set(name, "v")
	}
	removeProxyHeaders(header)
	if left := slices.Sorted(maps.Keys(header)); !slices.Equal(left, []string{"Accept", "X-Remote-Address"}) {
		t.Errorf("%q are left", left)
	}
}
