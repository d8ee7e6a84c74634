package schema

import (
	"apigen.dev/generator/model"
)

// WellKnown names a type of Go's or Kubernetes' libraries that descriptions of an API treat in their own way.
type WellKnown string

// The well-known types. GoTime is package time's; Time and MicroTime are metav1's.
const (
	GoTime        WellKnown = "time.Time"
	RawMessage    WellKnown = "json.RawMessage"
	JSONNumber    WellKnown = "json.Number"
	Time          WellKnown = "Time"
	MicroTime     WellKnown = "MicroTime"
	Duration      WellKnown = "Duration"
	FieldsV1      WellKnown = "FieldsV1"
	Fields        WellKnown = "Fields"
	Patch         WellKnown = "Patch"
	ObjectMeta    WellKnown = "ObjectMeta"
	ListMeta      WellKnown = "ListMeta"
	LabelSelector WellKnown = "LabelSelector"
	Unstructured  WellKnown = "Unstructured"
	Quantity      WellKnown = "Quantity"
	IntOrStr      WellKnown = "IntOrString"
	RawExtension  WellKnown = "RawExtension"
	AnyJSON       WellKnown = "JSON"
	AnyJSONBeta   WellKnown = "v1beta1.JSON"
)

// The import paths of apimachinery's packages with well-known types.
const (
	MetaPath     = "k8s.io/apimachinery/pkg/apis/meta/v1"
	ResourcePath = "k8s.io/apimachinery/pkg/api/resource"
	RuntimePath  = "k8s.io/apimachinery/pkg/runtime"
	IntstrPath   = "k8s.io/apimachinery/pkg/util/intstr"

	extensionsPath = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/"
)

// wellKnown is the table of well-known types by their Go names.
var wellKnown = map[string]WellKnown{
	"time.Time":                             GoTime,
	"encoding/json.RawMessage":              RawMessage,
	"encoding/json.Number":                  JSONNumber,
	MetaPath + ".Time":                      Time,
	MetaPath + ".MicroTime":                 MicroTime,
	MetaPath + ".Duration":                  Duration,
	MetaPath + ".FieldsV1":                  FieldsV1,
	MetaPath + ".Fields":                    Fields,
	MetaPath + ".Patch":                     Patch,
	MetaPath + ".ObjectMeta":                ObjectMeta,
	MetaPath + ".ListMeta":                  ListMeta,
	MetaPath + ".LabelSelector":             LabelSelector,
	MetaPath + "/unstructured.Unstructured": Unstructured,
	ResourcePath + ".Quantity":              Quantity,
	IntstrPath + ".IntOrString":             IntOrStr,
	RuntimePath + ".RawExtension":           RawExtension,
	extensionsPath + "v1.JSON":              AnyJSON,
	extensionsPath + "v1beta1.JSON":         AnyJSONBeta,
}

// KnownAs returns the name of a well-known type; it is empty for all other types.
func KnownAs(t *model.Type) WellKnown {
	if t.Package == nil {
		return ""
	}
	return wellKnown[t.Package.Path+"."+t.Name]
}

var (
	dateTime = Form{JSON: String, Format: "date-time"}
	object   = Form{JSON: Object}
	anything = Form{JSON: Any}
	either   = Form{JSON: IntOrString}
)

// forms are the JSON forms of well-known types in most dialects. A dialect's own forms override them.
var forms = map[WellKnown]Form{
	GoTime: dateTime, Time: dateTime, MicroTime: dateTime,
	Duration:     {JSON: String},
	FieldsV1:     object,
	Quantity:     {JSON: Decimal},
	IntOrStr:     either,
	RawExtension: object,
	AnyJSON:      anything,
	AnyJSONBeta:  anything,
	RawMessage:   anything,
	JSONNumber:   {JSON: Number},
}
