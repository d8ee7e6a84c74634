package registry_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ledger has fields like those of Kubernetes' own kinds that protobuf doesn't keep as JSON has them: a list that is
// never omitted, as a Role's rules, and bytes in a map, as a Secret's data.
type ledger struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Rules             []string             `json:"rules"`
	Pages             []string             `json:"pages"`
	Data              map[string][]byte    `json:"data,omitempty"`
	Opaque            runtime.RawExtension `json:"opaque,omitempty"`
}

func (l *ledger) copyInto(out *ledger) {
	*out = *l
	l.DeepCopyInto(&out.ObjectMeta)
	out.Rules, out.Pages, out.Data = slices.Clone(l.Rules), slices.Clone(l.Pages), maps.Clone(l.Data)
}

func (l *ledger) DeepCopyObject() runtime.Object {
	out := &ledger{}
	l.copyInto(out)
	return out
}

func (l *ledger) Size() int { data, _ := l.Marshal(); return len(data) }

// Marshal encodes a ledger as the code that gogo/protobuf generates would.
func (l *ledger) Marshal() ([]byte, error) {
	metadata, err := l.ObjectMeta.Marshal()
	if err != nil {
		return nil, err
	}
	out := wire.AppendField(nil, 1, metadata)
	for _, rule := range l.Rules {
		out = wire.AppendField(out, 2, rule)
	}
	for _, key := range slices.Sorted(maps.Keys(l.Data)) {
		entry := wire.AppendField(nil, 1, key)
		if value := l.Data[key]; len(value) > 0 {
			entry = wire.AppendField(entry, 2, value)
		}
		out = wire.AppendField(out, 3, entry)
	}
	opaque, err := l.Opaque.Marshal()
	out = wire.AppendField(out, 4, opaque)
	for _, page := range l.Pages {
		out = wire.AppendField(out, 5, page)
	}
	return out, err
}

func (l *ledger) Unmarshal(data []byte) error {
	return wire.EachField(data, func(f wire.Field) error {
		switch f.Number {
		case 1:
			return l.ObjectMeta.Unmarshal(f.Bytes)
		case 2:
			l.Rules = append(l.Rules, string(f.Bytes))
		case 3:
			if l.Data == nil {
				l.Data = map[string][]byte{}
			}
			key, value := "", []byte{}
			err := wire.EachField(f.Bytes, func(f wire.Field) error {
				if f.Number == 1 {
					key = string(f.Bytes)
				} else {
					value = slices.Clone(f.Bytes)
				}
				return nil
			})
			l.Data[key] = value
			return err
		case 4:
			return l.Opaque.Unmarshal(f.Bytes)
		case 5:
			l.Pages = append(l.Pages, string(f.Bytes))
		}
		return nil
	})
}

// hubLedger is the hub of the kind where that is not a version of it. It has no protobuf that would keep its own field.
type hubLedger struct {
	ledger
	Note string
}

func (l *hubLedger) DeepCopyObject() runtime.Object {
	out := &hubLedger{Note: l.Note}
	l.copyInto(&out.ledger)
	return out
}

// ledgers is the definition of a kind with the versions v1, which is stored, and v1beta1.
func ledgers[T api.Object](create func() T, conversion codec.Conversion[T, *ledger]) registry.Definition[T] {
	conversion.New = func() *ledger { return &ledger{} }
	conversion.Default = func(l *ledger) {
		if l.Pages == nil {
			l.Pages = []string{"one"}
		}
	}
	beta := conversion
	beta.Proto = codec.Proto[*ledger]{}
	return registry.Definition[T]{
		Group: "shop.example.com", Names: api.Names{Kind: "Ledger", Plural: "ledgers"}, Scope: api.Namespaced,
		Strategy: registry.Strategy[T]{AllowCreateOnUpdate: true},
		Storage:  "v1", New: create, Versions: []codec.Version[T]{
			codec.VersionOf(api.VersionInfo{Name: "v1"}, conversion),
			codec.VersionOf(api.VersionInfo{Name: "v1beta1"}, beta),
		},
	}
}

func ledgersWithoutHub(proto codec.Proto[*ledger]) registry.Resource {
	return registry.New(ledgers(func() *ledger { return &ledger{} }, codec.Conversion[*ledger, *ledger]{Proto: proto}))
}

func ledgersWithHub(proto codec.Proto[*ledger]) registry.Resource {
	return registry.New(ledgers(func() *hubLedger { return &hubLedger{} }, codec.Conversion[*hubLedger, *ledger]{
		ToHub:   func(in *ledger, out *hubLedger) error { in.copyInto(&out.ledger); return nil },
		FromHub: func(in *hubLedger, out *ledger) error { in.copyInto(out); return nil },
		Proto:   proto,
	}))
}

// ledgerOf returns a ledger as clients send it in a version.
func ledgerOf(version, members string) verb.Body {
	return verb.Body{Version: version, Validation: metav1.FieldValidationStrict, Data: fmt.Appendf(nil,
		`{"apiVersion":"shop.example.com/%s","kind":"Ledger","metadata":{"name":"a"},%s}`, version, members)}
}

const (
	opaqueMember = `"opaque":{"list":[],"none":null}`
	// sentMembers are what the clients of these tests send, keptMembers what protobuf keeps of them.
	sentMembers = `"rules":[],"pages":[],"data":{"a":null},` + opaqueMember
	keptMembers = `"rules":null,"pages":["one"],"data":{"a":""},` + opaqueMember
)

// ledgerWrite writes sentMembers.
type ledgerWrite func(b *bench, opts verb.WriteOptions) (verb.Result, error)

func createLedger(version string) ledgerWrite {
	return func(b *bench, opts verb.WriteOptions) (verb.Result, error) {
		return b.Create(b.ctx(), "ns", ledgerOf(version, sentMembers), opts)
	}
}

func updateLedger(version string) ledgerWrite {
	return func(b *bench, opts verb.WriteOptions) (verb.Result, error) {
		return b.Update(b.ctx(), "ns", "a", "", ledgerOf(version, sentMembers), opts)
	}
}

func patchLedger(b *bench, opts verb.WriteOptions) (verb.Result, error) {
	return b.Patch(b.ctx(), "ns", "a", "", verb.JSONPatch, body(`[{"op":"add","path":"/rules","value":[]},`+
		`{"op":"add","path":"/pages","value":[]},{"op":"add","path":"/data","value":{"a":null}},`+
		`{"op":"add","path":"/opaque","value":{"list":[],"none":null}}]`), opts)
}

func applyLedger(b *bench, opts verb.WriteOptions) (verb.Result, error) {
	opts.Force = true
	return b.Patch(b.ctx(), "ns", "a", "", verb.ApplyPatch, ledgerOf("v1", sentMembers), opts)
}

// membersOf returns the members of a ledger apart from its kind, its version and its metadata.
func membersOf(t testing.TB, object string) string {
	t.Helper()
	at := strings.Index(object, `"rules":`)
	if at < 0 {
		t.Fatalf("there are no rules in %s", object)
	}
	return strings.TrimSuffix(strings.TrimSpace(object[at:]), "}")
}

// everyEncoding runs a test for a configuration that stores JSON, and for one that stores protobuf.
func everyEncoding(t *testing.T, name string, test func(t *testing.T, config registry.Config)) {
	t.Helper()
	for encoding, stored := range map[verb.Encoding]string{verb.JSON: "in JSON", verb.Protobuf: "in protobuf"} {
		t.Run(name+"/"+stored, func(t *testing.T) { test(t, registry.Config{Encoding: encoding}) })
	}
}

// TestWritesKeepWhatProtobufKeeps tests that a write of a kind with protobuf stores and answers what kube-apiserver
// does, which stores protobuf: an empty list becomes null or its default, and a null for bytes becomes empty bytes. A
// kind without protobuf keeps both.
func TestWritesKeepWhatProtobufKeeps(t *testing.T) {
	writes := map[string]struct {
		exists bool
		write  ledgerWrite
	}{
		"create":                    {false, createLedger("v1")},
		"create in another version": {false, createLedger("v1beta1")},
		"update":                    {true, updateLedger("v1")},
		"update in another version": {true, updateLedger("v1beta1")},
		"update that creates":       {false, updateLedger("v1")},
		"patch":                     {true, patchLedger},
		"apply":                     {true, applyLedger},
		"apply that creates":        {false, applyLedger},
	}
	proto := codec.ProtoOf[*ledger]()
	for kind, c := range map[string]struct {
		resource registry.Resource
		want     string
	}{
		"hub is a version":  {ledgersWithoutHub(proto), keptMembers},
		"hub is no version": {ledgersWithHub(proto), keptMembers},
		"no protobuf":       {ledgersWithHub(codec.Proto[*ledger]{}), sentMembers},
	} {
		for name, w := range writes {
			everyEncoding(t, kind+"/"+name, func(t *testing.T, config registry.Config) {
				b := openOver(t, memory.New(), c.resource, config)
				if w.exists {
					if _, err := b.Create(b.ctx(), "ns", ledgerOf("v1", `"rules":["r"],"pages":["p"]`),
						verb.WriteOptions{Form: v1}); err != nil {
						t.Fatal(err)
					}
				}
				for _, form := range []verb.Form{v1, v1beta1} {
					opts := verb.WriteOptions{Form: form, FieldManager: "m", DryRun: true}
					if r, err := w.write(b, opts); err != nil || membersOf(t, whole(r.Object)) != c.want {
						t.Errorf("the dry run answers %s, %v\nwant %s", whole(r.Object), err, c.want)
					}
				}
				r, err := w.write(b, verb.WriteOptions{Form: v1, FieldManager: "m"})
				if err != nil || membersOf(t, whole(r.Object)) != c.want {
					t.Errorf("the answer is %s, %v\nwant %s", whole(r.Object), err, c.want)
				}
				stored, _ := b.stored("/registry/shop.example.com/ledgers/ns/a")
				if strings.HasPrefix(stored, "{") && membersOf(t, stored) != c.want {
					t.Errorf("stored %s\nwant %s", stored, c.want)
				}
				config.Backend, config.Prefix = b.backend, "/registry"
				if m, err := registry.Migrate(b.ctx(), c.resource, config, store.MigrateOptions{}); err != nil ||
					m.Read != 1 || m.Stale != 0 {
					t.Errorf("what was just stored is stale: %+v, %v", m, err)
				}
			})
		}
	}
}

// TestWritesThatProtobufMakesEqual tests that a write changes nothing if it differs from the stored object only in
// what protobuf doesn't keep. The client owns the fields as it sent them.
func TestWritesThatProtobufMakesEqual(t *testing.T) {
	for name, write := range map[string]ledgerWrite{
		"update": updateLedger("v1"), "update in another version": updateLedger("v1beta1"), "patch": patchLedger,
		"apply": applyLedger,
	} {
		for kind, resource := range map[string]registry.Resource{
			"hub is a version":  ledgersWithoutHub(codec.ProtoOf[*ledger]()),
			"hub is no version": ledgersWithHub(codec.ProtoOf[*ledger]()),
		} {
			everyEncoding(t, kind+"/"+name, func(t *testing.T, config registry.Config) {
				b := openOver(t, memory.New(), resource, config)
				opts := verb.WriteOptions{Form: v1, FieldManager: "m"}
				first, err := write(b, opts)
				if apierrors.IsNotFound(err) { // a patch creates nothing
					_, err = createLedger("v1")(b, opts)
				}
				if err == nil {
					first, err = write(b, opts)
				}
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(whole(first.Object), `"f:rules":{}`) {
					t.Errorf("nobody owns the rules in %s", whole(first.Object))
				}
				_, before := b.stored("/registry/shop.example.com/ledgers/ns/a")
				again, err := write(b, opts)
				if err != nil || whole(again.Object) != whole(first.Object) {
					t.Errorf("the answer is %s, %v\nwant %s", whole(again.Object), err, whole(first.Object))
				}
				if _, after := b.stored("/registry/shop.example.com/ledgers/ns/a"); after != before {
					t.Errorf("a write of the same object changed revision %d to %d", before, after)
				}
			})
		}
	}
}

// TestStoredEmptyListsAreStale tests that an object which an older release stored as the client sent it is read as
// protobuf would keep it, and that its next write stores it so.
func TestStoredEmptyListsAreStale(t *testing.T) {
	const key = "/registry/shop.example.com/ledgers/ns/a"
	for name, disabled := range map[string]bool{"cache": false, "bare": true} {
		t.Run(name, func(t *testing.T) {
			backend := memory.New()
			put(t, backend, key, []byte(`{"kind":"Ledger","apiVersion":"shop.example.com/v1","metadata":`+
				`{"name":"a","namespace":"ns","uid":"u"},`+sentMembers+"}\n"))
			b := openOver(t, backend, ledgersWithHub(codec.ProtoOf[*ledger]()),
				registry.Config{DisableCache: disabled})
			found, err := b.Get(b.ctx(), "ns", "a", "", v1)
			if err != nil || membersOf(t, whole(found)) != keptMembers {
				t.Fatalf("got %s, %v\nwant %s", whole(found), err, keptMembers)
			}
			if _, err := b.Patch(b.ctx(), "ns", "a", "", verb.MergePatch, body(`{}`),
				verb.WriteOptions{Form: v1}); err != nil {
				t.Fatal(err)
			}
			if stored, _ := b.stored(key); membersOf(t, stored) != keptMembers {
				t.Errorf("stored %s\nwant %s", stored, keptMembers)
			}
		})
	}
}
