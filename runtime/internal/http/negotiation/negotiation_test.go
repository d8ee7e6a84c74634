package negotiation

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// objects allows what the endpoint allows for one object of a kind without protobuf.
func objects(f Format, as Transform) bool {
	if as == (Transform{}) {
		return f != Protobuf
	}
	return ObjectTransform(as) && HasTransform(f, as)
}

func TestOutput(t *testing.T) {
	table := Transform{"Table", "meta.k8s.io", "v1"}
	for _, c := range []struct {
		accept string
		want   MediaType
		code   int32
	}{
		{"", MediaType{}, 0},
		{"*/*", MediaType{}, 0},
		{"application/yaml", MediaType{Format: YAML}, 0},
		{"application/json;q=0.5,application/cbor", MediaType{Format: CBOR}, 0},
		{"application/json;pretty=1", MediaType{Pretty: true}, 0},
		{"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", MediaType{As: table}, 0},
		{"application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json", MediaType{}, 0},
		{"application/vnd.kubernetes.protobuf", MediaType{}, http.StatusNotAcceptable},
		{"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", MediaType{}, http.StatusNotAcceptable},
		{"text/html", MediaType{}, http.StatusNotAcceptable},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("Accept", c.accept)
		got, err := Output(r, objects)
		if got != c.want || codeOf(err) != c.code {
			t.Errorf("%q: %+v, %v; want %+v, code %d", c.accept, got, err, c.want, c.code)
		}
	}
}

func TestStreamOutputHasNoYAML(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.Header.Set("Accept", "application/yaml")
	if _, err := StreamOutput(r, AnyFormat); codeOf(err) != http.StatusNotAcceptable {
		t.Errorf("a watch in YAML: %v", err)
	}
	r.Header.Set("Accept", "application/yaml,application/cbor")
	if got, err := StreamOutput(r, AnyFormat); err != nil || got.Format != CBOR {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestInput(t *testing.T) {
	for contentType, want := range map[string]struct {
		format Format
		code   int32
	}{
		"":                                    {JSON, 0},
		"application/json; charset=utf-8":     {JSON, 0},
		"application/yaml":                    {YAML, 0},
		"application/vnd.kubernetes.protobuf": {0, http.StatusUnsupportedMediaType},
		"text/plain":                          {0, http.StatusUnsupportedMediaType},
		";":                                   {0, http.StatusUnsupportedMediaType},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		r.Header.Set("Content-Type", contentType)
		if got, err := Input(r, objects); got != want.format || codeOf(err) != want.code {
			t.Errorf("%q: %v, %v", contentType, got, err)
		}
	}
}

// TestFormatsAreComplete fails if a format is added without a row.
func TestFormatsAreComplete(t *testing.T) {
	for f := range FormatCount {
		if len(f.ContentType()) != 1 || f.MediaType() == "" || f.Streams() != (len(f.StreamContentType()) == 1) {
			t.Errorf("format %d: %q", f, f.ContentType())
		}
	}
	if (Transform{"PartialObjectMetadata", "meta.k8s.io", "v1beta1"}).Shape() != verb.Metadata|verb.V1beta1 {
		t.Error("the shape of old metadata")
	}
}

func codeOf(err error) int32 {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code
	}
	return 0
}
