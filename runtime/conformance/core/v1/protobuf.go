package v1

import (
	"encoding/binary"
	"fmt"
	"math"

	"apigen.dev/runtime/internal/object/wire"
)

// What gogo/protobuf would generate, in short: metadata is field 1, text 2, ink 3, weight 4.

// Reset empties the memo.
func (m *Memo) Reset() { *m = Memo{} }

// Size is that of the message.
func (m *Memo) Size() int {
	data, err := m.Marshal()
	if err != nil {
		return 0
	}
	return len(data)
}

// Marshal writes the message.
func (m *Memo) Marshal() ([]byte, error) {
	metadata, err := m.ObjectMeta.Marshal()
	if err != nil {
		return nil, err
	}
	out := wire.AppendField(nil, 1, metadata)
	out = wire.AppendField(out, 2, m.Text)
	if m.Ink != nil {
		out = wire.AppendField(out, 3, m.Ink)
	}
	weight := binary.LittleEndian.AppendUint64(nil, math.Float64bits(m.Weight))
	return wire.AppendField(out, 4, weight), nil
}

// MarshalTo writes the message to data.
func (m *Memo) MarshalTo(data []byte) (int, error) {
	out, err := m.Marshal()
	return copy(data, out), err
}

// Unmarshal reads a message.
func (m *Memo) Unmarshal(data []byte) error {
	return eachField(data, func(number byte, value []byte) error {
		switch number {
		case 1:
			return m.ObjectMeta.Unmarshal(value)
		case 2:
			m.Text = string(value)
		case 3:
			m.Ink = append([]byte{}, value...)
		case 4:
			if len(value) != 8 {
				return fmt.Errorf("proto: Memo: weight has %d bytes", len(value))
			}
			m.Weight = math.Float64frombits(binary.LittleEndian.Uint64(value))
		}
		return nil
	})
}

// Reset empties the list.
func (m *MemoList) Reset() { *m = MemoList{} }

// Unmarshal reads a list, as clients do: servers write none whole.
func (m *MemoList) Unmarshal(data []byte) error {
	return eachField(data, func(number byte, value []byte) error {
		if number == 1 {
			return m.ListMeta.Unmarshal(value)
		}
		m.Items = append(m.Items, Memo{})
		return m.Items[len(m.Items)-1].Unmarshal(value)
	})
}

func eachField(data []byte, do func(number byte, value []byte) error) error {
	for len(data) > 0 {
		n, used := binary.Uvarint(data[1:])
		if used <= 0 || n > uint64(len(data)-1-used) {
			return fmt.Errorf("proto: unexpected EOF")
		}
		if err := do(data[0]>>3, data[1+used:1+used+int(n)]); err != nil {
			return err
		}
		data = data[1+used+int(n):]
	}
	return nil
}
