package marker

import "apigen.dev/generator/model"

// schemaMarkers are the markers of schemas that have no prefix.
var schemaMarkers = []Definition{
	{Name: "optional", Places: values, Kind: OptionalText, OverriddenBy: []string{"k8s:required"},
		Set: Set{Value: setOptional}, Doc: "Lets clients leave the field out."},
	{Name: "required", Places: values, Kind: OptionalText, Check: model.Required, Contradicts: "optional",
		Set: Set{Value: setRequired}, Doc: "Requires the field. The server rejects objects without it."},
	{Name: "nullable", Places: values, Kind: OptionalText,
		Set: Set{Value: flag(func(s *model.Schema) *bool { return &s.Nullable })},
		Doc: "Allows null as a value of the field."},
	{Name: "default", Places: values, Kind: JSONOrConstant, Single: true,
		Set: Set{Type: setTypeDefault, Field: setDefault}, Read: Read{Packages: packageOfConstant},
		Doc: "Sets the value that the server gives the field where a client leaves it out: a JSON literal " +
			"(+default=\"TCP\", +default={}), or ref(Constant), a constant of this package or, with its path, of " +
			"another."},
	{Name: "enum", Places: Type, Kind: OptionalText, OverriddenBy: []string{"k8s:enum"},
		Claims: model.ConstantStrings, Set: Set{Type: setTypeEnum},
		Doc: "Lists the constants of the type as its legal values in the schema alone, as for kube-apiserver's " +
			"kinds. The server checks +k8s:enum."},
	{Name: "listType", Places: values, Kind: Word, Words: []string{"atomic", "set", "map"}, Single: true,
		Claims: model.MergedLists, Set: Set{Value: setListType},
		Doc: "Says how server-side apply merges the list: atomic as a whole, set by value, map by its listMapKey. " +
			"The server checks that the values of a set and the keys of a map are unique."},
	{Name: "listMapKey", Places: values, Kind: Text, Many: true, Set: Set{Value: addListMapKey},
		Doc: "Names a field that identifies the elements of a list of listType map. Repeat it for several fields."},
	{Name: "mapType", Places: values, Kind: Word, Words: []string{"atomic", "granular"}, Single: true,
		Claims: model.MergedObjects, Set: Set{Value: text(func(s *model.Schema) *string { return &s.MapType })},
		Doc: "Says how server-side apply merges the map."},
	{Name: "structType", Places: values, Kind: Word, Words: []string{"atomic", "granular"}, Single: true,
		Claims: model.MergedObjects, Set: Set{Value: text(func(s *model.Schema) *string { return &s.StructType })},
		Doc: "Says how server-side apply merges the struct."},
	{Name: "patchStrategy", Places: Field, Kind: Text, Ignored: copied, Many: true, Set: Set{Field: addPatchMarker},
		Doc: "Sets the strategy of a strategic merge patch."},
	{Name: "patchMergeKey", Places: Field, Kind: Text, Ignored: copied, Many: true, Set: Set{Field: addPatchMarker},
		Doc: "Sets the merge key of a strategic merge patch."},
}
