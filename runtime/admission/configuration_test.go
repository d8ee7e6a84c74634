package admission

import (
	"encoding/json"
	"testing"
)

// FuzzConfiguration reads configurations of plug-ins of any form: each part is for another plug-in, and is JSON.
func FuzzConfiguration(f *testing.F) {
	const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n"
	f.Add([]byte(head + "plugins: [{name: a, path: b.yaml}, {name: b, configuration: {kind: K, x: [1, null]}}]"))
	f.Add([]byte(head + "plugins: [{name: a}, {name: a}]"))
	f.Add([]byte(head + "plugins: [null]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		config, err := parseConfiguration(content)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, part := range config.Plugins {
			if seen[part.Name] || len(part.Configuration) > 0 && !json.Valid(part.Configuration) {
				t.Errorf("plug-in %q: %s", part.Name, part.Configuration)
			}
			seen[part.Name] = true
		}
	})
}
