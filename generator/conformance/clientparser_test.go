package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// checkParser holds the schema by which apply configurations are extracted to upstream's: every type is merged alike.
func checkParser(t *testing.T, ours, theirs string) {
	t.Helper()
	got, want := parserTypes(t, ours), parserTypes(t, theirs)
	if len(got) < 10 {
		t.Errorf("%s: there are only %d types", ours, len(got))
	}
	for name, typ := range got {
		if mapping, ok := want[name]["map"].(map[string]any); ok {
			delete(mapping, "unions") // structured-merge-diff reads them and does nothing with them
		}
		if !reflect.DeepEqual(typ, want[name]) {
			g, _ := yaml.Marshal(typ)
			w, _ := yaml.Marshal(want[name])
			t.Errorf("type %s:\n got\n%s\nwant\n%s", name, g, w)
		}
	}
	t.Logf("%d types", len(got))
}

// parserTypes are the types in the one long text of the internal package of apply configurations, by name.
func parserTypes(t *testing.T, dir string) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	entries, err := os.ReadDir(filepath.Join(dir, "internal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "internal", e.Name()), nil,
			parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || !strings.HasPrefix(lit.Value, "`types:") {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			var schema struct{ Types []map[string]any }
			if err := yaml.Unmarshal([]byte(text), &schema); err != nil {
				t.Fatal(err)
			}
			for _, typ := range schema.Types {
				name, _ := typ["name"].(string)
				out[name] = typ
			}
			return true
		})
	}
	return out
}
