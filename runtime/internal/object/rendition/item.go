package rendition

import (
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
)

// Separator is what stands between the items of a list.
func Separator(encoding verb.Encoding) string {
	if encoding == verb.JSON {
		return ","
	}
	return ""
}

// Joins reports whether AppendItem can append renditions of a form. In protobuf, lists of meta.k8s.io/v1beta1 have
// their items in another field. In CBOR, rows have ages in texts that begin with their length.
func Joins(form verb.Form) bool {
	switch form.Encoding {
	case verb.Protobuf:
		return form.Shape == verb.Whole || form.Shape == verb.Metadata
	case verb.CBOR:
		return form.Shape.Plain() <= verb.Metadata
	}
	return true
}

// AppendItem appends an item to a list, in a form that Joins. heads reports whether whole objects in CBOR have kind and
// apiVersion there: those of a custom resource. The bytes end with the payload, or with the payload behind its head.
func AppendItem(list []byte, r *verb.Rendition, form verb.Form, heads bool) []byte {
	switch {
	case form.Encoding == verb.Protobuf:
		return wire.AppendField(list, wire.ItemField, r.Payload)
	case form.Encoding == verb.CBOR && form.Shape == verb.Whole && !heads:
		return append(list, r.Payload...)
	case form.Encoding == verb.CBOR:
		return appendWithHead(list, r)
	}
	list = append(list, '{')
	if form.Shape != verb.Whole {
		list = append(list, r.Head...)
	}
	return append(list, r.Payload...)
}

// appendWithHead appends an object in CBOR with its kind and apiVersion: the map that is its payload with two more
// members.
func appendWithHead(list []byte, r *verb.Rendition) []byte {
	members, rest, err := wire.MapHead(r.Payload)
	if err != nil || r.Head == "" {
		return append(list, r.Payload...)
	}
	list = append(wire.AppendMap(list, members+2), r.Head...)
	return append(list, rest...)
}
