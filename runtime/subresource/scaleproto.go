package subresource

import "apigen.dev/runtime/wire"

// A scale as Kubernetes protobuf: metadata, spec and status are the fields 1 to 3 of a Scale, replicas and selector 1
// and 2 of a spec and a status. All of them are written, also where they are empty, as k8s.io/api writes them.

// Size implements Message.
func (s *scaleObject) Size() int {
	data, err := s.Marshal()
	if err != nil {
		return 0
	}
	return len(data)
}

// Marshal implements Message.
func (s *scaleObject) Marshal() ([]byte, error) {
	metadata, err := s.ObjectMeta.Marshal()
	if err != nil {
		return nil, err
	}
	out := wire.AppendField(nil, 1, metadata)
	out = wire.AppendField(out, 2, wire.AppendInt32(nil, 1, s.Spec.Replicas))
	status := wire.AppendInt32(nil, 1, s.Status.Replicas)
	return wire.AppendField(out, 3, wire.AppendField(status, 2, s.Status.Selector)), nil
}

// Unmarshal implements Message.
func (s *scaleObject) Unmarshal(data []byte) error {
	return wire.EachField(data, func(f wire.Field) error {
		switch f.Number {
		case 1:
			return s.ObjectMeta.Unmarshal(f.Bytes)
		case 2:
			return wire.EachField(f.Bytes, func(f wire.Field) error {
				if f.Number == 1 {
					s.Spec.Replicas = int32(f.Varint)
				}
				return nil
			})
		case 3:
			return wire.EachField(f.Bytes, func(f wire.Field) error {
				switch f.Number {
				case 1:
					s.Status.Replicas = int32(f.Varint)
				case 2:
					s.Status.Selector = string(f.Bytes)
				}
				return nil
			})
		}
		return nil
	})
}
