package projects

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// definitions are folders with CustomResourceDefinitions of projects that controller-gen wrote.
var definitions = []struct {
	module, folder string
	// files is how many there are.
	files int
	// refused are files that Go types can't express, and what apigen says of each.
	refused map[string]string
}{
	{"github.com/vmware-tanzu/velero@v1.18.3", "config/crd/v1/bases", 11, map[string]string{
		// A column shows a field that the schema doesn't have.
		"velero.io_podvolumebackups.yaml": "JSONPath .status.node of kind PodVolumeBackup",
	}},
	{"github.com/kedacore/keda/v2@v2.21.0", "config/crd/bases", 6, nil},
	{"github.com/external-secrets/external-secrets@v0.18.2", "config/crds/bases", 21, nil},
}

// TestFromCRD: the types that apigen writes of a definition make the same definition again, byte by byte.
func TestFromCRD(t *testing.T) {
	apigen := buildApigen(t)
	for _, project := range definitions {
		t.Run(project.module, func(t *testing.T) {
			folder := filepath.Join(download(t, project.module), filepath.FromSlash(project.folder))
			files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(string(text), "\nkind: CustomResourceDefinition\n") {
					continue
				}
				seen++
				said, err := run(t, t.TempDir(), apigen, "init", ".", "--module", "example.com/x", "--from-crd", file)
				want := project.refused[filepath.Base(file)]
				if want == "" && (err != nil || !strings.Contains(said, "is the same, byte by byte")) ||
					want != "" && (err == nil || !strings.Contains(said, want)) {
					t.Errorf("%s: %v\n%s", filepath.Base(file), err, said)
				}
			}
			if seen != project.files {
				t.Errorf("%d definitions, not %d", seen, project.files)
			}
		})
	}
}
