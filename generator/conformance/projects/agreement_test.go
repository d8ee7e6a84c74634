package projects

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// crds is the folder with the definitions of a project's kinds, from the package of the groups.
const crds = "definitions"

var (
	groupsMarker = regexp.MustCompile(`(?m)^// \+apigen:groups\n`)
	crdsMarker   = regexp.MustCompile(`(?m)^// \+apigen:crds.*\n`)
)

// mark adds markers to what apigen init wrote: those of the project, and, where its kinds are held to their
// definitions, those for definitions, which describe embedded metadata, so that none prunes what a type has.
func (p project) mark(t *testing.T, dir string) {
	t.Helper()
	for _, e := range p.marks {
		e.make(t, dir)
	}
	if differences[p.name] == nil {
		return
	}
	file := p.groups(t, dir)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = groupsMarker.ReplaceAll(crdsMarker.ReplaceAll(text, nil),
		[]byte("// +apigen:groups\n// +apigen:crds="+crds+"\n// +apigen:crds:embeddedMetadata\n"))
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// groups returns the file of the package that has the groups.
func (p project) groups(t *testing.T, dir string) string {
	t.Helper()
	for _, pattern := range []string{"*/apis.go", "*/*/apis.go", "*/*.go", "*/*/*.go"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if groupsMarker.Match(text) {
				return file
			}
		}
	}
	t.Fatal("no package has +apigen:groups")
	return ""
}

// agreement is a test that runs in the place of one of the package trial: that package is internal to apigen.
const agreement = `package trial_test

import (
	"testing"

	"apigen.dev/runtime/internal/custom/agreement/trial"
	groups %q
)

func TestCorpus(t *testing.T) { trial.ReadCorpus(t, %q).Run(t, groups.Groups()) }
`

// testKinds runs random objects of each kind, and changed samples, through the generated code and through the
// definition that apigen writes of the type: both accept, refuse, default and store the same, but for what is known.
func (p project) testKinds(t *testing.T, dir, samples string, known map[string][]string) {
	t.Helper()
	corpus := struct {
		Definitions string
		Samples     map[string][]json.RawMessage
		Known       map[string][]string
	}{filepath.Join(filepath.Dir(p.groups(t, dir)), crds), p.objects(t, samples), known}
	data, err := json.Marshal(corpus)
	if err != nil {
		t.Fatal(err)
	}
	own := t.TempDir()
	file, test, overlay := filepath.Join(own, "corpus"), filepath.Join(own, "test.go"), filepath.Join(own, "overlay")
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	const pkg = "runtime/internal/custom/agreement/trial"
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(root, filepath.FromSlash(pkg), "corpus_test.go"): test,
	}})
	if err != nil {
		t.Fatal(err)
	}
	path := bytes.TrimSpace([]byte(must(t, filepath.Dir(p.groups(t, dir)), "go", "list", ".")))
	for name, content := range map[string][]byte{
		file: data, overlay: replace, test: fmt.Appendf(nil, agreement, path, file),
	} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said, err := run(t, dir, "go", "test", "-v", "-timeout=30m", "-overlay="+overlay, "-run=^TestCorpus$",
		"apigen.dev/"+pkg)
	if err != nil {
		t.Errorf("kinds and their definitions: %v\n%s", err, said)
		return
	}
	t.Log(said)
}

// objects returns the samples of each apiVersion and kind.
func (p project) objects(t *testing.T, dir string) map[string][]json.RawMessage {
	t.Helper()
	out := map[string][]json.RawMessage{}
	for _, folder := range p.samples {
		found, _ := manifests(t, filepath.Join(dir, filepath.FromSlash(folder)))
		for _, m := range found {
			key := m.APIVersion + " " + m.Kind
			out[key] = append(out[key], m.json)
		}
	}
	return out
}
