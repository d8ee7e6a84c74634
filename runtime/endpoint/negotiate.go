package endpoint

import (
	"net/http"
	"strconv"
	"strings"

	"apigen.dev/runtime/api"
	"github.com/munnerz/goautoneg"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The media types of bodies.
const (
	typeJSON     = "application/json"
	typeYAML     = "application/yaml"
	typeProtobuf = "application/vnd.kubernetes.protobuf"
	typeCBOR     = "application/cbor"
)

// format is how bytes are written.
type format uint8

const (
	formatJSON format = iota
	formatYAML
	formatProtobuf
	formatCBOR
)

// formats are what the API writes and reads, in kube-apiserver's order, the default first. One more is one more row.
var formats = [...]struct {
	kind, subkind, mediaType string
	// stream is the media type of a watch; "" where there is none.
	stream string
	// encoding is that of the renditions that are written; YAML is made of JSON.
	encoding api.Encoding
}{
	formatJSON:     {"application", "json", typeJSON, typeJSON, api.JSON},
	formatYAML:     {"application", "yaml", typeYAML, "", api.JSON},
	formatProtobuf: {"application", "vnd.kubernetes.protobuf", typeProtobuf, typeProtobuf + ";stream=watch", api.Protobuf},
	formatCBOR:     {"application", "cbor", typeCBOR, typeCBOR + "-seq", api.CBOR},
}

// contentTypes and streamTypes are the values of the header Content-Type for each format, made once.
var contentTypes, streamTypes = headerValues()

func headerValues() (whole, streams [len(formats)][]string) {
	for f := range formats {
		whole[f], streams[f] = []string{formats[f].mediaType}, []string{formats[f].stream}
	}
	return whole, streams
}

// transform is what a client asks to be made of an object: as=Table;v=v1;g=meta.k8s.io.
type transform struct{ Kind, Group, Version string }

// mediaType is what a client accepts that we have.
type mediaType struct {
	format format
	pretty bool
	// as is zero where objects are wanted as they are.
	as transform
}

func (m mediaType) contentType() string { return formats[m.format].mediaType }

// allowTransform decides which transformations a route makes.
type allowTransform func(transform) bool

// noTransform is for routes that answer one kind of object only.
func noTransform(transform) bool { return false }

// allowFormat decides in which formats a transformation can be had; the zero transform is the object as it is.
type allowFormat func(format, transform) bool

// anyFormat is for what has no transformation, and can be written in every format.
func anyFormat(_ format, as transform) bool { return as == transform{} }

// madeOf is what can be made of a resource's objects: metadata of every kind is a protobuf message, a Table is none.
func madeOf(f format, as transform) bool {
	shape, known := shapes[as]
	return known && (f != formatProtobuf || shape.Plain() == api.Metadata)
}

// statusFormats are for statuses, which stay what they are where something was to be made of objects.
func statusFormats(f format, as transform) bool { return anyFormat(f, as) || madeOf(f, as) }

// textFormats is for what is there as JSON only.
func textFormats(f format, as transform) bool { return f <= formatYAML && as == transform{} }

// negotiate picks the first clause of Accept, in the order of its preference, that can be served. Without an Accept it
// is JSON.
func negotiate(r *http.Request, allow allowFormat) (mediaType, error) {
	if media, ok := negotiateFormats(r, allow); ok {
		return media, nil
	}
	return mediaType{}, notAcceptable(mediaTypes(allow)...)
}

// mediaTypes are those of the formats that objects can be had in as they are.
func mediaTypes(allow allowFormat) []string {
	var types []string
	for f := range formats {
		if allow(format(f), transform{}) {
			types = append(types, formats[f].mediaType)
		}
	}
	return types
}

// negotiateStream is negotiate for watches.
func negotiateStream(r *http.Request, allow allowFormat) (mediaType, error) {
	streams := func(f format, as transform) bool { return formats[f].stream != "" && allow(f, as) }
	if media, ok := negotiateFormats(r, streams); ok {
		return media, nil
	}
	return mediaType{}, notAcceptable(mediaTypes(allow)...)
}

func negotiateFormats(r *http.Request, allow allowFormat) (mediaType, bool) {
	pretty := wantsPretty(r)
	header := r.Header.Get("Accept")
	if header == "" || header == typeJSON || header == "*/*" {
		return mediaType{pretty: pretty}, true
	}
	for _, clause := range goautoneg.ParseAccept(header) {
		for f := range formats {
			kind, subkind := formats[f].kind, formats[f].subkind
			if clause.Type != kind && (clause.Type != "*" || clause.SubType != "*") || clause.SubType != subkind && clause.SubType != "*" {
				continue
			}
			if stream, asked := clause.Params["stream"]; asked && (stream != "watch" || formats[f].stream == "") {
				continue
			}
			media := mediaType{format: format(f), pretty: pretty || clause.Params["pretty"] == "1"}
			media.as = transform{Kind: clause.Params["as"], Group: clause.Params["g"], Version: clause.Params["v"]}
			if allow(media.format, media.as) {
				return media, true
			}
		}
	}
	return mediaType{}, false
}

// wantsPretty: the query decides; without it, tools that show the answer to a person get it indented.
func wantsPretty(r *http.Request) bool {
	if strings.Contains(r.URL.RawQuery, "pretty") {
		if value := r.URL.Query().Get("pretty"); value != "" {
			pretty, _ := strconv.ParseBool(value)
			return pretty
		}
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}

// singleTransform, listTransform and watchTransform are what can be made of one object, of a list and of the objects
// in events.
func singleTransform(t transform) bool {
	_, ok := shapes[t]
	return ok && t.Kind != "PartialObjectMetadataList"
}

func listTransform(t transform) bool {
	_, ok := shapes[t]
	return ok && t.Kind != "PartialObjectMetadata"
}

func watchTransform(t transform) bool {
	_, ok := shapes[t]
	return ok
}

// shapes is the table of transformations. A row carries what includeObject asks for; here stands its default.
var shapes = map[transform]api.Shape{
	{"Table", metav1.GroupName, "v1"}:                     api.RowWithMetadata,
	{"PartialObjectMetadata", metav1.GroupName, "v1"}:     api.Metadata,
	{"PartialObjectMetadataList", metav1.GroupName, "v1"}: api.Metadata,

	{"Table", metav1.GroupName, "v1beta1"}:                     api.RowWithMetadata | api.V1beta1,
	{"PartialObjectMetadata", metav1.GroupName, "v1beta1"}:     api.Metadata | api.V1beta1,
	{"PartialObjectMetadataList", metav1.GroupName, "v1beta1"}: api.Metadata | api.V1beta1,
}

func notAcceptable(accepted ...string) error {
	return statusError(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"only the following media types are accepted: "+strings.Join(accepted, ", "))
}

func unsupportedMediaType(accepted ...string) error {
	return statusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+strings.Join(accepted, ", "))
}

// statusError is an API status that apimachinery has no constructor for.
func statusError(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}}
}
