package registry

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// EncodeTokenForTest makes any continue token, also one that the server never gave out.
func EncodeTokenForTest(revision int64, start string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"v":"meta.k8s.io/v1","rv":%d,"start":%q}`, revision,
		start))
}

// FilteredForTest returns the fields of a set, as managedFields hold it, that belong to a part.
func FilteredForTest(paths []string, data string) string {
	set := fieldpath.NewSet()
	if err := set.FromJSON(strings.NewReader(data)); err != nil {
		return err.Error()
	}
	part := Subresource[*metav1.PartialObjectMetadata]{Fields: map[string][]string{"v1": paths}}
	var out []string
	part.filter("v1").Filter(set).Iterate(func(p fieldpath.Path) { out = append(out, p.String()) })
	slices.Sort(out)
	return strings.Join(out, " ")
}
