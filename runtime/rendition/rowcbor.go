package rendition

import (
	"math"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/wire"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// RowCBOR is Row in CBOR, with the object in CBOR.
func RowCBOR(cells []api.Cell, object *api.Rendition) (api.Rendition, error) {
	var row api.Rendition
	row.Payload = wire.AppendMap(nil, 2)
	row.Payload = wire.AppendString(row.Payload, "cells")
	row.Payload = wire.AppendArray(row.Payload, len(cells))
	for _, c := range cells {
		if err := appendCBORCell(&row, c); err != nil {
			return api.Rendition{}, err
		}
	}
	row.Payload = wire.AppendString(row.Payload, "object")
	if object == nil {
		row.Payload = wire.AppendNull(row.Payload)
		return row, nil
	}
	members, rest, err := wire.MapHead(object.Payload)
	if err != nil {
		return api.Rendition{}, err
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

func appendCBORCell(row *api.Rendition, c api.Cell) error {
	switch c.Kind {
	case api.TextCell:
		row.Payload = wire.AppendString(row.Payload, c.Text)
	case api.IntCell:
		row.Payload = wire.AppendInt(row.Payload, c.Int)
	case api.NumberCell:
		if math.IsNaN(c.Number) || math.IsInf(c.Number, 0) {
			row.Payload = wire.AppendNull(row.Payload)
			return nil
		}
		number, err := direct.Marshal(c.Number)
		if err != nil {
			return err
		}
		row.Payload = append(row.Payload, number...)
	case api.TrueCell, api.FalseCell:
		row.Payload = wire.AppendBool(row.Payload, c.Kind == api.TrueCell)
	case api.AgeCell:
		row.Holes = append(row.Holes, api.Hole{At: uint32(len(row.Payload)), Since: c.Time})
	default:
		row.Payload = wire.AppendNull(row.Payload)
	}
	return nil
}
