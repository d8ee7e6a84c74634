package resolve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/model"
)

// versionsOf returns the source of a group's versions. Each is a version, its kinds with their markers behind a plus
// sign, and markers of the package.
func versionsOf(versions ...string) string {
	var out strings.Builder
	for _, v := range versions {
		words := strings.Fields(v)
		fmt.Fprintf(&out, "-- api/%s/types.go --\n// +groupName=shop.example.com\n", words[0])
		kinds := ""
		for _, word := range words[1:] {
			kind, mark, marked := strings.Cut(word, "+")
			if kind == "" {
				fmt.Fprintf(&out, "// +%s\n", mark)
				continue
			}
			if marked {
				mark = "// +" + mark + "\n"
			}
			kinds += "\n// +kubebuilder:object:root=true\n" + mark + "type " + kind + " struct {\n\tmetav1.TypeMeta " +
				"`json:\",inline\"`\n\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n}\n"
		}
		fmt.Fprintf(&out, "package %s\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n%s", words[0], kinds)
	}
	return out.String()
}

// TestPreferredVersion: clients that name no version get the one that is stored, or the one that its author marked.
func TestPreferredVersion(t *testing.T) {
	const stored, without = "+kubebuilder:storageversion", "+apigen:storage=none"
	const unserved, preferred = "+kubebuilder:unservedversion", "+apigen:preferred"
	for _, c := range []struct {
		name     string
		versions []string
		want     []string
	}{
		{"by priority", []string{"v1 A", "v2 A", "v3beta1 A"}, []string{"v2", "v1", "v3beta1"}},
		{"the stored one", []string{"v1 A" + stored, "v2 A", "v3 A"}, []string{"v1", "v3", "v2"}},
		{"a marked one", []string{"v1 A" + stored, "v2 " + preferred + " A"}, []string{"v2", "v1"}},
		{"a marker that says no", []string{"v1 A" + stored, "v2 +apigen:preferred=false A"}, []string{"v1", "v2"}},
		{"another kind is new", []string{"v1 A" + stored, "v2 A B" + stored}, []string{"v1", "v2"}},
		{"the new version has other kinds", []string{"v1 A" + stored, "v2 B" + stored}, []string{"v2", "v1"}},
		{"kinds that differ", []string{"v1 A" + stored + " B", "v2 A B" + stored}, []string{"v2", "v1"}},
		{"kinds that aren't stored", []string{"v1 A" + without, "v2 A" + without}, []string{"v2", "v1"}},
		{"an unserved version", []string{"v1 A" + stored, "v2 A" + unserved, "v3 A" + unserved + " B" + stored},
			[]string{"v3", "v2", "v1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := loadtest.Program(t, versionsOf(c.versions...)).Groups[0]
			var got []string
			for _, v := range g.Versions {
				got = append(got, v.Name)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			place := func(v model.ResourceVersion) int { return slices.Index(g.Versions, v.Version) }
			for _, r := range g.Resources {
				order := func(a, b model.ResourceVersion) int { return place(a) - place(b) }
				if !slices.IsSortedFunc(r.Versions, order) {
					t.Errorf("the versions of %s are in another order", r.Kind)
				}
			}
		})
	}
}
