package schema

import (
	"apigen.dev/generator/internal/model"
)

// WellKnown is the Go name of a type of Go's or Kubernetes' libraries that descriptions of an API treat in their own
// way.
type WellKnown string

// The well-known types. GoTime is package time's; Time and MicroTime are metav1's.
const (
	GoTime        WellKnown = "time.Time"
	RawMessage    WellKnown = "encoding/json.RawMessage"
	JSONNumber    WellKnown = "encoding/json.Number"
	Time          WellKnown = MetaPath + ".Time"
	MicroTime     WellKnown = MetaPath + ".MicroTime"
	Duration      WellKnown = MetaPath + ".Duration"
	FieldsV1      WellKnown = MetaPath + ".FieldsV1"
	Fields        WellKnown = MetaPath + ".Fields"
	Patch         WellKnown = MetaPath + ".Patch"
	ObjectMeta    WellKnown = MetaPath + ".ObjectMeta"
	ListMeta      WellKnown = MetaPath + ".ListMeta"
	LabelSelector WellKnown = MetaPath + ".LabelSelector"
	Unstructured  WellKnown = MetaPath + "/unstructured.Unstructured"
	Quantity      WellKnown = ResourcePath + ".Quantity"
	IntOrStr      WellKnown = IntstrPath + ".IntOrString"
	RawExtension  WellKnown = RuntimePath + ".RawExtension"
	AnyJSON       WellKnown = extensionsPath + "v1.JSON"
	AnyJSONBeta   WellKnown = extensionsPath + "v1beta1.JSON"
)

// The import paths of apimachinery's packages with well-known types.
const (
	MetaPath     = "k8s.io/apimachinery/pkg/apis/meta/v1"
	ResourcePath = "k8s.io/apimachinery/pkg/api/resource"
	RuntimePath  = "k8s.io/apimachinery/pkg/runtime"
	IntstrPath   = "k8s.io/apimachinery/pkg/util/intstr"

	extensionsPath = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/"
)

// KnownAs returns the name of a well-known type; it is empty for all other types.
func KnownAs(t *model.Type) WellKnown {
	if t.Package == nil {
		return ""
	}
	name := WellKnown(t.Package.Path + "." + t.Name)
	if _, known := forms[name]; !known {
		return ""
	}
	return name
}

var (
	dateTime = Form{JSON: String, Format: "date-time"}
	object   = Form{JSON: Object}
	anything = Form{JSON: Any}
	either   = Form{JSON: IntOrString}
)

// forms are the JSON forms of all well-known types in most dialects, unknown where it follows from the Go form. A
// dialect's own forms override them.
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
	Fields:       unknown, Patch: unknown, ObjectMeta: unknown, ListMeta: unknown, LabelSelector: unknown,
	Unstructured: unknown,
}
