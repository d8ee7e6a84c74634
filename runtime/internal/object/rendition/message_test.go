package rendition

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var messageHead = Head(verb.Protobuf, "Label", "label.example.com/v1")

func labelled(version string, annotation int) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "a", Namespace: "ns", UID: "u", ResourceVersion: version,
		Annotations:   map[string]string{"note": strings.Repeat("x", annotation)},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
	}}
}

func asMessage(t *testing.T, object *metav1.PartialObjectMetadata) verb.Rendition {
	t.Helper()
	message, err := object.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(wire.Enveloped(messageHead, message), messageHead)
	if err != nil || !bytes.Equal(r.Payload, message) || !IsMessage(r) {
		t.Fatalf("%q, %v", r.Payload, err)
	}
	return r
}

// A message is stamped, and stored, as marshaling the object again would do it, whatever lengths change by that.
func TestMessagesAreStamped(t *testing.T) {
	for _, size := range []int{0, 60, 70, 80, 90, 16200, 16250, 16300, 16350} {
		plain := asMessage(t, labelled("", size))
		stored := Whole(plain)
		last := plain
		for _, revision := range []int64{1, 99, 1 << 40, 7, 1<<63 - 1} {
			want := asMessage(t, labelled(strconv.FormatInt(revision, 10), size))
			if got := Stamp(plain, revision); !bytes.Equal(got.Payload, want.Payload) || got.Head != want.Head {
				t.Fatalf("%d bytes at %d: stamped %q, want %q", size, revision, got.Payload, want.Payload)
			}
			if last = Restamp(last, revision); !bytes.Equal(last.Payload, want.Payload) {
				t.Fatalf("%d bytes at %d: restamped %q, want %q", size, revision, last.Payload, want.Payload)
			}
			if !bytes.Equal(StoredForm(last), stored) || !IsStoredForm(last, stored) {
				t.Fatalf("%d bytes at %d: the stored form is %q, want %q", size, revision, StoredForm(last), stored)
			}
		}
		for name, other := range map[string][]byte{
			"with a version":    Whole(last),
			"of another object": Whole(asMessage(t, labelled("", size+1))),
			"in JSON":           []byte("{}\n"),
			"of another kind":   wire.Enveloped(Head(verb.Protobuf, "Tag", "label.example.com/v1"), plain.Payload),
			"cut":               stored[:len(stored)-5],
			"empty":             nil,
		} {
			if IsStoredForm(last, other) {
				t.Errorf("%d bytes: a value %s is the stored form", size, name)
			}
		}
	}
}

func TestMessagesCompare(t *testing.T) {
	a := Whole(asMessage(t, labelled("", 10)))
	owned := labelled("", 10)
	owned.ManagedFields[0].Manager = "other"
	b, c := Whole(asMessage(t, owned)), Whole(asMessage(t, labelled("", 11)))
	if !EqualButManagedFields(a, b) || EqualButManagedFields(a, c) {
		t.Error("managedFields are compared, or nothing else is")
	}
	if !EqualButMetadata(a, c) || EqualButMetadata(a, []byte(`{}`)) {
		t.Error("metadata is compared, or JSON is equal")
	}
}

func TestMetadataOfMessages(t *testing.T) {
	object := labelled("7", 10)
	message := asMessage(t, object)
	message.Payload = wire.AppendField(message.Payload, 2, "a spec")
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := New(data, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, encoding := range []verb.Encoding{verb.JSON, verb.CBOR, verb.Protobuf} {
		for _, shape := range []verb.Shape{verb.Metadata, verb.Metadata | verb.V1beta1} {
			want, err := MetadataIn(encoding, plain, shape)
			if err != nil {
				t.Fatal(err)
			}
			got, err := MetadataIn(encoding, message, shape)
			if err != nil || got.Head != want.Head || !bytes.Equal(got.Payload, want.Payload) ||
				got.VersionAt != want.VersionAt || got.VersionLen != want.VersionLen {
				t.Errorf("in %v: %+v, %v\nwant %+v", encoding, got, err, want)
			}
		}
	}
	if _, err := MetadataIn(verb.JSON, verb.Rendition{Head: messageHead}, verb.Metadata); err == nil {
		t.Error("an empty message has metadata")
	}
}
