package trail

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"
)

// TestAppendJSON: the hand-written encoder writes what encoding/json writes.
func TestAppendJSON(t *testing.T) {
	filler := randfill.NewWithSeed(rand.Int64()).NilChance(0.3).NumElements(0, 3).Funcs(
		func(data *json.RawMessage, _ randfill.Continue) { *data = json.RawMessage(`{"a":[1,"b"]}`) },
		func(at *metav1.MicroTime, c randfill.Continue) {
			*at = metav1.NewMicroTime(time.UnixMicro(c.Int63n(1 << 52)).UTC())
		},
		func(annotations *Annotations, c randfill.Continue) { // which have a key once
			for i := range c.Intn(10) {
				*annotations = append(*annotations, Annotation{c.String(0) + strconv.Itoa(i), c.String(0)})
			}
		},
	)
	for range 2000 {
		var event Event
		filler.Fill(&event)
		event.Kind, event.APIVersion = "Event", Group+"/"+Version
		want, err := json.Marshal(&event)
		if err != nil {
			t.Fatal(err)
		}
		got, err := event.AppendJSON(nil)
		if err != nil || string(got) != string(want) {
			t.Fatalf("got  %s\nwant %s\nerror %v", got, want, err)
		}
	}
}

// TestAppendJSONStatus: the short cut of a status that is only a code writes what encoding/json writes.
func TestAppendJSONStatus(t *testing.T) {
	for _, status := range []metav1.Status{
		{Code: 200}, {Code: 0}, {Code: 404, Reason: "NotFound"}, {Code: 200, ListMeta: metav1.ListMeta{Continue: "x"}},
	} {
		event := Event{TypeMeta: metav1.TypeMeta{Kind: "Event", APIVersion: Group + "/" + Version},
			ResponseStatus: &status}
		want, err := json.Marshal(&event)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := event.AppendJSON(nil); err != nil || string(got) != string(want) {
			t.Errorf("got  %s\nwant %s\nerror %v", got, want, err)
		}
	}
}

// TestAppendJSONText: strings are escaped as encoding/json escapes them.
func TestAppendJSONText(t *testing.T) {
	for _, text := range []string{
		"", `"`, `""`, `a"b`, `"a"b"`, `RBAC: allowed by RoleBinding "a/b"`, `"\`, `\"`, "\"<", "<\"", "\"\x00",
		"é\"", "\"\xff", "\u2028",
	} {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		w := writer{buf: []byte("x")}
		if w.text(text); w.err != nil || string(w.buf) != "x"+string(want) {
			t.Errorf("got %s, want x%s, error %v", w.buf, want, w.err)
		}
	}
}

func TestWithoutManagedFields(t *testing.T) {
	for _, test := range [][2]string{
		{`{"metadata":{"managedFields":[{}],"name":"a"},"spec":{"n":12345678901234567890}}`,
			`{"metadata":{"name":"a"},"spec":{"n":12345678901234567890}}`},
		{`{"items":[{"metadata":{"managedFields":[]}},{"metadata":{"name":"b"}}],"kind":"List"}`,
			`{"items":[{"metadata":{}},{"metadata":{"name":"b"}}],"kind":"List"}`},
		{`{"kind":"Table","rows":[{"cells":[1],"object":{"metadata":{"managedFields":[]}}},` +
			`{"cells":[],"object":null}]}`,
			`{"kind":"Table","rows":[{"cells":[1],"object":{"metadata":{}}},{"cells":[],"object":null}]}`},
		{`[1]`, `[1]`}, {`"managedFields"`, `"managedFields"`},
		{`{"metadata":1,"items":{}}`, `{"items":{},"metadata":1}`},
	} {
		if got := withoutManagedFields(json.RawMessage(test[0])); string(got) != test[1] {
			t.Errorf("%s became %s", test[0], got)
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	event := &Event{
		Level: Metadata, AuditID: "8f1c2b8e-1b8e-4f6e-9a53-7a0f0e0d6a01", Stage: ResponseComplete, Verb: "get",
		RequestURI: "/apis/shop.example.com/v1/namespaces/default/widgets/a", SourceIPs: []string{"127.0.0.1"},
		User:      User{Username: "admin", Groups: []string{"system:masters", "system:authenticated"}},
		UserAgent: "kubectl/v1.37.2 (linux/amd64) kubernetes/abc",
		ObjectRef: &ObjectReference{
			Resource: "widgets", Namespace: "default", Name: "a", APIGroup: "shop.example.com",
		},
		ResponseStatus: &metav1.Status{Code: 200},
		Annotations:    Annotations{{"authorization.k8s.io/decision", "allow"}, {"authorization.k8s.io/reason", ""}},
	}
	b.ReportAllocs()
	var buffer []byte
	for b.Loop() {
		buffer, _ = event.AppendJSON(buffer[:0])
	}
}
