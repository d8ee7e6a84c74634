package endpoint_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
)

const (
	typeJSON     = "application/json"
	typeCBOR     = "application/cbor"
	typeProtobuf = "application/vnd.kubernetes.protobuf"

	asList  = ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	asOne   = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	asTable = ";as=Table;v=v1;g=meta.k8s.io"

	asOldList  = ";as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io"
	asOldOne   = ";as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io"
	asOldTable = ";as=Table;v=v1beta1;g=meta.k8s.io"
)

// decode reads an answer with apimachinery's serializer of the media type that it says it has.
func decode[T runtime.Object](t testing.TB, mediaType string, data []byte, into T) T {
	t.Helper()
	mediaType, _, _ = strings.Cut(mediaType, ";")
	if _, _, err := serializersOf(t, mediaType).Serializer.Decode(data, nil, into); err != nil {
		t.Fatalf("%s: %v\n%q", mediaType, err, data)
	}
	return into
}

// encode writes an object as apimachinery does.
func encode(t testing.TB, mediaType string, obj runtime.Object) []byte {
	t.Helper()
	data, err := runtime.Encode(serializersOf(t, mediaType).Serializer, obj)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// eachEncoding runs a test for both binary encodings, with and without cache.
func eachEncoding(t *testing.T, test func(t *testing.T, w *gaugeWorld, mediaType string)) {
	for _, mediaType := range []string{typeCBOR, typeProtobuf} {
		for _, cached := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s cached=%v", mediaType, cached), func(t *testing.T) {
				test(t, newGaugeWorld(t, true, cached), mediaType)
			})
		}
	}
}

// same compares objects, in which protobuf has no extra and no counts.
func same(t testing.TB, mediaType string, got, want *gauge) {
	t.Helper()
	if mediaType == typeProtobuf {
		want = want.DeepCopyObject().(*gauge)
		want.Extra, want.Counts = runtime.RawExtension{}, nil
	}
	if !apiequality.Semantic.DeepEqual(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestObjectsInBinary(t *testing.T) {
	eachEncoding(t, func(t *testing.T, w *gaugeWorld, mediaType string) {
		w.create("a")
		var want gauge
		if err := json.Unmarshal(w.do("GET", gaugePath+"/a", "", typeJSON, nil, 200).Body.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		for range 2 { // rendered, and from what was kept
			answer := w.do("GET", gaugePath+"/a", "", mediaType, nil, 200)
			if answer.Header().Get("Content-Type") != mediaType ||
				answer.Header().Get("Content-Length") != fmt.Sprint(answer.Body.Len()) {
				t.Error(answer.Header())
			}
			same(t, mediaType, decode(t, mediaType, answer.Body.Bytes(), &gauge{}), &want)
		}
		partial := decode(t, mediaType, w.do("GET", gaugePath+"/a", "", mediaType+asOne, nil, 200).Body.Bytes(),
			&metav1.PartialObjectMetadata{})
		if partial.Kind != "PartialObjectMetadata" || !apiequality.Semantic.DeepEqual(partial.ObjectMeta,
			want.ObjectMeta) {
			t.Error(cmp.Diff(want.ObjectMeta, partial.ObjectMeta))
		}
	})
}

func TestListsInBinary(t *testing.T) {
	eachEncoding(t, func(t *testing.T, w *gaugeWorld, mediaType string) {
		for n := range 30 {
			var want gaugeList
			if err := json.Unmarshal(w.do("GET", gaugePath, "", typeJSON, nil, 200).Body.Bytes(), &want); err != nil {
				t.Fatal(err)
			}
			got := decode(t, mediaType, w.do("GET", gaugePath, "", mediaType, nil, 200).Body.Bytes(), &gaugeList{})
			if got.Kind != "GaugeList" || got.APIVersion != "shop.example.com/v1" ||
				got.ResourceVersion != want.ResourceVersion || len(got.Items) != n {
				t.Fatalf("%+v", got)
			}
			for i := range got.Items {
				same(t, mediaType, &got.Items[i], &want.Items[i])
			}
			metadata := decode(t, mediaType, w.do("GET", gaugePath, "", mediaType+asList, nil, 200).Body.Bytes(),
				&metav1.PartialObjectMetadataList{})
			if metadata.Kind != "PartialObjectMetadataList" || len(metadata.Items) != n ||
				metadata.ResourceVersion != want.ResourceVersion {
				t.Fatalf("%+v", metadata)
			}
			w.create(fmt.Sprintf("g%02d", n))
		}
		page := decode(t, mediaType, w.do("GET", gaugePath+"?limit=7", "", mediaType, nil, 200).Body.Bytes(),
			&gaugeList{})
		if len(page.Items) != 7 || page.RemainingItemCount == nil || *page.RemainingItemCount != 23 ||
			page.Continue == "" {
			t.Fatalf("%+v", page.ListMeta)
		}
		rest := decode(t, mediaType, w.do("GET", gaugePath+"?continue="+page.Continue, "", mediaType, nil,
			200).Body.Bytes(), &gaugeList{})
		if len(rest.Items) != 23 || rest.Items[0].Name != "g07" {
			t.Fatalf("%+v", rest.ListMeta)
		}
	})
}

func TestTablesInCBOR(t *testing.T) {
	for _, cached := range []bool{true, false} {
		w := newGaugeWorld(t, true, cached)
		w.create("a")
		w.create("b")
		for _, query := range []string{"", "?includeObject=None", "?includeObject=Metadata", "?includeObject=Object"} {
			for _, path := range []string{gaugePath, gaugePath + "/b"} {
				var want metav1.Table
				if err := json.Unmarshal(w.do("GET", path+query, "", typeJSON+asTable, nil, 200).Body.Bytes(),
					&want); err != nil {
					t.Fatal(err)
				}
				got := decode(t, typeCBOR, w.do("GET", path+query, "", typeCBOR+asTable, nil, 200).Body.Bytes(),
					&metav1.Table{})
				for i := range got.Rows {
					sameRow(t, &got.Rows[i], &want.Rows[i])
				}
				if !apiequality.Semantic.DeepEqual(got, &want) {
					t.Error(path, query, cmp.Diff(&want, got))
				}
			}
		}
	}
}

// age is an age in a cell: a second may pass between two requests.
var age = regexp.MustCompile(`\d+s`)

// sameRow compares rows, and makes them one: numbers and objects are not written alike.
func sameRow(t *testing.T, got, want *metav1.TableRow) {
	t.Helper()
	a, b := age.ReplaceAllString(fmt.Sprint(got.Cells...), "?"), age.ReplaceAllString(fmt.Sprint(want.Cells...), "?")
	x, _ := got.Object.MarshalJSON()
	y, _ := want.Object.MarshalJSON()
	var left, right any
	if a != b || json.Unmarshal(x, &left) != nil || json.Unmarshal(y, &right) != nil || !cmp.Equal(left, right) {
		t.Errorf("%s\n%s\n%s\n%s", a, b, x, y)
	}
	*got = *want
}

// TestOldFormsInBinary: what clients of meta.k8s.io/v1beta1 get differs from v1 in its name, and a list in protobuf in
// its fields.
func TestOldFormsInBinary(t *testing.T) {
	eachEncoding(t, func(t *testing.T, w *gaugeWorld, mediaType string) {
		w.create("a")
		w.create("b")
		get := func(path, as string) []byte { return w.do("GET", path, "", mediaType+as, nil, 200).Body.Bytes() }
		want := decode(t, mediaType, get(gaugePath+"/a", asOne), &metav1.PartialObjectMetadata{})
		one := decode(t, mediaType, get(gaugePath+"/a", asOldOne), &metav1beta1.PartialObjectMetadata{})
		if one.APIVersion != "meta.k8s.io/v1beta1" || !apiequality.Semantic.DeepEqual(one.ObjectMeta, want.ObjectMeta) {
			t.Error(one.TypeMeta, cmp.Diff(want.ObjectMeta, one.ObjectMeta))
		}
		all := decode(t, mediaType, get(gaugePath, asList), &metav1.PartialObjectMetadataList{})
		list := decode(t, mediaType, get(gaugePath, asOldList), &metav1beta1.PartialObjectMetadataList{})
		if list.APIVersion != "meta.k8s.io/v1beta1" || list.ResourceVersion != all.ResourceVersion ||
			len(list.Items) != 2 ||
			!apiequality.Semantic.DeepEqual(list.Items[1].ObjectMeta, all.Items[1].ObjectMeta) {
			t.Errorf("%+v", list)
		}
		if mediaType == typeProtobuf {
			w.do("GET", gaugePath, "", mediaType+asOldTable, nil, 406)
			return
		}
		for query, kind := range map[string]string{"": "meta.k8s.io/v1beta1",
			"?includeObject=Object": "shop.example.com/v1"} {
			var object metav1.TypeMeta
			table := decode(t, mediaType, get(gaugePath+query, asOldTable), &metav1beta1.Table{})
			if raw, err := table.Rows[1].Object.MarshalJSON(); err != nil || json.Unmarshal(raw, &object) != nil ||
				object.APIVersion != kind || table.APIVersion != "meta.k8s.io/v1beta1" {
				t.Errorf("%+v: %v, %+v", object, err, table)
			}
		}
	})
}

func TestWritesInBinary(t *testing.T) {
	eachEncoding(t, func(t *testing.T, w *gaugeWorld, mediaType string) {
		g := &gauge{TypeMeta: metav1.TypeMeta{Kind: "Gauge", APIVersion: "shop.example.com/v1"},
			ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{"a/b": "\x00é"}},
			Value:      -0.25, Note: "x", Blob: []byte{0, 255}}
		if mediaType == typeCBOR {
			g.Extra, g.Counts = runtime.RawExtension{Raw: []byte(`{"a":[1,"b",null]}`)}, map[string]int64{"n": 1 << 60}
		}
		created := decode(t, mediaType, w.do("POST", gaugePath, mediaType, mediaType, encode(t, mediaType, g),
			201).Body.Bytes(), &gauge{})
		want := g.DeepCopyObject().(*gauge)
		want.ObjectMeta = created.ObjectMeta
		same(t, mediaType, created, want)
		if created.UID == "" || created.ResourceVersion == "" || created.Namespace != "n" ||
			created.Annotations["a/b"] != "\x00é" {
			t.Errorf("%+v", created.ObjectMeta)
		}
		created.Note = "changed"
		updated := decode(t, mediaType, w.do("PUT", gaugePath+"/a", mediaType, mediaType,
			encode(t, mediaType, created), 200).Body.Bytes(), &gauge{})
		if updated.Note != "changed" || updated.Generation != 2 {
			t.Errorf("%+v", updated)
		}
		conflict := decode(t, mediaType, w.do("PUT", gaugePath+"/a", mediaType, mediaType,
			encode(t, mediaType, created), 409).Body.Bytes(), &metav1.Status{})
		if conflict.Reason != metav1.StatusReasonConflict || conflict.Kind != "Status" {
			t.Errorf("%+v", conflict)
		}
		options := &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{Kind: "DeleteOptions",
			APIVersion: "meta.k8s.io/v1"}, Preconditions: metav1.NewUIDPreconditions("other")}
		w.do("DELETE", gaugePath+"/a", mediaType, mediaType, encode(t, mediaType, options), 409)
		options.Preconditions.UID = &updated.UID
		done := decode(t, mediaType, w.do("DELETE", gaugePath+"/a", mediaType, mediaType,
			encode(t, mediaType, options), 200).Body.Bytes(), &metav1.Status{})
		if done.Status != metav1.StatusSuccess || done.Details.UID != updated.UID {
			t.Errorf("%+v", done)
		}
	})
}

func TestApplyInCBOR(t *testing.T) {
	w := newGaugeWorld(t, false, true)
	apply := &unstructured.Unstructured{Object: map[string]any{"kind": "Gauge", "apiVersion": "shop.example.com/v1",
		"metadata": map[string]any{"name": "a"}, "value": 2.5, "counts": map[string]any{"n": int64(7)}}}
	const patchType = "application/apply-patch+cbor"
	w.do("PATCH", gaugePath+"/a?fieldManager=m", patchType, typeCBOR, encode(t, typeCBOR, apply), 201)
	got := decode(t, typeCBOR, w.do("PATCH", gaugePath+"/a?fieldManager=m", patchType, typeCBOR,
		encode(t, typeCBOR, apply), 200).Body.Bytes(), &gauge{})
	if got.Value != 2.5 || got.Counts["n"] != 7 || len(got.ManagedFields) != 1 ||
		got.ManagedFields[0].Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("%+v", got)
	}
}

func TestWatchesInBinary(t *testing.T) {
	eachEncoding(t, func(t *testing.T, w *gaugeWorld, mediaType string) {
		for _, as := range []string{"", asOne, asTable, asOldOne, asOldTable} {
			if isTable(as) && mediaType == typeProtobuf {
				continue
			}
			w.create("a")
			ctx, cancel := context.WithCancel(t.Context())
			server := httptest.NewServer(w.api)
			r, err := http.NewRequestWithContext(ctx, http.MethodGet,
				server.URL+gaugePath+"?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"+
					"&allowWatchBookmarks=true", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept", mediaType+as)
			answer, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if want := map[string]string{typeCBOR: "application/cbor-seq",
				typeProtobuf: typeProtobuf + ";stream=watch"}[mediaType]; answer.StatusCode != http.StatusOK ||
				answer.Header.Get("Content-Type") != want {
				t.Fatal(answer.Status, answer.Header)
			}
			follow(t, w, mediaType, as, answer.Body)
			cancel()
			answer.Body.Close()
			server.Close()
		}
	})
}

func isTable(as string) bool { return as == asTable || as == asOldTable }

// follow reads the events of a gauge's life: that it is there, that this was all, that it changed, that it went.
func follow(t *testing.T, w *gaugeWorld, mediaType, as string, body io.ReadCloser) {
	t.Helper()
	info := serializersOf(t, mediaType)
	events := streaming.NewDecoder(info.StreamSerializer.NewFrameReader(body), info.StreamSerializer.Serializer)
	next := func() (string, runtime.Object) {
		var event metav1.WatchEvent
		if _, _, err := events.Decode(nil, &event); err != nil {
			t.Fatal(err)
		}
		object, _, err := info.Serializer.Decode(event.Object.Raw, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v\n%q", event.Type, err, event.Object.Raw)
		}
		return event.Type, object
	}
	version := ""
	expect := func(kind string) {
		t.Helper()
		got, object := next()
		if got != kind {
			t.Fatalf("%s, want %s: %+v", got, kind, object)
		}
		accessor, ok := object.(metav1.Common)
		if !ok {
			t.Fatalf("%T", object)
		}
		if now := accessor.GetResourceVersion(); now == version && kind != "BOOKMARK" || now == "" {
			t.Errorf("%s: resourceVersion %q behind %q", kind, now, version)
		} else {
			version = now
		}
		if table, ok := object.(*metav1.Table); ok != isTable(as) || ok &&
			(len(table.Rows) != 1 || len(table.ColumnDefinitions) > 0 != (kind == "ADDED")) {
			t.Errorf("%s: %T %+v", kind, object, object)
		}
	}
	expect("ADDED")
	if kind, object := next(); kind != "BOOKMARK" {
		t.Fatal(kind, object)
	} else if o, ok := object.(metav1.Object); ok && o.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
		t.Fatalf("%+v", object)
	}
	w.do("PATCH", gaugePath+"/a", "application/merge-patch+json", typeJSON, []byte(`{"note":"new"}`), 200)
	expect("MODIFIED")
	w.do("DELETE", gaugePath+"/a", "", typeJSON, nil, 200)
	expect("DELETED")
}

// TestKindsWithoutProtobuf have their metadata in it, and the statuses of what goes wrong.
func TestKindsWithoutProtobuf(t *testing.T) {
	w := newGaugeWorld(t, false, true)
	w.create("a")
	for _, path := range []string{gaugePath, gaugePath + "/a", gaugePath + "?watch=1"} {
		answer := w.do("GET", path, "", typeProtobuf, nil, 406)
		if !strings.Contains(answer.Body.String(), "application/json") ||
			strings.Contains(answer.Body.String(), "protobuf") || answer.Header().Get("Content-Type") != typeJSON {
			t.Errorf("%s: %v", answer.Body, answer.Header())
		}
	}
	w.do("POST", gaugePath, typeProtobuf, typeJSON, []byte("k8s\x00"), 415)
	answer := w.do("GET", gaugePath+"/a", "", typeProtobuf+","+typeJSON, nil, 200)
	if answer.Header().Get("Content-Type") != typeJSON {
		t.Error(answer.Header())
	}
	partial := decode(t, typeProtobuf, w.do("GET", gaugePath+"/a", "", typeProtobuf+asOne, nil, 200).Body.Bytes(),
		&metav1.PartialObjectMetadata{})
	if partial.Name != "a" || partial.Labels["a"] != "b" || len(partial.ManagedFields) != 1 {
		t.Errorf("%+v", partial)
	}
	missing := decode(t, typeProtobuf, w.do("GET", gaugePath+"/nobody", "", typeProtobuf+asOne, nil,
		404).Body.Bytes(), &metav1.Status{})
	if missing.Reason != metav1.StatusReasonNotFound {
		t.Errorf("%+v", missing)
	}
	options := &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"},
		DryRun: []string{metav1.DryRunAll}}
	w.do("DELETE", gaugePath+"/a", typeProtobuf, typeProtobuf+","+typeJSON, encode(t, typeProtobuf, options), 200)
	w.do("GET", gaugePath+"/a", "", typeJSON, nil, 200)
}

func TestBinaryBodiesThatAreRefused(t *testing.T) {
	w := newGaugeWorld(t, true, true)
	wrongKind := encode(t, typeProtobuf, &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}})
	for _, c := range []struct {
		name, mediaType, query string
		body                   []byte
		code                   int
		want                   string
	}{
		{"no protobuf", typeProtobuf, "", []byte("{}"), 400, "does not appear to be a protobuf message"},
		{"empty protobuf", typeProtobuf, "", []byte("k8s\x00"), 400, "does not appear to be a protobuf message"},
		{"nothing", typeProtobuf, "", nil, 400, "<empty>"},
		{"truncated", typeProtobuf, "", []byte("k8s\x00\x0a\xff"), 400, "EOF"},
		{"another kind", typeProtobuf, "", wrongKind, 400, "does not match the expected API version"},
		{"no CBOR", typeCBOR, "", []byte("{}"), 400, "unrecognized"},
		{"nothing", typeCBOR, "", nil, 400, "EOF"},
		{"an array", typeCBOR, "", []byte{0x80}, 400, "cannot unmarshal array"},
		{"doubled key", typeCBOR, "", []byte("\xa2\x44note\x41a\x44note\x41b"), 400, "duplicate map key"},
		{"a bomb", typeCBOR, "", []byte("\xa1\x44note\x9b\x7f\xff\xff\xff\xff\xff\xff\xff"), 400, ""},
		{"unknown field", typeCBOR, "?fieldValidation=Strict",
			[]byte("\xa2\x44nope\x41a\x48metadata\xa1\x44name\x41x"), 400, "strict decoding error: cbor: found " +
				"unknown field at map element index 0"},
		{"deep", typeCBOR, "", append([]byte("\xa1\x45extra"), bytes.Repeat([]byte{0x81}, 20000)...), 400, ""},
		{"wrong type", typeCBOR, "", []byte("\xa1\x45value\x41x"), 400, "cannot unmarshal"},
	} {
		t.Run(c.mediaType+" "+c.name, func(t *testing.T) {
			var status metav1.Status
			answer := w.do("POST", gaugePath+c.query, c.mediaType, typeJSON, c.body, c.code)
			if err := json.Unmarshal(answer.Body.Bytes(), &status); err != nil ||
				status.Reason != metav1.StatusReasonBadRequest || !strings.Contains(status.Message, c.want) {
				t.Errorf("%v %s", err, answer.Body)
			}
		})
	}
	warned := w.do("POST", gaugePath, typeCBOR, typeJSON, []byte("\xa2\x44nope\x41a\x48metadata\xa1\x44name\x41x"), 201)
	if got := warned.Header().Get("Warning"); !strings.Contains(got, "unknown field") {
		t.Error(got)
	}
}
