package storage

import "testing"

func TestPrefixEnd(t *testing.T) {
	for prefix, want := range map[string]string{"": "", "a": "b", "a/": "a0", "a\xff": "b", "\xff\xff": ""} {
		if got := PrefixEnd(prefix); got != want {
			t.Errorf("PrefixEnd(%q) is %q, not %q", prefix, got, want)
		}
	}
}
