package marker

import "slices"

// elementMarkers are controller-gen's markers for values, applied to the elements of a list.
var elementMarkers = elements("MinLength", "MaxLength", "Pattern", "Minimum", "Maximum", "ExclusiveMinimum",
	"ExclusiveMaximum", "MultipleOf", "MinItems", "MaxItems", "UniqueItems", "MinProperties", "MaxProperties", "Enum",
	"Format", "Type", "XValidation", "XEmbeddedResource", "XIntOrString", "XPreserveUnknownFields")

func elements(names ...string) []Definition {
	var out []Definition
	for _, d := range slices.Concat(valueMarkers, boundMarkers) {
		for _, name := range names {
			if d.Name == validation+name {
				out = append(out, Definition{
					Name: validation + "items:" + name, Places: d.Places, Kind: d.Kind, Keys: d.Keys, Bare: d.Bare,
					Element: d.Name, Read: Read{Needs: d.Read.Needs},
					Doc: "Applies to the elements of a list. " + d.Doc,
				})
			}
		}
	}
	return out
}
