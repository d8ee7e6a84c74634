package rendition

import (
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/wire"
)

// Separator is what stands between the items of a list.
func Separator(encoding api.Encoding) string {
	if encoding == api.JSON {
		return ","
	}
	return ""
}

// Joins reports whether AppendItem can append renditions of a form. In protobuf, lists of meta.k8s.io/v1beta1 have
// their items in another field. In CBOR, rows have ages in texts that begin with their length.
func Joins(form api.Form) bool {
	switch form.Encoding {
	case api.Protobuf:
		return form.Shape == api.Whole || form.Shape == api.Metadata
	case api.CBOR:
		return form.Shape.Plain() <= api.Metadata
	}
	return true
}

// AppendItem appends an item to a list, in a form that Joins. heads reports whether whole objects in CBOR have kind and
// apiVersion there: those of a custom resource. The bytes end with the payload, or with the payload behind its head.
func AppendItem(list []byte, r *api.Rendition, form api.Form, heads bool) []byte {
	switch {
	case form.Encoding == api.Protobuf:
		return wire.AppendField(list, wire.ItemField, r.Payload)
	case form.Encoding == api.CBOR && form.Shape == api.Whole && !heads:
		return append(list, r.Payload...)
	case form.Encoding == api.CBOR:
		return appendWithHead(list, r)
	}
	list = append(list, '{')
	if form.Shape != api.Whole {
		list = append(list, r.Head...)
	}
	return append(list, r.Payload...)
}

// appendWithHead appends an object in CBOR with its kind and apiVersion: the map that is its payload with two more
// members.
func appendWithHead(list []byte, r *api.Rendition) []byte {
	members, rest, err := wire.MapHead(r.Payload)
	if err != nil || r.Head == "" {
		return append(list, r.Payload...)
	}
	list = append(wire.AppendMap(list, members+2), r.Head...)
	return append(list, rest...)
}
