package projects

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"
)

// manifest is one document of a file.
type manifest struct {
	file string
	json []byte

	APIVersion, Kind string
	Metadata         struct{ Name, GenerateName, Namespace string }
}

// String names a manifest by its file, kind and name.
func (m manifest) String() string {
	return m.file + " " + m.Kind + " " + m.Metadata.Name + m.Metadata.GenerateName
}

var separator = regexp.MustCompile(`(?m)^---.*$`)

// manifests reads all documents in the YAML files below a folder, by file. Documents that aren't YAML, as templates,
// and those without a kind are left out.
func manifests(t *testing.T, folder string) []manifest {
	t.Helper()
	var out []manifest
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, document := range separator.Split(string(text), -1) {
			json, err := yaml.YAMLToJSON([]byte(document))
			if err != nil {
				t.Logf("%s: %v", path, err)
				continue
			}
			m := manifest{json: json}
			if m.file, err = filepath.Rel(folder, path); err != nil {
				return err
			}
			if err := yaml.Unmarshal(json, &m); err == nil && m.Kind != "" {
				out = append(out, m)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
