package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/object/wire"
	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEachField(t *testing.T) {
	message := wire.AppendInt32(nil, 1, -7)
	message = wire.AppendField(message, 2, []byte("text"))
	message = binary.LittleEndian.AppendUint64(append(message, 3<<3|1), 1)
	message = binary.LittleEndian.AppendUint32(append(message, 4<<3|5), 1)
	message = wire.AppendField(message, 5, "")
	var got []string
	err := wire.EachField(message, func(f wire.Field) error {
		got = append(got, fmt.Sprint(f.Number, int32(f.Varint), string(f.Bytes)))
		return nil
	})
	if want := "[1 -7 2 0text 3 0 4 0 5 0]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v", got, err)
	}
	stop := errors.New("stop")
	if err := wire.EachField(message, func(wire.Field) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	for name, data := range map[string]string{
		"tag": "\x80", "number": "\x08\x80", "length": "\x0a\x80", "short": "\x0a\x05abc", "fixed": "\x09\x01",
		"fixed32": "\x0d\x01",
		"group":   "\x0b", "zero": "\x02\x00", "huge": "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	} {
		if err := wire.EachField([]byte(data), func(wire.Field) error { return nil }); err == nil {
			t.Errorf("%s is a message", name)
		}
	}
}

// A string within messages is replaced by one of any length, and where it isn't what was expected nothing is.
func TestReplaceBytes(t *testing.T) {
	object := func(version string) []byte {
		partial := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: version,
			Labels: map[string]string{"a": "7"}}}
		data, err := partial.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, version := range []string{"8", "4611686018427387904", "", strings.Repeat("1", 300)} {
		got, ok := wire.ReplaceBytes(object("7"), []byte("7"), []byte(version), 1, 6)
		if want := object(version); !ok || !bytes.Equal(got, want) {
			t.Errorf("%q: %q %t, want %q", version, got, ok, want)
		}
	}
	for name, path := range map[string][]protowire.Number{"another": {1, 1}, "none": {1, 30}, "none above": {9, 6}} {
		if got, ok := wire.ReplaceBytes(object("7"), []byte("7"), []byte("8"), path...); ok {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got, ok := wire.ReplaceBytes([]byte("\x0a\x05abc"), []byte("7"), []byte("8"), 1, 6); ok {
		t.Errorf("of no message: %q", got)
	}
}

// FuzzEachField: whatever is a Status to k8s.io/apimachinery has fields that it can be put together of again.
func FuzzEachField(f *testing.F) {
	status, err := (&metav1.Status{Status: "Failure", Code: 404, Details: &metav1.StatusDetails{Name: "a"}}).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(status)
	f.Add([]byte("\x08\x80"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var whole, parts metav1.Status
		known := whole.Unmarshal(data)
		failed := wire.EachField(data, func(field wire.Field) error {
			if field.Bytes == nil && field.Number != 6 {
				return nil
			}
			one := wire.AppendInt32(nil, 6, int32(field.Varint))
			if field.Bytes != nil {
				if field.Number > 31 {
					return nil
				}
				one = wire.AppendField(nil, field.Number, field.Bytes)
			}
			return parts.Unmarshal(one)
		})
		if known == nil && failed == nil && whole.Message != parts.Message {
			t.Errorf("%q is not %q", parts.Message, whole.Message)
		}
	})
}

func TestEqualBut(t *testing.T) {
	meta := func(name, version string, managers ...string) []byte {
		m := wire.AppendField(wire.AppendField(nil, 1, name), 6, version)
		for _, manager := range managers {
			m = wire.AppendField(m, 17, manager)
		}
		return m
	}
	object := func(metadata []byte, spec string) []byte {
		return wire.AppendField(wire.AppendField(nil, 1, metadata), 2, spec)
	}
	a := object(meta("a", "7", "x", "y"), "s")
	for name, c := range map[string]struct {
		b    []byte
		path []protowire.Number
		want bool
	}{
		"the same":             {a, []protowire.Number{1, 6}, true},
		"another version":      {object(meta("a", "", "x", "y"), "s"), []protowire.Number{1, 6}, true},
		"another version, too": {object(meta("a", "", "x"), "s"), []protowire.Number{1, 6}, false},
		"fewer managers":       {object(meta("a", "7"), "s"), []protowire.Number{1, 17}, true},
		"another name":         {object(meta("b", "7", "x", "y"), "s"), []protowire.Number{1, 17}, false},
		"another spec":         {object(meta("a", "7", "x", "y"), "t"), []protowire.Number{1, 17}, false},
		"other metadata":       {object(meta("b", "8"), "s"), []protowire.Number{1}, true},
		"more": {wire.AppendField(object(meta("a", "7", "x", "y"), "s"), 3, "z"), []protowire.Number{1},
			false},
		"cut": {a[:len(a)-1], []protowire.Number{1}, false},
	} {
		if wire.EqualBut(a, c.b, c.path...) != c.want || wire.EqualBut(c.b, a, c.path...) != c.want {
			t.Errorf("%s: equal is %t", name, !c.want)
		}
	}
	if value, ok := wire.FindBytes(a, 1, 6); !ok || string(value) != "7" {
		t.Errorf("found %q, %t", value, ok)
	}
	if value, ok := wire.FindBytes(a, 1, 5); ok {
		t.Errorf("found %q", value)
	}
}

func TestCutEnvelope(t *testing.T) {
	head := wire.EnvelopeHead("Widget", "shop.example.com/v1")
	message := []byte("\x0a\x01m")
	whole := wire.Enveloped(head, message)
	if got, ok := wire.CutEnvelope(whole, head); !ok || string(got) != string(message) {
		t.Errorf("%q, %t", got, ok)
	}
	for name, data := range map[string][]byte{
		"cut":          whole[:len(whole)-1],
		"more":         append(bytes.Clone(whole), 0),
		"another kind": wire.Enveloped(wire.EnvelopeHead("Gadget", "shop.example.com/v1"), message),
		"no message":   []byte(head + wire.EnvelopeTail()),
		"nothing":      nil,
	} {
		if got, ok := wire.CutEnvelope(data, head); ok {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// BenchmarkReplaceBytes restamps an object, as a write whose answer was rendered before does.
func BenchmarkReplaceBytes(b *testing.B) {
	partial := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "a", Namespace: "default", ResourceVersion: "7", Labels: map[string]string{"a": "7"},
	}}
	data, err := partial.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := wire.ReplaceBytes(data, []byte("7"), []byte("12345"), 1, 6); !ok {
			b.Fatal("the version isn't found")
		}
	}
}

// BenchmarkAppendField writes an event's type.
func BenchmarkAppendField(b *testing.B) {
	buf := make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		buf = wire.AppendField(buf[:0], wire.EventTypeField, "MODIFIED")
	}
}
