package compat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"apigen.dev/generator/internal/compat"
	"apigen.dev/generator/internal/loadtest"
)

// versionRules are the rules that TestVersions covers.
var versionRules = []string{
	"GROUP_REMOVED", "GROUP_ADDED", "VERSION_REMOVED", "VERSION_ADDED", "PREFERRED_VERSION_CHANGED", "KIND_REMOVED",
	"KIND_ADDED",
	"STORED_VERSION_DROPPED", "STORAGE_VERSION_CHANGED", "STORAGE_PREFIX_CHANGED",
}

// group returns a package for each version, with kinds and their markers. What stands before a slash is a
// marker of the package.
func group(name string, versions ...string) string {
	var out strings.Builder
	for _, v := range versions {
		version, kinds, _ := strings.Cut(v, " ")
		mark, rest, ok := strings.Cut(kinds, "/")
		if ok {
			mark, kinds = "// "+mark+"\n", rest
		} else {
			mark = ""
		}
		fmt.Fprintf(&out, "-- %s/%s/types.go --\n// +groupName=%s.example.com\n%spackage %s\n\nimport metav1 "+
			"\"k8s.io/apimachinery/pkg/apis/meta/v1\"\n", name, version, name, mark, version)
		for _, k := range strings.Fields(kinds) {
			kind, mark, _ := strings.Cut(k, "+")
			if mark != "" {
				mark = "// +" + mark + "\n"
			}
			fmt.Fprintf(&out, "\n// %s is one.\n//\n// +genclient\n// +kubebuilder:object:root=true\n%stype %s "+
				"struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n\tmetav1.ObjectMeta "+
				"`json:\"metadata,omitempty\"`\n\n\tSize int32 `json:\"size,omitempty\"`\n}\n", kind, mark, kind)
		}
	}
	return out.String()
}

// TestVersions: Compare finds added and removed groups, kinds and versions, at the right level.
func TestVersions(t *testing.T) {
	const stored = "+kubebuilder:storageversion"
	old := []string{
		group("gone", "v1 A"), group("kind", "v1 A B"), group("served", "v1 A", "v1beta1 A"+stored),
		group("deprecated", "v1 A"+stored, "v1beta1 A+kubebuilder:deprecatedversion"), group("unserved", "v1 A"+stored,
			"v1beta1 A"),
		group("alphagone", "v1 A"+stored, "v1alpha1 A"), group("storage", "v1 A",
			"v1beta1 A"+stored), group("preferred", "v1beta1 A"), group("moved", "v1 A"),
		group("same", "v1 A+apigen:storagePrefix=as"), group("chosen", "v1 A"+stored, "v2 A"),
	}
	now := []string{
		group("kind", "v1 A C"), group("served", "v1 A"), group("new", "v1 A"),
		group("deprecated", "v1 A"), group("unserved", "v1 A"+stored, "v1beta1 A+kubebuilder:unservedversion"),
		group("alphagone", "v1 A"), group("storage", "v1 A"+stored, "v1beta1 A"), group("preferred", "v1 A",
			"v1beta1 A"+stored), group("moved", "v1 A+apigen:storagePrefix=as"),
		group("same", "v1 A+apigen:storagePrefix=as"), group("chosen", "v1 A"+stored, "v2 +apigen:preferred/A"),
	}
	want := map[string]string{
		"gone": "break GROUP_REMOVED gone.example.com",
		"kind": "break KIND_REMOVED kind.example.com/v1/B, info KIND_ADDED kind.example.com/C",
		"served": "break STORED_VERSION_DROPPED served.example.com/A, break VERSION_REMOVED " +
			"served.example.com/v1beta1/A",
		"new":        "info GROUP_ADDED new.example.com",
		"deprecated": "warn VERSION_REMOVED deprecated.example.com/v1beta1/A",
		"unserved":   "break VERSION_REMOVED unserved.example.com/v1beta1/A",
		"alphagone":  "warn VERSION_REMOVED alphagone.example.com/v1alpha1/A",
		"moved":      "break STORAGE_PREFIX_CHANGED moved.example.com/A",
		"storage": "warn PREFERRED_VERSION_CHANGED storage.example.com, warn STORAGE_VERSION_CHANGED " +
			"storage.example.com/A",
		"preferred": "info VERSION_ADDED preferred.example.com/v1/A",
		"chosen":    "warn PREFERRED_VERSION_CHANGED chosen.example.com",
	}
	got := map[string][]string{}
	findings := compat.Compare(loadtest.Program(t, strings.Join(old, "")), loadtest.Program(t, strings.Join(now, "")))
	for _, f := range findings {
		name, _, _ := strings.Cut(f.Group, ".")
		got[name] = append(got[name], fmt.Sprintf("%s %s %s", f.Level, f.Rule.ID, f.Subject()))
	}
	for name, list := range got {
		slices.Sort(list)
		if s := strings.Join(list, ", "); s != want[name] {
			t.Errorf("%s: found %s, want %s", name, s, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s: nothing was found", name)
	}
}
