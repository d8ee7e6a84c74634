package agreement

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"apigen.dev/generator"
	"apigen.dev/runtime/internal/custom/agreement/trial"
	"apigen.dev/runtime/registry"
	fleet "example.com/fleet/apis/fleet/wiring"
	library "example.com/library/apis/library/wiring"
	park "example.com/park/apis/park/wiring"
	quickstart "example.com/shop/apis/shop/wiring"
)

// TestExamples: objects of the kinds of the examples are refused for the same fields, and are stored in the same form,
// as custom resources of the CustomResourceDefinitions that the generator writes of the types.
func TestExamples(t *testing.T) {
	for example, group := range map[string]registry.Group{
		"park": park.Group(), "quickstart": quickstart.Group(),
		"fleet": fleet.Group(struct{ fleet.MooringProvider }{}, struct{ fleet.PassageReviewProvider }{},
			struct{ fleet.TideProvider }{}), // what they provide isn't stored
	} {
		t.Run(example, func(t *testing.T) { compare(t, group, definitions(t, example), kinds) })
	}
	t.Run("library", func(t *testing.T) { compare(t, library.Group(), "../../../examples/library/config/crd", kinds) })
}

// compare holds the stored kinds of a group to their definitions. Kinds says what is known of them.
func compare(t *testing.T, group registry.Group, definitions string, kinds map[string]trial.Trial) {
	for _, resource := range group.Resources {
		info := resource.Info()
		if info.Storage == "" {
			continue
		}
		named := cmp.Or(group.Name, coreGroup)
		definition, err := os.ReadFile(filepath.Join(definitions, named+"_"+info.Names.Plural+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(info.Names.Kind, func(t *testing.T) {
			k := kinds[info.Names.Kind]
			k.Group, k.Resource, k.Definition = group, resource, definition
			k.Run(t)
		})
	}
}

// definitions returns a folder with the definitions of the kinds of an example, which a build of a copy wrote. The
// functions change the copy.
func definitions(t *testing.T, example string, changes ...func(dir string)) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copyTypes(t, filepath.Join(root, "examples", example), dir)
	edit(t, filepath.Join(dir, "go.mod"), "=> ../..", "=> "+root)
	edit(t, filepath.Join(dir, "apis", "apis.go"), "// +apigen:groups\n", "// +apigen:groups\n// +apigen:crds=../crd\n")
	for _, change := range changes {
		change(dir)
	}
	_, err = generator.Build(t.Context(), generator.Options{Dir: dir, Only: []string{"crd"}})
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "crd")
}

// copyTypes copies a module without its commands and what is generated of its types, which would all be loaded.
func copyTypes(t *testing.T, from, to string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(from), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"cmd", "wiring"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case strings.HasPrefix(entry.Name(), "zz_generated."):
			return nil
		}
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// edit replaces a text in a file, once.
func edit(t *testing.T, file, from, to string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(data), from) != 1 {
		t.Fatalf("%s doesn't have %q once", file, from)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}
