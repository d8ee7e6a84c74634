package projects

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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

// isPart reports whether a manifest of a page is a part that the text explains: it has no name.
func (m manifest) isPart() bool {
	return filepath.Ext(m.file) == ".md" && m.Metadata.Name+m.Metadata.GenerateName == ""
}

var separator = regexp.MustCompile(`(?m)^---.*$`)

// fenced matches a block of YAML in Markdown: its indentation, and its text.
var fenced = regexp.MustCompile("(?ms)^([ \t]*)```ya?ml[^\n]*\n(.*?)^[ \t]*```")

// documents returns the YAML documents of a file: all of a YAML file, and the blocks of a page.
func documents(path, text string) []string {
	switch filepath.Ext(path) {
	case ".yaml", ".yml":
		return separator.Split(text, -1)
	case ".md":
		var out []string
		for _, block := range fenced.FindAllStringSubmatch(text, -1) {
			unindented := strings.ReplaceAll("\n"+block[2], "\n"+block[1], "\n")
			out = append(out, separator.Split(unindented, -1)...)
		}
		return out
	}
	return nil
}

// manifests reads all documents in the YAML files and pages below a folder. It counts the documents that aren't
// YAML, as templates. Those without a kind are left out.
func manifests(t *testing.T, folder string) (out []manifest, unreadable int) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, document := range documents(path, string(text)) {
			json, err := yaml.YAMLToJSON([]byte(document))
			if err != nil {
				t.Logf("%s: %v", path, err)
				unreadable++
				continue
			}
			m := manifest{json: json}
			if m.file, err = filepath.Rel(folder, path); err != nil {
				return err
			}
			if err := yaml.Unmarshal(json, &m); err == nil && m.Kind != "" && !m.isPart() {
				out = append(out, m)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out, unreadable
}
