package plan

import (
	"apigen.dev/generator/model"
)

// Counterpart is the field of the other type that the field is: the one that +apigen:conversion:name names, on
// whichever of the two it stands, else that of the same name. Nil where there is none.
func Counterpart(other *model.Type, f *model.Field) *model.Field {
	if f.ConversionName != "" {
		return fieldNamed(other, f.ConversionName)
	}
	for _, g := range other.Fields {
		if g.ConversionName == f.Name {
			return g
		}
	}
	if g := fieldNamed(other, f.Name); g != nil && g.ConversionName == "" {
		return g
	}
	return nil
}

func fieldNames(t *model.Type) []string {
	var out []string
	for _, f := range t.Fields {
		if f.Exported {
			out = append(out, f.Name)
		}
	}
	return out
}

// spokes tells whether the type is the spoke's, and not the hub's.
func (t *planner) spokes(typ *model.Type) bool {
	return typ.Package != nil && typ.Package.Path == t.Types.Path
}
