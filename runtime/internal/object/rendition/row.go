package rendition

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/cell"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// NameColumn and AgeColumn are the columns of a version that declares none. A version that declares columns has the
// name before them, unless one of them has the format "name".
var (
	NameColumn = api.Column{Name: "Name", Type: "string", Format: "name",
		Description: "The name of the object, unique among the objects of its kind in its namespace."}
	AgeColumn = api.Column{Name: "Age", Type: "date",
		Description: "The time that has passed since the object was created."}
)

// Columns completes the columns that a version declares.
func Columns(declared []api.Column) []api.Column {
	if len(declared) == 0 {
		return []api.Column{NameColumn, AgeColumn}
	}
	if named(declared) {
		return declared
	}
	return append([]api.Column{NameColumn}, declared...)
}

// Cells completes the cells of an object in the same way.
func Cells(obj api.Object, declared []api.Column, cells []api.Cell) []api.Cell {
	if len(declared) == 0 {
		return []api.Cell{api.Text(obj.GetName()), api.Age(obj.GetCreationTimestamp().Time)}
	}
	if named(declared) {
		return cells
	}
	return append([]api.Cell{api.Text(obj.GetName())}, cells...)
}

// named reports whether a version places the column with the name itself.
func named(declared []api.Column) bool {
	return slices.ContainsFunc(declared, func(c api.Column) bool { return c.Format == "name" })
}

// behindCells separates the cells of a row from its object. Within a cell its quotes would be escaped.
const behindCells = `],"object":`

// Row renders a table row with its object; nil is none.
func Row(cells []api.Cell, object *verb.Rendition) (verb.Rendition, error) {
	row := verb.Rendition{Payload: []byte(`"cells":[`)}
	for i, c := range cells {
		if i > 0 {
			row.Payload = append(row.Payload, ',')
		}
		if err := appendCell(&row, c); err != nil {
			return verb.Rendition{}, err
		}
	}
	row.Payload = append(row.Payload, behindCells...)
	if object == nil {
		row.Payload = append(row.Payload, `null}`...)
		return row, nil
	}
	payload := make([]byte, 0,
		len(row.Payload)+len("{}")+len(object.Head)+len(object.Payload)) // it is kept: no more than it takes
	payload = append(append(append(payload, row.Payload...), '{'), object.Head...)
	row.VersionAt, row.VersionLen = uint32(len(payload))+object.VersionAt, object.VersionLen
	row.Payload = append(append(payload, object.Payload...), '}')
	return row, nil
}

// WithoutObject returns a row without its object.
func WithoutObject(row *verb.Rendition, encoding verb.Encoding) *verb.Rendition {
	at, nothing := bytes.Index(row.Payload, []byte(behindCells))+len(behindCells), []byte("null}")
	if encoding == verb.CBOR {
		at, _, _ = wire.Find(row.Payload, "object") // a row has one
		nothing = wire.AppendNull(nil)
	}
	return &verb.Rendition{Head: row.Head, Payload: slices.Concat(row.Payload[:at], nothing), Holes: row.Holes}
}

func appendCell(row *verb.Rendition, c api.Cell) error {
	switch c.Kind {
	case cell.Text:
		text, err := json.Marshal(c.Text)
		if err != nil {
			return err
		}
		row.Payload = append(row.Payload, text...)
	case cell.Int:
		row.Payload = strconv.AppendInt(row.Payload, c.Int, 10)
	case cell.Number:
		if math.IsNaN(c.Number) || math.IsInf(c.Number, 0) {
			row.Payload = append(row.Payload, "null"...)
			return nil
		}
		row.Payload = strconv.AppendFloat(row.Payload, c.Number, 'g', -1, 64)
	case cell.True:
		row.Payload = append(row.Payload, "true"...)
	case cell.False:
		row.Payload = append(row.Payload, "false"...)
	case cell.Age:
		return appendAge(row, c)
	default:
		row.Payload = append(row.Payload, "null"...)
	}
	return nil
}

func appendAge(row *verb.Rendition, c api.Cell) error {
	before, err := json.Marshal(c.Text)
	if err != nil {
		return err
	}
	after, err := json.Marshal(c.After)
	if err != nil {
		return err
	}
	row.Payload = append(row.Payload, before[:len(before)-1]...)
	row.Holes = append(row.Holes, verb.Hole{At: uint32(len(row.Payload)), Since: c.Time})
	row.Payload = append(row.Payload, after[1:]...)
	return nil
}

// RowCBOR is Row in CBOR, with the object in CBOR.
func RowCBOR(cells []api.Cell, object *verb.Rendition) (verb.Rendition, error) {
	var row verb.Rendition
	row.Payload = wire.AppendMap(nil, 2)
	row.Payload = wire.AppendString(row.Payload, "cells")
	row.Payload = wire.AppendArray(row.Payload, len(cells))
	for _, c := range cells {
		if err := appendCBORCell(&row, c); err != nil {
			return verb.Rendition{}, err
		}
	}
	row.Payload = wire.AppendString(row.Payload, "object")
	if object == nil {
		row.Payload = wire.AppendNull(row.Payload)
		return row, nil
	}
	members, rest, err := wire.MapHead(object.Payload)
	if err != nil {
		return verb.Rendition{}, err
	}
	row.Payload = wire.AppendMap(row.Payload, members+2)
	row.Payload = append(row.Payload, object.Head...)
	moved := len(row.Payload) - (len(object.Payload) - len(rest))
	row.Payload = append(row.Payload, rest...)
	if start, end, err := wire.Find(object.Payload, "metadata", "resourceVersion"); err == nil {
		version, err := wire.String(object.Payload[start:end])
		if err == nil && version != "" {
			row.VersionAt, row.VersionLen = uint32(moved+end-len(version)), uint32(len(version))
		}
	}
	return row, nil
}

func appendCBORCell(row *verb.Rendition, c api.Cell) error {
	switch c.Kind {
	case cell.Text:
		row.Payload = wire.AppendString(row.Payload, c.Text)
	case cell.Int:
		row.Payload = wire.AppendInt(row.Payload, c.Int)
	case cell.Number:
		if math.IsNaN(c.Number) || math.IsInf(c.Number, 0) {
			row.Payload = wire.AppendNull(row.Payload)
			return nil
		}
		number, err := direct.Marshal(c.Number)
		if err != nil {
			return err
		}
		row.Payload = append(row.Payload, number...)
	case cell.True, cell.False:
		row.Payload = wire.AppendBool(row.Payload, c.Kind == cell.True)
	case cell.Age:
		begin := len(row.Payload)
		row.Payload = wire.AppendString(row.Payload, c.Text+c.After)
		at := len(row.Payload) - len(c.After)
		row.Holes = append(row.Holes, verb.Hole{At: uint32(at), Within: uint32(at - begin), Since: c.Time})
	default:
		row.Payload = wire.AppendNull(row.Payload)
	}
	return nil
}
