package subresource_test

import (
	"testing"

	"apigen.dev/runtime/subresource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestItems pairs items by their keys, in the order of the second list.
func TestItems(t *testing.T) {
	type item struct {
		name string
		n    int
	}
	from, to := []item{{"b", 1}, {"c", 2}, {"a", 3}}, []item{{name: "a"}, {name: "x"}, {name: "b"}}
	for x, y := range subresource.Items(from, to, func(i *item) string { return i.name }) {
		y.n = x.n
	}
	if to[0].n != 3 || to[1].n != 0 || to[2].n != 1 {
		t.Error(to)
	}
	for range subresource.Items(from, to, func(i *item) string { return i.name }) {
		break
	}
}

// TestSameItems reports items that were added, removed, renamed or moved.
func TestSameItems(t *testing.T) {
	old := []string{"a", "b"}
	for want, items := range map[string][]string{
		"": {"a", "b"},
		"spec.list: Forbidden: items may not be added or removed through this subresource": {"a"},
		"[spec.list[0].name: Forbidden: items may not be renamed or reordered through this subresource, " +
			"spec.list[1].name: Forbidden: items may not be renamed or reordered through this subresource]": {"b", "a"},
	} {
		got := ""
		self := func(s *string) string { return *s }
		errs := subresource.SameItems(field.NewPath("spec", "list"), "name", items, old, self)
		if err := errs.ToAggregate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%v: got %s, want %s", items, got, want)
		}
	}
}
