package podsecurity

import "testing"

// FuzzConfigure reads configurations of the plug-in of any form: it always knows a level.
func FuzzConfigure(f *testing.F) {
	f.Add([]byte(`{"kind":"PodSecurityConfiguration","defaults":{"enforce":"baseline","enforce-version":"v1.30"}}`))
	f.Add([]byte(`{"kind":"PodSecurityConfiguration","defaults":{"warn":"x"},"exemptions":{"usernames":[""]}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		feature := &Feature{}
		if feature.configure(content, "") == nil && !feature.defaults.Enforce.Level.Valid() {
			t.Errorf("%+v", feature.defaults)
		}
	})
}
