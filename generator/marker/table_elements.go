package marker

// elementMarkers say of the elements of a list what controller-gen's markers for values say of these.
var elementMarkers = elements(
	"MinLength", "MaxLength", "Pattern", "Minimum", "Maximum", "ExclusiveMinimum", "ExclusiveMaximum", "MultipleOf",
	"MinItems", "MaxItems", "UniqueItems", "MinProperties", "MaxProperties", "Enum", "Format", "Type", "XValidation",
	"XEmbeddedResource", "XIntOrString", "XPreserveUnknownFields",
)

func elements(names ...string) []Definition {
	var out []Definition
	for _, name := range names {
		for _, d := range valueMarkers {
			if d.Name == validation+name {
				out = append(out, Definition{
					Name: validation + "items:" + name, Places: d.Places, Kind: d.Kind, Keys: d.Keys, Bare: d.Bare,
					Element: d.Name, Read: Read{Needs: d.Read.Needs}, Doc: "For the elements of a list. " + d.Doc,
				})
			}
		}
	}
	return out
}
