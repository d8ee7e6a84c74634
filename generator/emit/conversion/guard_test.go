package conversion

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuards changes types below generated casts: the generated file must no longer compile.
func TestGuards(t *testing.T) {
	tests := []struct{ name, file, old, new string }{
		{"none", "shop/types.go", "", ""},
		{"basic", "shop/types.go", "type Size int32", "type Size int64"},
		{"same size", "shop/v1beta1/types.go", "type Size int32", "type Size uint32"},
		{"more fields", "shop/types.go", "Parts map[string]Part\n", "Parts map[string]Part\n\tMore bool\n"},
		{"renamed", "shop/types.go", "Tags []string", "Labels []string"},
		{"order", "shop/types.go", "Name     string\n\tChildren []Tree", "Children []Tree\n\tName string"},
		{"pointer", "shop/v1beta1/types.go", "Parent   *Tree  ", "Parent []Tree"},
		{"map", "shop/v1beta1/types.go", "Parts map[string]Part", "Parts map[Color]Part"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
				t.Fatal(err)
			}
			replace(t, filepath.Join(dir, test.file), test.old, test.new)
			l := newLoader(t, testdata, dir)
			l.generated = true
			l.load(testdata + "/shop/v1beta1")
			if drifted := test.old != ""; drifted != (len(l.errs) > 0) {
				t.Fatalf("drifted is %v, errors are %v", drifted, l.errs)
			}
			for _, err := range l.errs {
				if !strings.Contains(err.Error(), "zz_generated.conversion.go") {
					t.Errorf("the change is wrong by itself: %v", err)
				}
			}
		})
	}
}

func replace(t *testing.T, file, old, new string) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(src), old) {
		t.Fatalf("%s has no %q", file, old)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(src), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}
