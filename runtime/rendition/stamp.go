package rendition

import (
	"bytes"
	"slices"
	"strconv"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/wire"
)

// IsPlainJSON tells whether Stamp can set the resourceVersion of a form, which New locates.
func IsPlainJSON(form api.Form) bool {
	return form.Encoding == api.JSON && form.Shape.Plain() <= api.Metadata
}

// StampForm returns the rendition of a form with the resourceVersion to in the place of from. It returns false where it
// can't locate from without doubt.
func StampForm(r api.Rendition, form api.Form, from, to int64) (api.Rendition, bool) {
	old, digits := strconv.AppendInt(nil, from, 10), strconv.AppendInt(nil, to, 10)
	switch {
	case IsPlainJSON(form):
		return Stamp(r, to), (from == 0) == (r.VersionLen == 0)
	case form.Shape.Plain() >= api.Row:
		return stampRow(r, form, old, digits)
	case form.Encoding == api.CBOR:
		return stampCBOR(r, old, digits)
	case form.Encoding == api.Protobuf:
		payload, ok := wire.ReplaceBytes(r.Payload, old, digits, metadataField, versionField)
		r.Payload = payload
		return r, ok
	}
	return r, false
}

// stampRow gives up on a row with a cell that may show the resourceVersion.
func stampRow(r api.Rendition, form api.Form, old, digits []byte) (api.Rendition, bool) {
	at := int(r.VersionAt)
	switch {
	case bytes.Contains(cellsIn(r, form), old):
		return r, false
	case r.VersionLen == 0:
		return r, true
	case !bytes.HasPrefix(r.Payload[at:], old):
		return r, false
	}
	r.Payload = slices.Replace(bytes.Clone(r.Payload), at, at+int(r.VersionLen), digits...)
	r.VersionLen = uint32(len(digits))
	if form.Encoding == api.CBOR {
		r.Payload[at-1] = wire.ShortString(len(digits))
	}
	return r, true
}

// cellsIn returns the part of a row that has its cells, and perhaps more: in CBOR a hole for an age isn't counted as an
// item.
func cellsIn(r api.Rendition, form api.Form) []byte {
	if form.Encoding == api.CBOR {
		if start, end, err := wire.Find(r.Payload, "cells"); err == nil {
			return r.Payload[start:end]
		}
		return r.Payload
	}
	cells, _, _ := bytes.Cut(r.Payload, []byte(behindCells))
	return cells
}

func stampCBOR(r api.Rendition, old, digits []byte) (api.Rendition, bool) {
	start, end, err := wire.Find(r.Payload, MetadataKey, ResourceVersionKey)
	if err != nil {
		return r, false
	}
	if found, err := wire.String(r.Payload[start:end]); err != nil || found != string(old) {
		return r, false
	}
	r.Payload = slices.Concat(r.Payload[:start], wire.AppendString(nil, string(digits)), r.Payload[end:])
	return r, true
}

// The fields of metadata in a Kubernetes object, and of resourceVersion in metadata.
const (
	metadataField = 1
	versionField  = 6
)
