package ownership_test

import (
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/object/ownership"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// TestOnly: a manager of the parts of a list's items manages these alone.
func TestOnly(t *testing.T) {
	const (
		all  = `{"f:metadata":{"f:labels":{"f:l":{}}},"f:spec":{"f:a":{},"f:list":{` + item + `}},"f:status":{}}`
		list = `.spec.list[name="x"]`
	)
	for paths, want := range map[string]string{
		"spec":                          ".spec.a " + list + " " + list + ".n " + list + ".res",
		"spec.a metadata.labels":        ".metadata.labels.l .spec.a",
		"spec.list[*].res spec.a":       ".spec.a " + list + " " + list + ".res",
		"spec.list[*].res spec.list":    list + " " + list + ".n " + list + ".res",
		"spec.list[*].n spec.list[*].o": list + " " + list + ".n",
	} {
		if got := filtered(t, strings.Fields(paths), all); got != want {
			t.Errorf("%s: got %s, want %s", paths, got, want)
		}
	}
}

const item = `"k:{\"name\":\"x\"}":{".":{},"f:n":{},"f:res":{}}`

// filtered returns the fields of a set, as managedFields hold it, that are below paths.
func filtered(t *testing.T, paths []string, data string) string {
	t.Helper()
	set := fieldpath.NewSet()
	if err := set.FromJSON(strings.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	var out []string
	ownership.Only(paths).Filter(set).Iterate(func(p fieldpath.Path) { out = append(out, p.String()) })
	slices.Sort(out)
	return strings.Join(out, " ")
}
