package marker

import "slices"

// table is every marker that apigen knows, in the order of the reference. A new marker is a row in one of the parts.
var table = slices.Concat(
	ownMarkers, controlMarkers, clientMarkers, schemaMarkers, validationMarkers, kubebuilderMarkers, valueMarkers,
	boundMarkers, elementMarkers, ignoredMarkers,
)

var byName = func() map[string]*Definition {
	m := make(map[string]*Definition, len(table))
	for i := range table {
		m[table[i].Name] = &table[i]
	}
	return m
}()

// Lookup returns the definition of that name, without the plus sign.
func Lookup(name string) (*Definition, bool) {
	d, ok := byName[name]
	return d, ok
}

// values are the places of markers that describe values.
const values = Type | Field
