package registry_test

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// note is a kind that brings an encoding of its own, as the types of k8s.io/api bring protobuf.
type note struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Text              string `json:"text"`
}

func (n *note) DeepCopyObject() runtime.Object {
	out := &note{TypeMeta: n.TypeMeta, Text: n.Text}
	n.DeepCopyInto(&out.ObjectMeta)
	return out
}

func (n *note) Size() int { data, _ := n.Marshal(); return len(data) }

// written counts how many notes became messages.
var written atomic.Int64

func (n *note) Marshal() ([]byte, error) {
	written.Add(1)
	meta, err := n.ObjectMeta.Marshal()
	return wire.AppendField(wire.AppendField(nil, 1, meta), 2, n.Text), err
}

func (n *note) Unmarshal(data []byte) error {
	return wire.EachField(data, func(f wire.Field) error {
		if f.Number == 1 {
			return n.ObjectMeta.Unmarshal(f.Bytes)
		}
		n.Text = string(f.Bytes)
		return nil
	})
}

func notes(proto bool) registry.Resource {
	conversion := codec.Conversion[*note, *note]{New: func() *note { return &note{} }}
	if proto {
		conversion.Proto = codec.ProtoOf[*note]()
	}
	return registry.New(registry.Definition[*note]{
		Group: "shop.example.com", Names: api.Names{Kind: "Note", Plural: "notes"}, Scope: api.Namespaced,
		Storage:  "v1",
		New:      func() *note { return &note{} },
		Versions: []codec.Version[*note]{codec.VersionOf(api.VersionInfo{Name: "v1"}, conversion)},
	})
}

// What a server that stores protobuf left is read where the kind's types can, and written as JSON from then on; what is
// neither says what it looks like.
func TestForeignValues(t *testing.T) {
	const key = "/registry/shop.example.com/notes/ns/a"
	stored := note{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", UID: "u"}, Text: "hello"}
	message, err := stored.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	envelope := func(version string) []byte {
		unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: version, Kind: "Note"}, Raw: message}
		data, err := unknown.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return append([]byte(wire.Magic), data...)
	}
	for name, test := range map[string]struct {
		value []byte
		proto bool
		want  string // an error; "" is none
	}{
		"protobuf": {envelope("shop.example.com/v1"), true, ""},
		"protobuf of a type without it": {envelope("shop.example.com/v1"), false,
			"it is stored as Kubernetes protobuf, which the Go type of"},
		"protobuf of another version": {envelope("shop.example.com/v7"), true,
			`it says that it is kind "Note", apiVersion "shop.example.com/v7"`},
		"protobuf that is cut off": {envelope("shop.example.com/v1")[:9], true, "unexpected EOF"},
		"nothing":                  {nil, true, `it is no JSON: 0 bytes, which begin with ""`},
		"garbage": {[]byte("garbage, and more of it"), true,
			`it is no JSON: 23 bytes, which begin with "garbage, and mor"`},
		"JSON of nothing": {[]byte("null"), true, `it says that it is kind "", apiVersion ""`},
	} {
		t.Run(name, func(t *testing.T) {
			b := openOver(t, memory.New(), notes(test.proto), registry.Config{})
			if _, err := b.backend.Put(b.ctx(), key, test.value, 0, 0); err != nil {
				t.Fatal(err)
			}
			found, err := b.Get(b.ctx(), "ns", "a", "", v1)
			if test.want != "" {
				wantStatus(t, err, 500, metav1.StatusReasonInternalError, test.want)
				return
			}
			var got note
			if err != nil || json.Unmarshal([]byte(whole(found)), &got) != nil || got.Text != "hello" ||
				got.UID != "u" {
				t.Fatalf("%s, %v", whole(found), err)
			}
			if _, err := b.Patch(b.ctx(), "ns", "a", "", verb.MergePatch, body(`{}`),
				verb.WriteOptions{Form: v1}); err != nil {
				t.Fatal(err)
			}
			if now, _ := b.stored(key); !strings.HasPrefix(now, `{"kind":"Note","apiVersion":"shop.example.com/v1",`) ||
				!strings.Contains(now, `"text":"hello"`) {
				t.Errorf("stored %q", now)
			}
		})
	}
}
