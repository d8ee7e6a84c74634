package shop

import (
	"encoding/json"

	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/registry"
)

// InProtobuf is Definition with a protobuf encoding of the storage version.
func InProtobuf() registry.Definition[*Widget] {
	d := Definition()
	v1 := v1Conversion(nil)
	v1.Proto = codec.ProtoOf[*WidgetV1]()
	d.Versions[0] = codec.VersionOf(d.Versions[0].Info, v1)
	return d
}

// The fields of a widget's message. Spec and status are JSON inside.
const (
	metadataField = 1
	specField     = 2
	statusField   = 3
)

// Size returns the size of the widget's message.
func (w *WidgetV1) Size() int {
	data, err := w.Marshal()
	if err != nil {
		return 0
	}
	return len(data)
}

// Marshal encodes the widget as a protobuf message.
func (w *WidgetV1) Marshal() ([]byte, error) {
	metadata, err := w.ObjectMeta.Marshal()
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(w.Spec)
	if err != nil {
		return nil, err
	}
	status, err := json.Marshal(w.Status)
	message := wire.AppendField(nil, metadataField, metadata)
	message = wire.AppendField(message, specField, spec)
	return wire.AppendField(message, statusField, status), err
}

// Unmarshal decodes the widget from a protobuf message.
func (w *WidgetV1) Unmarshal(data []byte) error {
	return wire.EachField(data, func(f wire.Field) error {
		switch f.Number {
		case metadataField:
			return w.ObjectMeta.Unmarshal(f.Bytes)
		case specField:
			return json.Unmarshal(f.Bytes, &w.Spec)
		case statusField:
			return json.Unmarshal(f.Bytes, &w.Status)
		}
		return nil
	})
}
