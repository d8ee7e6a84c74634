// Package negotiation finds the format of a request's body and of its answer: the media types, what the header Accept
// asks for, and what a client wants objects to be transformed into (a Table, PartialObjectMetadata). It may know
// package verb, and it reads requests but writes no answers.
package negotiation

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"apigen.dev/runtime/internal/verb"
	"github.com/munnerz/goautoneg"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The media types of bodies.
const (
	TypeJSON     = "application/json"
	TypeYAML     = "application/yaml"
	TypeProtobuf = "application/vnd.kubernetes.protobuf"
	TypeCBOR     = "application/cbor"
)

// Format is the format of a body.
type Format uint8

// The formats of bodies.
const (
	JSON Format = iota
	YAML
	Protobuf
	CBOR
	// FormatCount is the number of formats.
	FormatCount
)

// formats is the table of formats, in kube-apiserver's order, the default first. A new format is a new row.
var formats = [FormatCount]struct {
	subtype string
	// contentType and streamType are the values of the header Content-Type of a body and of a watch, which all answers
	// share. streamType is nil if a watch can't have the format.
	contentType, streamType []string
	// encoding is the encoding of the renditions that make up the body. YAML is made of JSON.
	encoding verb.Encoding
}{
	JSON: {"json", []string{TypeJSON}, []string{TypeJSON}, verb.JSON},
	YAML: {"yaml", []string{TypeYAML}, nil, verb.JSON},
	Protobuf: {
		"vnd.kubernetes.protobuf", []string{TypeProtobuf}, []string{TypeProtobuf + ";stream=watch"}, verb.Protobuf,
	},
	CBOR: {"cbor", []string{TypeCBOR}, []string{TypeCBOR + "-seq"}, verb.CBOR},
}

// MediaType returns the media type of a body in the format.
func (f Format) MediaType() string { return formats[f].contentType[0] }

// Encoding returns the encoding of the renditions that make up a body in the format.
func (f Format) Encoding() verb.Encoding { return formats[f].encoding }

// Streams reports whether a watch can have the format.
func (f Format) Streams() bool { return formats[f].streamType != nil }

// ContentType returns the value of the header Content-Type for a body. The caller must not change it.
func (f Format) ContentType() []string { return formats[f].contentType }

// StreamContentType returns the value of the header Content-Type for a watch. The caller must not change it.
func (f Format) StreamContentType() []string { return formats[f].streamType }

// Transform is the kind that a client wants objects to be transformed into: as=Table;v=v1;g=meta.k8s.io. The zero
// Transform leaves objects as they are.
type Transform struct{ Kind, Group, Version string }

// MediaType is a media type that a client accepts and the server has.
type MediaType struct {
	Format Format
	// Pretty asks for indented JSON.
	Pretty bool
	As     Transform
}

// AllowTransform reports whether a route can transform objects in this way.
type AllowTransform func(Transform) bool

// NoTransform allows no Transform.
func NoTransform(Transform) bool { return false }

// AllowFormat reports whether an answer can have a format and a Transform.
type AllowFormat func(Format, Transform) bool

// AnyFormat allows every format, and no Transform.
func AnyFormat(_ Format, as Transform) bool { return as == Transform{} }

// TextFormats allows JSON and YAML, and no Transform.
func TextFormats(f Format, as Transform) bool { return f <= YAML && as == Transform{} }

// StatusFormats allows the formats of a Status. A Status answers a request for transformed objects, too, and stays a
// Status.
func StatusFormats(f Format, as Transform) bool { return AnyFormat(f, as) || HasTransform(f, as) }

// HasTransform reports whether the objects of a resource can be transformed in a format. PartialObjectMetadata is a
// protobuf message, a Table is none.
func HasTransform(f Format, as Transform) bool {
	shape, known := shapes[as]
	return known && (f != Protobuf || shape.Plain() == verb.Metadata)
}

// Output returns the media type of the answer: the first clause of Accept, in the client's order of preference, that
// allow allows. A request without Accept gets JSON. Output fails with 406 if no clause is allowed.
func Output(r *http.Request, allow AllowFormat) (MediaType, error) {
	return output(r, allow, allow)
}

// StreamOutput is Output for watches: it returns only formats that a watch can have.
func StreamOutput(r *http.Request, allow AllowFormat) (MediaType, error) {
	return output(r, func(f Format, as Transform) bool { return f.Streams() && allow(f, as) }, allow)
}

// Input returns the format of the request's body, by the header Content-Type. A body without one is JSON. Input fails
// with 415 for other media types than those of the formats that are allowed without a Transform.
func Input(r *http.Request, allow AllowFormat) (Format, error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return JSON, nil
	}
	if mediaType, _, err := mime.ParseMediaType(header); err == nil {
		for f := range FormatCount {
			if mediaType == f.MediaType() && allow(f, Transform{}) {
				return f, nil
			}
		}
	}
	return 0, UnsupportedMediaType(mediaTypes(allow)...)
}

// mediaTypes returns the media types of the formats that are allowed without a Transform.
func mediaTypes(allow AllowFormat) []string {
	var types []string
	for f := range FormatCount {
		if allow(f, Transform{}) {
			types = append(types, f.MediaType())
		}
	}
	return types
}

// output returns the first media type that allow allows, or an error that lists the known formats.
func output(r *http.Request, allow, known AllowFormat) (MediaType, error) {
	pretty := WantsPretty(r)
	header := r.Header.Get("Accept")
	if header == "" || header == TypeJSON || header == "*/*" {
		return MediaType{Pretty: pretty}, nil
	}
	for _, clause := range goautoneg.ParseAccept(header) {
		for f := range FormatCount {
			if clause.Type != "application" && (clause.Type != "*" || clause.SubType != "*") ||
				clause.SubType != formats[f].subtype && clause.SubType != "*" {
				continue
			}
			if stream, asked := clause.Params["stream"]; asked && (stream != "watch" || !f.Streams()) {
				continue
			}
			media := MediaType{Format: f, Pretty: pretty || clause.Params["pretty"] == "1"}
			media.As = Transform{Kind: clause.Params["as"], Group: clause.Params["g"], Version: clause.Params["v"]}
			if allow(media.Format, media.As) {
				return media, nil
			}
		}
	}
	return MediaType{}, NotAcceptable(mediaTypes(known)...)
}

// WantsPretty reports whether a client wants indented JSON. The option pretty of the query decides. Without it,
// programs that show the answer to a person get indented JSON.
func WantsPretty(r *http.Request) bool {
	if strings.Contains(r.URL.RawQuery, "pretty") {
		if value := r.URL.Query().Get("pretty"); value != "" {
			pretty, _ := strconv.ParseBool(value)
			return pretty
		}
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") ||
		strings.HasPrefix(agent, "Mozilla/5.0")
}

// ObjectTransform allows what one object can be transformed into.
func ObjectTransform(t Transform) bool {
	_, ok := shapes[t]
	return ok && t.Kind != "PartialObjectMetadataList"
}

// ListTransform allows what a list can be transformed into.
func ListTransform(t Transform) bool {
	_, ok := shapes[t]
	return ok && t.Kind != "PartialObjectMetadata"
}

// WatchTransform allows what the objects in events can be transformed into.
func WatchTransform(t Transform) bool {
	_, ok := shapes[t]
	return ok
}

// Shape returns the shape of objects that are transformed. A Table has the shape with metadata, which is the default of
// the option includeObject.
func (t Transform) Shape() verb.Shape { return shapes[t] }

// shapes is the table of transformations.
var shapes = map[Transform]verb.Shape{
	{"Table", metav1.GroupName, "v1"}:                     verb.RowWithMetadata,
	{"PartialObjectMetadata", metav1.GroupName, "v1"}:     verb.Metadata,
	{"PartialObjectMetadataList", metav1.GroupName, "v1"}: verb.Metadata,

	{"Table", metav1.GroupName, "v1beta1"}:                     verb.RowWithMetadata | verb.V1beta1,
	{"PartialObjectMetadata", metav1.GroupName, "v1beta1"}:     verb.Metadata | verb.V1beta1,
	{"PartialObjectMetadataList", metav1.GroupName, "v1beta1"}: verb.Metadata | verb.V1beta1,
}

// NotAcceptable returns the error 406 for a request that accepts none of the media types.
func NotAcceptable(accepted ...string) error {
	return NewError(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"only the following media types are accepted: "+strings.Join(accepted, ", "))
}

// UnsupportedMediaType returns the error 415 for a body in none of the media types.
func UnsupportedMediaType(accepted ...string) error {
	return NewError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+
			strings.Join(accepted, ", "))
}

// NewError returns an API status for which apimachinery has no constructor.
func NewError(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}}
}
