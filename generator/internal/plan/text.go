package plan

import (
	"fmt"

	"apigen.dev/generator/internal/model"
)

// String says what becomes of the field.
func (f *FieldMove) String() string {
	if f.Fate != Moved {
		return f.Field.Name + ": " + f.Fate.String()
	}
	return f.Field.Name + " -> " + f.To.Name + ": " + f.Move.String()
}

// String says how the value is converted, from the outside in: slice: Convert_v1_Part_To_shop_Part.
func (m *Move) String() string {
	text := m.Kind.String()
	switch {
	case m.Kind == Call && m.By.Drop:
		return "call " + m.By.Name + ", which drops it"
	case m.Kind == Call:
		return "call " + m.By.Name
	case m.Kind == CallConversion && m.Home != nil:
		return m.Pair.Function() + " of another package"
	case m.Kind == CallConversion:
		return m.Pair.Function()
	case m.Kind == Cast:
		return "cast to " + model.TypeText(m.Out)
	case m.Kind == Number && m.Checked:
		return model.TypeText(m.Out) + " of " + model.TypeText(m.In) + ", checked"
	case m.Kind == Number:
		return model.TypeText(m.Out) + " of " + model.TypeText(m.In)
	case m.Kind == InPlace:
		return fmt.Sprint(text, " ", m.Conversion.Fields)
	case m.Elem != nil:
		return text + ": " + m.Elem.String()
	}
	return text
}
