package manifest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/access/manifest"
	"apigen.dev/runtime/internal/reload"
	registration "k8s.io/api/admissionregistration/v1"
)

type configuration = registration.ValidatingWebhookConfiguration

const head = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: "

// read reads a directory with files, and returns the names of the objects in them, or the error without the path of the
// directory.
func read(t *testing.T, files map[string]string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := manifest.Open(dir, func(files []reload.File) ([]string, error) {
		all := manifest.NewObjects("ValidatingWebhookConfiguration", func(c *configuration) { c.Generation = 1 },
			func(c *configuration) error {
				if len(c.Webhooks) > 0 {
					return errors.New("has webhooks")
				}
				return nil
			})
		err := manifest.Read(files, all)
		var names []string
		for _, c := range all.Sorted() {
			if c.Generation == 1 {
				names = append(names, c.Name)
			}
		}
		return names, err
	})
	if err != nil {
		return "", errors.New(strings.ReplaceAll(err.Error(), dir, "DIR"))
	}
	return strings.Join(found.Value(), " "), nil
}

func TestRead(t *testing.T) {
	got, err := read(t, map[string]string{
		"b.yaml": head + "d.static.k8s.io}}\n---\n\n---\n" + head + "b.static.k8s.io}}",
		"a.YML":  `{apiVersion: v1, kind: List, items: [` + head + `c.static.k8s.io}}]}`,
		"c.json": `{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfigurationList",
			"items": [{"metadata": {"name": "a.static.k8s.io"}}]}`,
		"README.md": "not a manifest", "empty.yaml": "",
	})
	if want := "a.static.k8s.io b.static.k8s.io c.static.k8s.io d.static.k8s.io"; got != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReadErrors(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{head + `""}}`, `resource in file "DIR/a.yaml" must have a name`},
		{head + "a}}", `"a" in file "DIR/a.yaml" must have a name ending with ".static.k8s.io"`},
		{
			head + "a.static.k8s.io}}\n---\n" + head + "a.static.k8s.io}}",
			`duplicate name "a.static.k8s.io" found in file "DIR/a.yaml" (previously seen in "DIR/a.yaml")`,
		},
		{"{apiVersion: v1, kind: Secret}", "unsupported resource type /v1, Kind=Secret"},
		{head + "a.static.k8s.io}, webhook: []}", `unknown field "webhook"`},
		{
			head + "a.static.k8s.io}, webhooks: [{name: x}]}",
			`ValidatingWebhookConfiguration "a.static.k8s.io": has webhooks`,
		},
		{"}", "did not find expected node content"},
		{
			"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfigurationList, items: [null]}",
			`resource in file "DIR/a.yaml" must have a name`,
		},
	} {
		got, err := read(t, map[string]string{"a.yaml": test.file})
		if err == nil || !strings.HasPrefix(err.Error(), "static manifests in DIR: error loading DIR/a.yaml: ") ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %q, %v", test.file, got, err)
		}
	}
}

func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"": "", t.TempDir(): "", "relative": "must be an absolute file path", file: "must be a directory",
		"/nonexistent/path": "unable to read: stat /nonexistent/path",
	} {
		err := (&manifest.Plugin{StaticManifestsDir: dir}).Check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", dir, err)
		}
	}
}
