package endpoint_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/http/endpoint"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

var gaugeVersion = schema.GroupVersion{Group: "shop.example.com", Version: "v1"}

// gauge is a kind that brings its own protobuf: metadata is field 1, the value 2, the note 3, the bytes 4.
type gauge struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Value             float64              `json:"value"`
	Note              string               `json:"note,omitempty"`
	Blob              []byte               `json:"blob,omitempty"`
	Extra             runtime.RawExtension `json:"extra,omitzero"`
	Counts            map[string]int64     `json:"counts,omitempty"`
}

func (g *gauge) DeepCopyObject() runtime.Object {
	out := *g
	out.ObjectMeta = *g.ObjectMeta.DeepCopy()
	out.Extra = *g.Extra.DeepCopy()
	out.Counts = maps.Clone(g.Counts)
	return &out
}

func (g *gauge) Reset() { *g = gauge{} }

func (g *gauge) Size() int {
	data, _ := g.Marshal()
	return len(data)
}

func (g *gauge) MarshalTo(data []byte) (int, error) {
	out, err := g.Marshal()
	return copy(data, out), err
}

func (g *gauge) Marshal() ([]byte, error) {
	metadata, err := g.ObjectMeta.Marshal()
	out := wire.AppendField(nil, 1, metadata)
	out = wire.AppendField(out, 2, fmt.Sprint(g.Value))
	out = wire.AppendField(out, 3, g.Note)
	return wire.AppendField(out, 4, g.Blob), err
}

func (g *gauge) Unmarshal(data []byte) error {
	for len(data) > 0 {
		n, used := binary.Uvarint(data[1:])
		if used <= 0 || n > uint64(len(data)-1-used) {
			return fmt.Errorf("proto: Gauge: unexpected EOF")
		}
		value := data[1+used : 1+used+int(n)]
		switch data[0] >> 3 {
		case 1:
			if err := g.ObjectMeta.Unmarshal(value); err != nil {
				return err
			}
		case 2:
			if _, err := fmt.Sscan(string(value), &g.Value); err != nil {
				return err
			}
		case 3:
			g.Note = string(value)
		case 4:
			g.Blob = append([]byte(nil), value...)
		}
		data = data[1+used+int(n):]
	}
	return nil
}

// gaugeList is what a client makes of a list.
type gaugeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []gauge `json:"items"`
}

func (l *gaugeList) DeepCopyObject() runtime.Object { return l }
func (l *gaugeList) Reset()                         { *l = gaugeList{} }

func (l *gaugeList) Unmarshal(data []byte) error {
	for len(data) > 0 {
		n, used := binary.Uvarint(data[1:])
		value := data[1+used : 1+used+int(n)]
		if data[0]>>3 == 1 {
			if err := l.ListMeta.Unmarshal(value); err != nil {
				return err
			}
		} else {
			l.Items = append(l.Items, gauge{})
			if err := l.Items[len(l.Items)-1].Unmarshal(value); err != nil {
				return err
			}
		}
		data = data[1+used+int(n):]
	}
	return nil
}

// gaugeScheme is that of a client.
func gaugeScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(gaugeVersion.WithKind("Gauge"), &gauge{})
	scheme.AddKnownTypeWithName(gaugeVersion.WithKind("GaugeList"), &gaugeList{})
	metav1.AddToGroupVersion(scheme, gaugeVersion)
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	scheme.AddKnownTypes(metav1.SchemeGroupVersion, &metav1.PartialObjectMetadata{},
		&metav1.PartialObjectMetadataList{}, &metav1.Table{})
	utilruntime.Must(metav1beta1.AddMetaToScheme(scheme))
	return scheme
}

// serializersOf are apimachinery's for a media type.
func serializersOf(t testing.TB, mediaType string) runtime.SerializerInfo {
	t.Helper()
	codecs := serializer.NewCodecFactory(gaugeScheme(), serializer.WithSerializer(cbor.NewSerializerInfo))
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatal(mediaType)
	}
	return info
}

// gaugeWorld is a server of gauges, which are written as protobuf, too, or only as JSON and CBOR.
type gaugeWorld struct {
	testing.TB
	api *endpoint.API
}

func newGaugeWorld(t testing.TB, protobuf, cached bool) *gaugeWorld {
	t.Helper()
	conversion := codec.Conversion[*gauge, *gauge]{
		New: func() *gauge { return new(gauge) },
		Columns: []func(*gauge) api.Cell{
			func(g *gauge) api.Cell { return api.Text(g.Name) },
			func(g *gauge) api.Cell { return api.Number(g.Value) },
			func(g *gauge) api.Cell { return api.Int(-int64(len(g.Note))) },
			func(g *gauge) api.Cell { return api.Bool(g.Note != "") },
			func(*gauge) api.Cell { return api.Cell{} },
			func(g *gauge) api.Cell { return api.Age(g.CreationTimestamp.Time) },
			func(g *gauge) api.Cell {
				return api.AgeWithin(strings.Repeat("\"3 (", len(g.Note)), g.CreationTimestamp.Time, " ago)")
			},
		},
	}
	if protobuf {
		conversion.Proto = codec.ProtoOf[*gauge]()
	}
	info := api.VersionInfo{Name: "v1", Columns: []api.Column{{Name: "Name", Type: "string", Format: "name"},
		{Name: "Value", Type: "number"},
		{Name: "Length", Type: "integer"}, {Name: "Noted", Type: "boolean"}, {Name: "Nothing",
			Type: "string"}, {Name: "Age", Type: "date"}, {Name: "Read", Type: "string"}}}
	resource := registry.New(registry.Definition[*gauge]{
		Group: "shop.example.com",
		Names: api.Names{Kind: "Gauge", ListKind: "GaugeList", Plural: "gauges", Singular: "gauge"},
		Scope: api.Namespaced,
		New:   conversion.New, Versions: []codec.Version[*gauge]{codec.VersionOf(info, conversion)}, Storage: "v1",
	})
	backend := memory.New()
	handle, err := resource.Open(t.Context(), registry.Config{Backend: backend, Prefix: "/registry",
		DisableCache: !cached, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := handle.Close(); err != nil {
			t.Error(err)
		}
		backend.Close()
	})
	group := endpoint.Group{Group: registry.Group{Name: "shop.example.com", Versions: []string{"v1"}},
		Handles: []verb.Handle{handle}}
	a, err := endpoint.New(endpoint.Config{Groups: []endpoint.Group{group}})
	if err != nil {
		t.Fatal(err)
	}
	return &gaugeWorld{t, a}
}

const gaugePath = "/apis/shop.example.com/v1/namespaces/n/gauges"

// do sends a request; it fails the test where the code isn't what was expected.
func (w *gaugeWorld) do(method, path, contentType, accept string, body []byte, code int) *httptest.ResponseRecorder {
	w.Helper()
	r := httptest.NewRequestWithContext(w.Context(), method, path, strings.NewReader(string(body)))
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", accept)
	recorder := httptest.NewRecorder()
	w.api.ServeHTTP(recorder, r)
	if recorder.Code != code {
		w.Fatalf("%s %s: %d %q", method, path, recorder.Code, recorder.Body)
	}
	return recorder
}

// create makes a gauge by JSON.
func (w *gaugeWorld) create(name string) {
	w.Helper()
	w.do(http.MethodPost, gaugePath, typeJSON, typeJSON,
		[]byte(`{"kind":"Gauge","apiVersion":"shop.example.com/v1","metadata":{"name":"`+name+
			`","labels":{"a":"b"}},"value":1.5,"note":"`+strings.Repeat("n",
			30)+`","blob":"AAEC/w==","extra":{"x":[1,2.5,null]},"counts":{"z":-3,"b":9007199254740993}}`), 201)
}
