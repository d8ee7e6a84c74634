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
// their items in another field. In CBOR it depends on the resource whether items have heads.
func Joins(form api.Form) bool {
	return form.Encoding == api.JSON ||
		form.Encoding == api.Protobuf && (form.Shape == api.Whole || form.Shape == api.Metadata)
}

// AppendItem appends an item to a list, in a form that Joins. The bytes end with the payload.
func AppendItem(list []byte, r *api.Rendition, form api.Form) []byte {
	if form.Encoding == api.Protobuf {
		return wire.AppendField(list, wire.ItemField, r.Payload)
	}
	list = append(list, '{')
	if form.Shape != api.Whole {
		list = append(list, r.Head...)
	}
	return append(list, r.Payload...)
}
