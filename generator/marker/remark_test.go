package marker

import "testing"

func TestBareName(t *testing.T) {
	for text, want := range map[string]string{
		"k8s:validation-gen-nolint // until it is GA": "k8s:validation-gen-nolint",
		"genclient # of all versions":                 "genclient",
		"genclient":                                   "genclient",
		"default=\"a // b\"":                          "default=\"a // b\"",
		"k8s:listType(a) // b":                        "k8s:listType(a) // b",
		"genclient of all":                            "genclient of all",
	} {
		if got := bareName(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
