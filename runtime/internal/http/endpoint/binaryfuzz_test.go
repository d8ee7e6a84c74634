package endpoint_test

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// FuzzBinaryBodies: what apimachinery's serializers read of a body is what is written, and what they refuse is a 400.
func FuzzBinaryBodies(f *testing.F) {
	for _, mediaType := range []string{typeCBOR, typeProtobuf} {
		f.Add(mediaType == typeCBOR, encode(f, mediaType,
			&gauge{TypeMeta: metav1.TypeMeta{Kind: "Gauge", APIVersion: "shop.example.com/v1"},
				ObjectMeta: metav1.ObjectMeta{Name: "a",
					Labels: map[string]string{"b": "c"}}, Value: 1.5, Note: "n", Blob: []byte{1}}))
	}
	f.Add(true, []byte("\xd9\xd9\xf7\xbf\x44note\x5f\x41a\x41b\xff\x48metadata\xa1\x44name\x61x\xff"))
	f.Add(true, []byte("\xa2\x44note\xf6\x48metadata\xf6"))
	f.Add(true, []byte("\xa1\x45value\xfb\x7f\xf0\x00\x00\x00\x00\x00\x00"))
	f.Add(false, encode(f, typeProtobuf,
		&gauge{TypeMeta: metav1.TypeMeta{Kind: "Gauge", APIVersion: "shop.example.com/v1"},
			ObjectMeta: metav1.ObjectMeta{Name: "a"}, Value: math.NaN()}))
	f.Add(false, []byte("k8s\x00\x0a\x00\x12\x02\x12\xff"))
	w := newGaugeWorld(f, true, true)
	f.Fuzz(func(t *testing.T, asCBOR bool, body []byte) {
		mediaType := typeProtobuf
		if asCBOR {
			mediaType = typeCBOR
		}
		want := &gauge{}
		gvk := gaugeVersion.WithKind("Gauge")
		_, actual, err := serializersOf(t, mediaType).Serializer.Decode(body, &gvk, want)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost,
			gaugePath+"?dryRun=All&fieldValidation=Ignore", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", mediaType)
		r.Header.Set("Accept", mediaType)
		answer := httptest.NewRecorder()
		w.api.ServeHTTP(answer, r)
		switch {
		case err != nil || *actual != gvk:
			if answer.Code != http.StatusBadRequest {
				t.Fatalf("%d, though apimachinery says %v: %q", answer.Code, err, answer.Body)
			}
		case answer.Code == http.StatusCreated:
			got := decode(t, mediaType, answer.Body.Bytes(), &gauge{})
			if want.Extra.Raw != nil { // JSON of any spelling
				want.Extra = got.Extra
			}
			want.ObjectMeta, want.TypeMeta = got.ObjectMeta, got.TypeMeta
			want.Note, got.Note = storable(want.Note), storable(got.Note)
			counts := map[string]int64{}
			for key, n := range want.Counts {
				if storable(key) != key {
					return // keys may become one
				}
				counts[key] = n
			}
			if want.Counts = counts; asCBOR && !apiequality.Semantic.DeepEqual(got, want) ||
				got.Note != want.Note || got.Value != want.Value {
				t.Fatalf("got  %+v\nwant %+v", got, want)
			}
		case answer.Code != http.StatusUnprocessableEntity && answer.Code != http.StatusBadRequest:
			t.Fatalf("%d %q", answer.Code, answer.Body)
		}
	})
}

// storable is a string as JSON can hold it, with one mark for what isn't UTF-8.
func storable(s string) string {
	var out strings.Builder
	last := rune(0)
	for _, r := range s {
		if r != utf8.RuneError || last != utf8.RuneError {
			out.WriteRune(r)
		}
		last = r
	}
	return out.String()
}

// FuzzRoundTrip: an object is the same in whichever encoding it is written and read.
func FuzzRoundTrip(f *testing.F) {
	f.Add("note", 1.5, []byte{0}, "label", int64(7))
	f.Add("é\x00\"", math.MaxFloat64, []byte{}, "", int64(math.MinInt64))
	f.Add(strings.Repeat("x", 70000), math.Copysign(0, -1), []byte(nil), strings.Repeat("l", 63), int64(1)<<53+1)
	w := newGaugeWorld(f, true, true)
	f.Fuzz(func(t *testing.T, note string, value float64, blob []byte, label string, count int64) {
		if !utf8.ValidString(note) || math.IsNaN(value) || math.IsInf(value, 0) {
			t.Skip()
		}
		want := &gauge{TypeMeta: metav1.TypeMeta{Kind: "Gauge", APIVersion: "shop.example.com/v1"},
			ObjectMeta: metav1.ObjectMeta{Name: "a",
				Labels: map[string]string{"l": label}}, Value: value, Note: note, Blob: blob}
		for _, mediaType := range []string{typeJSON, typeCBOR, typeProtobuf} {
			if want.Counts = nil; mediaType != typeProtobuf {
				want.Counts = map[string]int64{"n": count}
			}
			body := encode(t, mediaType, want)
			for _, accept := range []string{typeJSON, typeCBOR, typeProtobuf} {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, gaugePath+"?dryRun=All",
					strings.NewReader(string(body)))
				r.Header.Set("Content-Type", mediaType)
				r.Header.Set("Accept", accept)
				answer := httptest.NewRecorder()
				w.api.ServeHTTP(answer, r)
				if answer.Code == http.StatusUnprocessableEntity { // a label that is none
					return
				}
				if answer.Code != http.StatusCreated {
					t.Fatalf("%s to %s: %d %q", mediaType, accept, answer.Code, answer.Body)
				}
				got := &gauge{}
				if accept != typeJSON {
					decode(t, accept, answer.Body.Bytes(), got)
				} else if err := json.Unmarshal(answer.Body.Bytes(), got); err != nil {
					t.Fatal(err)
				}
				expected := want.DeepCopyObject().(*gauge)
				expected.ObjectMeta = got.ObjectMeta
				if accept == typeProtobuf {
					expected.Counts, expected.Extra = nil, runtime.RawExtension{}
				}
				if got.Labels["l"] != label || !apiequality.Semantic.DeepEqual(got, expected) {
					t.Fatalf("%s to %s:\ngot  %+v\nwant %+v", mediaType, accept, got, expected)
				}
			}
		}
	})
}
