package marker

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

// bound is a keyword of OpenAPI that both Kubernetes and controller-gen have a marker for, named after the check:
// +k8s:minLength and +kubebuilder:validation:MinLength. Of both on one value, that of controller-gen counts.
type bound struct {
	check model.Check
	kind  Kind
	doc   string
	// refine completes the rule of controller-gen, whose bounds another marker can make exclusive.
	refine func(*model.Rule, *Use, *model.Schema)
}

var bounds = []bound{
	{model.Minimum, Number, "Sets the least value.", exclusiveMinimum},
	{model.Maximum, Number, "Sets the greatest value.", exclusiveMaximum},
	{model.MinLength, Int, "Sets the least number of characters.", nil},
	{model.MaxLength, Int, "Sets the greatest number of characters.", nil},
	{model.MinItems, Int, "Sets the least number of elements.", nil},
	{model.MaxItems, Int, "Sets the greatest number of elements.", nil},
	{model.MinProperties, Int, "Sets the least number of entries of a map, or of properties of an object.", nil},
	{model.MaxProperties, Int, "Sets the greatest number of entries of a map, or of properties of an object.", nil},
}

var boundMarkers = func() []Definition {
	var kubernetes, kubebuilder []Definition
	for _, b := range bounds {
		d := Definition{Places: values, Kind: b.kind, Rule: Rule{Check: b.check}, Set: Set{Value: limit(b.check)},
			Doc: b.doc}
		d.Name, d.Refine = validation+strings.ToUpper(string(b.check[:1]))+string(b.check[1:]), b.refine
		kubebuilder = append(kubebuilder, d)
		d.Name, d.Refine, d.OverriddenBy = "k8s:"+string(b.check), nil, []string{d.Name}
		kubernetes = append(kubernetes, d)
	}
	return slices.Concat(kubernetes, kubebuilder)
}()

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
