// Package rendition edits encoded objects without decoding them: it stamps resourceVersions, cuts and inserts members,
// applies merge patches, and writes heads, metadata and rows of tables.
//
// It may know packages api, cell, verb and wire.
package rendition

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
)

const (
	versionKey      = `"resourceVersion":"`
	maxRenditionLen = 1<<32 - 1

	// MetadataKey is the key of the metadata of an object in JSON and CBOR.
	MetadataKey = "metadata"
	// ResourceVersionKey is the key of the resourceVersion in the metadata.
	ResourceVersionKey = "resourceVersion"
)

// New splits a whole object, in JSON or in protobuf, as its head says, into head and payload. In JSON it finds the
// resourceVersion. The payload shares memory with object.
func New(object []byte, head string) (verb.Rendition, error) {
	if wire.IsEnvelope(head) {
		return newMessage(object, head)
	}
	object = bytes.TrimRight(object, "\n")
	if len(object) < 2 || object[0] != '{' || len(object) > maxRenditionLen {
		return verb.Rendition{}, fmt.Errorf("not a JSON object of an acceptable size (%d bytes)", len(object))
	}
	payload := object[1:]
	if head != "" {
		if !bytes.HasPrefix(payload, []byte(head)) {
			return verb.Rendition{}, fmt.Errorf("the object doesn't begin with %s", head)
		}
		payload = payload[len(head):]
	}
	r := verb.Rendition{Head: head, Payload: payload}
	if inside, ok := InsideMetadata(payload, 0); ok {
		r.VersionAt, r.VersionLen = findVersion(payload, inside)
	}
	return r, nil
}

// findVersion locates the digits of resourceVersion in the metadata whose members begin at data[inside].
func findVersion(data []byte, inside int) (at, n uint32) {
	start, end, ok := Member(data, inside, ResourceVersionKey)
	if !ok || data[start] != '"' {
		return 0, 0
	}
	return uint32(start + 1), uint32(end - start - 2)
}

// Stamp returns a copy of r with revision as its resourceVersion, where encoding/json would write it: after the members
// of ObjectMeta that precede it. It returns a rendition without metadata as it is.
func Stamp(r verb.Rendition, revision int64) verb.Rendition {
	if r.VersionLen > 0 || IsMessage(r) {
		return Restamp(r, revision)
	}
	inside, ok := InsideMetadata(r.Payload, 0)
	if !ok {
		return r
	}
	at, first, empty := inside, true, true
	Members(r.Payload, inside, func(key []byte, _, end int) bool {
		empty = false
		switch string(key) {
		case "name", "generateName", "namespace", "selfLink", "uid":
			at, first = end, false
		}
		return true
	})
	return splice(r, at, first, empty, revision)
}

func splice(r verb.Rendition, at int, first, empty bool, revision int64) verb.Rendition {
	var number [20]byte
	digits := strconv.AppendInt(number[:0], revision, 10)
	payload := make([]byte, 0, len(r.Payload)+len(versionKey)+len(digits)+2)
	payload = append(payload, r.Payload[:at]...)
	if !first {
		payload = append(payload, ',')
	}
	payload = append(payload, versionKey...)
	r.VersionAt, r.VersionLen = uint32(len(payload)), uint32(len(digits))
	payload = append(payload, digits...)
	payload = append(payload, '"')
	if first && !empty {
		payload = append(payload, ',')
	}
	r.Payload = append(payload, r.Payload[at:]...)
	return r
}

// Restamp returns the same object with another resourceVersion.
func Restamp(r verb.Rendition, revision int64) verb.Rendition {
	var number [20]byte
	digits := strconv.AppendInt(number[:0], revision, 10)
	if IsMessage(r) {
		return stampMessage(r, digits)
	}
	if r.VersionLen == 0 {
		return r
	}
	before, after := r.Payload[:r.VersionAt], r.Payload[r.VersionAt+r.VersionLen:]
	grown := len(digits) - int(r.VersionLen)
	if grown != 0 && len(r.Holes) > 0 {
		r.Holes = moveHoles(r.Holes, r.VersionAt, grown)
	}
	r.Payload, r.VersionLen = slices.Concat(before, digits, after), uint32(len(digits))
	return r
}

func moveHoles(holes []verb.Hole, behind uint32, by int) []verb.Hole {
	moved := make([]verb.Hole, len(holes))
	for i, h := range holes {
		if h.At > behind {
			h.At = uint32(int(h.At) + by)
		}
		moved[i] = h
	}
	return moved
}

// unversioned returns the span of the resourceVersion in a payload, including a comma. Stored bytes lack it.
func unversioned(r verb.Rendition) (from, to int) {
	if r.VersionLen == 0 {
		return len(r.Payload), len(r.Payload)
	}
	from, to = int(r.VersionAt)-len(versionKey), int(r.VersionAt+r.VersionLen)+1
	switch {
	case to < len(r.Payload) && r.Payload[to] == ',':
		to++
	case from > 0 && r.Payload[from-1] == ',':
		from--
	}
	return from, to
}

// Stored returns a whole object without a resourceVersion as it is stored: JSON ends with a newline.
func Stored(object []byte) []byte {
	if wire.IsEnvelope(object) {
		return object
	}
	return append(bytes.TrimRight(object, "\n"), '\n')
}

// StoredForm returns the object of r as it is stored: whole, without resourceVersion, in JSON with a newline.
func StoredForm(r verb.Rendition) []byte {
	if IsMessage(r) {
		return Whole(stampMessage(r, nil))
	}
	from, to := unversioned(r)
	data := make([]byte, 0, 2+len(r.Head)+len(r.Payload))
	data = append(data, '{')
	data = append(data, r.Head...)
	data = append(data, r.Payload[:from]...)
	data = append(data, r.Payload[to:]...)
	return append(data, '\n')
}

// IsStoredForm reports whether stored bytes are what StoredForm would return, without building it.
func IsStoredForm(r verb.Rendition, stored []byte) bool {
	if IsMessage(r) {
		return isStoredMessage(r, stored)
	}
	from, to := unversioned(r)
	stored, ok := bytes.CutPrefix(bytes.TrimRight(stored, "\n"), []byte{'{'})
	if !ok || len(stored) != len(r.Head)+len(r.Payload)-(to-from) || string(stored[:len(r.Head)]) != r.Head {
		return false
	}
	stored = stored[len(r.Head):]
	return bytes.Equal(stored[:from], r.Payload[:from]) && bytes.Equal(stored[from:], r.Payload[to:])
}

// Whole returns the object of r: in JSON with its braces and head, in protobuf in its envelope.
func Whole(r verb.Rendition) []byte {
	if IsMessage(r) {
		return wire.Enveloped(r.Head, r.Payload)
	}
	data := make([]byte, 0, 1+len(r.Head)+len(r.Payload))
	data = append(data, '{')
	data = append(data, r.Head...)
	return append(data, r.Payload...)
}

var errNoMetadata = errors.New("the object has no metadata")

// Metadata returns the object of r, in JSON, as PartialObjectMetadata, in the version of a shape.
func Metadata(r verb.Rendition, shape verb.Shape) (verb.Rendition, error) {
	start, end, ok := Member(r.Payload, 0, MetadataKey)
	if !ok || r.Payload[start] != '{' {
		return verb.Rendition{}, errNoMetadata
	}
	payload := make([]byte, 0, len(`"metadata":}`)+end-start)
	payload = append(payload, `"metadata":`...)
	payload = append(payload, r.Payload[start:end]...)
	payload = append(payload, '}')
	m := verb.Rendition{Head: metadataHead(verb.JSON, shape), Payload: payload}
	m.VersionAt, m.VersionLen = findVersion(payload, len(`"metadata":{`))
	return m, nil
}

// IsPlainJSON reports whether Stamp can set the resourceVersion of a form, which New locates.
func IsPlainJSON(form verb.Form) bool {
	return form.Encoding == verb.JSON && form.Shape.Plain() <= verb.Metadata
}

// StampForm returns the rendition of a form with the resourceVersion to in the place of from. It returns false where it
// can't locate from without doubt.
func StampForm(r verb.Rendition, form verb.Form, from, to int64) (verb.Rendition, bool) {
	old, digits := strconv.AppendInt(nil, from, 10), strconv.AppendInt(nil, to, 10)
	switch {
	case IsPlainJSON(form):
		return Stamp(r, to), (from == 0) == (r.VersionLen == 0)
	case form.Shape.Plain() >= verb.Row:
		return stampRow(r, form, old, digits)
	case form.Encoding == verb.CBOR:
		return stampCBOR(r, old, digits)
	case form.Encoding == verb.Protobuf:
		payload, ok := wire.ReplaceBytes(r.Payload, old, digits, metadataField, versionField)
		r.Payload = payload
		return r, ok
	}
	return r, false
}

// stampRow gives up on a row with a cell that may show the resourceVersion.
func stampRow(r verb.Rendition, form verb.Form, old, digits []byte) (verb.Rendition, bool) {
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
	if form.Encoding == verb.CBOR {
		r.Payload[at-1] = wire.ShortString(len(digits))
	}
	return r, true
}

// cellsIn returns the part of a row that has its cells, and perhaps more.
func cellsIn(r verb.Rendition, form verb.Form) []byte {
	if form.Encoding == verb.CBOR {
		if start, end, err := wire.Find(r.Payload, "cells"); err == nil {
			return r.Payload[start:end]
		}
		return r.Payload
	}
	cells, _, _ := bytes.Cut(r.Payload, []byte(behindCells))
	return cells
}

func stampCBOR(r verb.Rendition, old, digits []byte) (verb.Rendition, bool) {
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
