package wire

import (
	"bytes"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// sizes are around the borders of CBOR's heads and of protobuf's varints.
var sizes = []int{0, 1, 23, 24, 127, 128, 255, 256, 16383, 16384, 65535, 65536, 70000}

func TestHeadsAreThoseOfApimachinery(t *testing.T) {
	for _, n := range sizes {
		text := strings.Repeat("x", n)
		items := make([]any, n)
		members := map[string]any{}
		var wantArray, wantMap []byte
		for i := range items {
			items[i] = int64(i)
			members[string(AppendInt(nil, int64(i)))] = nil
		}
		wantString, err := direct.Marshal(text)
		if err == nil {
			wantArray, err = direct.Marshal(items)
		}
		if err == nil {
			wantMap, err = direct.Marshal(members)
		}
		if err != nil {
			t.Fatal(err)
		}
		array := AppendArray(nil, n)
		for i := range items {
			array = AppendInt(array, int64(i))
		}
		if !bytes.Equal(AppendString(nil, text), wantString) || !bytes.Equal(array, wantArray) ||
			!bytes.HasPrefix(wantMap, AppendMap(nil, n)) {
			t.Errorf("heads of %d differ", n)
		}
		if got, rest, err := MapHead(wantMap); err != nil || got != n ||
			len(rest) != len(wantMap)-len(AppendMap(nil, n)) {
			t.Errorf("head of a map of %d: %d %v", n, got, err)
		}
	}
	for _, n := range []int64{0, 23, 24, -1, -24, -25, 1 << 40, -1 << 63, 1<<63 - 1} {
		if want, err := direct.Marshal(n); err != nil || !bytes.Equal(AppendInt(nil, n), want) {
			t.Errorf("%d differs", n)
		}
	}
	for _, value := range []any{true, false, nil} {
		want, err := direct.Marshal(value)
		got := AppendNull(nil)
		if b, ok := value.(bool); ok {
			got = AppendBool(nil, b)
		}
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v differs", value)
		}
	}
}

func TestEnvelopeIsApimachinerys(t *testing.T) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	for _, n := range sizes {
		status := &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Message: strings.Repeat("m", n)}
		want, err := runtime.Encode(protobuf.NewSerializer(scheme, scheme), status)
		if err != nil {
			t.Fatal(err)
		}
		message, err := status.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		got := Enveloped(EnvelopeHead("Status", "v1"), message)
		if !bytes.Equal(got, want) || len(got) != EnvelopeSize(EnvelopeHead("Status", "v1"), len(message)) {
			t.Errorf("a message of %d bytes differs", len(message))
		}
		if back, gvk, err := OpenEnvelope(got); err != nil || !bytes.Equal(back, message) ||
			gvk != (schema.GroupVersionKind{Version: "v1", Kind: "Status"}) {
			t.Errorf("%v %v", gvk, err)
		}
	}
}

// FuzzFind: Find returns the value that decoding the map gives; nothing panics.
func FuzzFind(f *testing.F) {
	seed, err := direct.Marshal(map[string]any{"metadata": map[string]any{"name": "a", "resourceVersion": "7",
		"x": []any{1.5, nil, "é"}}, "kind": "W"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed, "metadata", "resourceVersion")
	f.Add([]byte("\xbf\xff"), "a", "b")
	f.Add([]byte("\xbb\xff\xff\xff\xff\xff\xff\xff\xff"), "a", "b")
	f.Add(bytes.Repeat([]byte{0x81}, 30000), "a", "b")
	f.Fuzz(func(t *testing.T, data []byte, first, second string) {
		start, end, err := Find(data, first, second)
		var decoded map[string]any
		if direct.Unmarshal(data, &decoded) != nil || err != nil {
			return // what one of them doesn't read, the other may
		}
		if len(data) > 0 && data[0] == 0xf6 {
			return
		}
		inner, ok := decoded[first].(map[string]any)
		value, there := inner[second]
		if !ok || !there {
			if start != end {
				t.Fatalf("found %x in %x", data[start:end], data)
			}
			return
		}
		var found any
		if start == end || direct.Unmarshal(data[start:end], &found) != nil {
			t.Fatalf("%v isn't found in %x", value, data)
		}
		a, _ := direct.Marshal(value)
		if b, _ := direct.Marshal(found); !bytes.Equal(a, b) {
			t.Fatalf("found %x, not %x", b, a)
		}
	})
}
