package rendition

import (
	"bytes"
	"encoding/json"
	"testing"

	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// FuzzMembers checks that no data makes the scanner panic, and that it agrees with encoding/json on what is JSON.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, `{"a":{"b":[1,"}\"",null]},"c":"\\"}`, `{"a"`, `{"a":}`, `{"a":"`,
		`{ "a" : [ ] , "b" : -1.5e3 }`, `{"a":{}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		TypeOf(data)
		found := map[string]json.RawMessage{}
		ok := Members(data, 1, func(key []byte, start, end int) bool {
			var name string
			if json.Unmarshal([]byte(`"`+string(key)+`"`), &name) == nil {
				found[name] = data[start:end]
			}
			return true
		})
		var want map[string]json.RawMessage
		if len(data) == 0 || data[0] != '{' || json.Unmarshal(data, &want) != nil {
			return
		}
		if !ok || len(found) != len(want) {
			t.Fatalf("%s: found %d of %d members", data, len(found), len(want))
		}
		for name, value := range want {
			if !bytes.Equal(found[name], value) {
				t.Fatalf("%s: %q is %s, want %s", data, name, found[name], value)
			}
		}
	})
}

// FuzzRendition stamps, restamps and strips objects, and compares with what encoding/json makes of them.
func FuzzRendition(f *testing.F) {
	f.Add("a", "ns", "uid", "label", "value", int64(1), int64(99999), true)
	f.Add("", "", "", "", "", int64(0), int64(1), false)
	f.Add(`"resourceVersion":"7"`, `{}`, "", `"metadata":{`, `\`, int64(1<<62), int64(10), true)
	f.Fuzz(func(t *testing.T, name, namespace, uid, label, value string, first, second int64, spec bool) {
		if first < 0 || second < 0 {
			return
		}
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace,
			UID: types.UID(uid)}}
		if spec {
			object.Labels = map[string]string{label: value}
		}
		object.Kind, object.APIVersion = "Widget", "shop.example.com/v1"
		head := jsonHead(object.Kind, object.APIVersion)
		stored := append(encode(t, object), '\n')
		if !bytes.Contains(stored, []byte(`"metadata":`)) {
			return // encoding/json leaves metadata out that is all empty
		}
		bare, err := New(stored, head)
		if err != nil {
			t.Fatal(err)
		}
		for _, revision := range []int64{first, second} {
			object.ResourceVersion = ""
			if bare = Stamp(bare, revision); revision >= 0 {
				object.ResourceVersion = itoa(revision)
			}
			if got, want := Whole(bare), encode(t, object); !bytes.Equal(got, want) {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
			if at := string(bare.Payload[bare.VersionAt:][:bare.VersionLen]); at != object.ResourceVersion {
				t.Fatalf("the offset shows %q", at)
			}
			if !bytes.Equal(StoredForm(bare), stored) || !IsStoredForm(bare, stored) || IsStoredForm(bare, stored[1:]) {
				t.Fatalf("stripped: %s\nwant %s", StoredForm(bare), stored)
			}
		}
	})
}

func encode(t *testing.T, v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func itoa(n int64) string { return string(encodeInt(n)) }

func encodeInt(n int64) []byte { data, _ := json.Marshal(n); return data }

func TestRestampMovesHoles(t *testing.T) {
	r := verb.Rendition{Payload: []byte(`"metadata":{"resourceVersion":"9"},"cells":[,]}`), VersionAt: 31,
		VersionLen: 1, Holes: []verb.Hole{{At: 5}, {At: 44}}}
	if r.Payload[31] != '9' || r.Payload[44] != ',' {
		t.Fatal("the test is wrong about its offsets")
	}
	got := Restamp(r, 12345)
	if got.Payload[got.Holes[1].At] != ',' || got.Holes[0].At != 5 || r.Holes[1].At != 44 || got.VersionLen != 5 {
		t.Errorf("%s %+v", got.Payload, got)
	}
}
