package serving

import (
	"fmt"
	"go/token"
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
)

// Column is a column of a version's Table.
type Column struct {
	model.Column
	// Function is the function in the user's package that stands for the column's method, or nil.
	Function *model.Func
	// Hub is the type that the method or function takes, where it isn't the version's own: one written for the hub
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
)

func (c Cell) String() string {
	return [...]string{"empty", "age", "date", "integer", "number", "boolean", "text", "JSON"}[c]
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
			c.call(t)
		}
		if onHub := c; c.Fault != nil && hub != t {
			if onHub.call(hub); onHub.Fault == nil {
				c, c.Hub = onHub, hub
			}
		}
		if c.Fault == nil && (c.Method != "" || c.Steps != nil) {
			if c.end, c.Fault = pathEnd(c.Start, c.Steps); c.Fault == nil {
				c.Cell = cellOf(c.Type, c.end)
			}
		}
		out = append(out, c)
	}
	return out
}

// call finds the method of a type, or the function that stands for it, that returns the column's values.
func (c *Column) call(t *model.Type) {
	if c.Function, c.Fault = columnFunction(t, c.Column), nil; c.Function != nil {
		c.Start = c.Function.Results[0]
		return
	}
	c.Start, c.Fault = methodResult(t, c.Column)
}

// columnFunction returns the function of the user's that stands for a method of a kind of another module: it is named
// after the method and the kind, and its parameter is the object. Nil where there is none.
func columnFunction(t *model.Type, c model.Column) *model.Func {
	if t.Package.ServedBy == nil || c.Method == "" {
		return nil
	}
	f := t.Package.ServedBy.Func(c.Method + "_" + t.Name)
	if f == nil || f.Variadic || len(f.Params) != 1 || f.Params[0].Form != model.Pointer ||
		f.Params[0].Package != nil || f.Params[0].Elem != t || len(f.Results) != 1 {
		return nil
	}
	return f
}

func methodResult(t *model.Type, c model.Column) (*model.Type, error) {
	m := t.Methods[c.Method]
	switch {
	case m == nil && t.Package.ServedBy != nil:
		return nil, fmt.Errorf("package %s has no function %s_%s that fits: write `func %s_%s(obj *%s) string`",
			t.Package.ServedBy.Path, c.Method, t.Name, c.Method, t.Name, model.TypeText(t))
	case m == nil:
		return nil, fmt.Errorf("%s has no method %s: write `func (in *%s) %s() string`", t.Name, c.Method, t.Name,
			c.Method)
	case !token.IsExported(c.Method) && t.Package.ServedBy == nil:
		return nil, fmt.Errorf("method %s is not exported, and is called from another package: call it %s",
			c.Method, strings.ToUpper(c.Method[:1])+c.Method[1:])
	case len(m.Params) != 0 || len(m.Results) != 1:
		return nil, fmt.Errorf("method %s must take nothing and return one value, as `func (in *%s) %s() string` does",
			c.Method, t.Name, c.Method)
	}
	return m.Results[0], nil
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
