package apigroups

import (
	"strings"
	"testing"
)

// FuzzParse reads values of --runtime-config of any form: keys and values have no space around them.
func FuzzParse(f *testing.F) {
	f.Add("api/beta=true, apps/v1/deployments = false")
	f.Add("=,api/all,=true")
	f.Fuzz(func(t *testing.T, text string) {
		for key, value := range Parse(strings.Split(text, ",")) {
			if strings.TrimSpace(key) != key || strings.TrimSpace(value) != value || strings.Contains(key, "=") {
				t.Errorf("%q: %q is %q", text, key, value)
			}
		}
	})
}
