package serving

import (
	"fmt"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// Column is a column of a version's Table.
type Column struct {
	model.Column
	// Call is the column's method; nil for a column with a path.
	Call *Call
	// Hub is the type that the method or function takes, if it isn't the version's own: one written for the hub
	// serves all versions, whose objects are converted for it.
	Hub *model.Type
	// Start is the type at which the column's steps begin: the version's, or the result of its method.
	Start *model.Type
	// Cell is how the value is shown.
	Cell Cell
	// Fault is why the column can't be generated, or nil.
	Fault error
	// end is the type of the value, pointers followed; nil where Go's types don't tell it.
	end *model.Type
}

// Cell is how a column shows a value.
type Cell uint8

// The ways to show a value.
const (
	EmptyCell Cell = iota // the value doesn't fit the column's type
	AgeCell
	DateCell // the age of a date in text
	IntegerCell
	NumberCell
	BooleanCell
	TextCell
	JSONCell
	AgedTextCell // text with an age in it, of the three results of a method
)

func (c Cell) String() string {
	return [...]string{"empty", "age", "date", "integer", "number", "boolean", "text", "JSON", "text with an age"}[c]
}

// Columns decides the columns of a version's type.
func Columns(t, hub *model.Type) []Column {
	if t.Kind == nil {
		return nil
	}
	var out []Column
	for _, marked := range t.Kind.Columns {
		c := Column{Column: marked, Start: t}
		if c.Method != "" {
			c.call(t, hub)
		}
		if c.Fault == nil && c.Cell == EmptyCell && (c.Method != "" || c.Steps != nil) {
			if c.end, c.Fault = pathEnd(c.Start, c.Steps); c.Fault == nil {
				c.Cell = cellOf(c.Type, c.end)
			}
		}
		out = append(out, c)
	}
	return out
}

// call finds the column's method: that of the version's type, or else that of the hub.
func (c *Column) call(t, hub *model.Type) {
	if c.Call, c.Fault = cellCall(t, c.Method); c.Fault != nil && hub != t {
		if call, err := cellCall(hub, c.Method); err == nil {
			c.Call, c.Hub, c.Fault = call, hub, nil
		}
	}
	if c.Start = nil; c.Call == nil {
		return
	}
	if c.Start = c.Call.Result; c.Call.Since == nil {
		return
	}
	if c.Cell = AgedTextCell; c.Type != "string" {
		c.Fault = fmt.Errorf("%s returns text with an age in it: write type=string", c.Method)
	}
}

func cellOf(column string, t *model.Type) Cell {
	switch {
	case column == "date" && isTime(t):
		return AgeCell
	case column == "date" && model.IsString(t):
		return DateCell
	case column == "integer" && (model.IsInteger(t) || isFloat(t)):
		return IntegerCell
	case column == "number" && (model.IsInteger(t) || isFloat(t)):
		return NumberCell
	case column == "boolean" && model.IsBool(t):
		return BooleanCell
	case column == "string" && model.IsString(t):
		return TextCell
	case column == "string":
		return JSONCell
	}
	return EmptyCell
}

// Warnings are the columns that are always empty.
func Warnings(columns []Column) (out diag.Errors) {
	for _, c := range columns {
		switch {
		case c.Method == "" && c.Steps == nil:
			out.Add(c.Pos, "column %q is always empty: Go's types don't tell where %s leads; write a method and "+
				"+apigen:printcolumn:name=%q,type=%s,method=", c.Name, c.JSONPath, c.Name, c.Type)
		case c.end != nil && c.Cell == EmptyCell:
			out.Add(c.Pos, "column %q is always empty: %s is no %s", c.Name, model.TypeText(c.end), c.Type)
		}
	}
	return out
}
