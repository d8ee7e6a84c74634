package crd

import "apigen.dev/generator/model"

const (
	metaPath       = "k8s.io/apimachinery/pkg/apis/meta/v1"
	extensionsPath = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/"
)

// quantity is the pattern of a resource.Quantity that is written as a string.
const quantity = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

// known returns the schema of a type of apimachinery whose JSON isn't what its Go fields say, or nil.
func (b *builder) known(t *model.Type) object {
	if t.Package == nil {
		return nil
	}
	switch t.Package.Path + "." + t.Name {
	case metaPath + ".ObjectMeta":
		return b.metadata()
	case metaPath + ".Time", metaPath + ".MicroTime", "time.Time":
		return object{"type": "string", "format": "date-time"}
	case metaPath + ".Duration":
		return object{"type": "string"}
	case metaPath + ".Fields":
		return object{"type": "object", "additionalProperties": object{}}
	case metaPath + ".FieldsV1", metaPath + "/unstructured.Unstructured":
		return object{"type": "object"}
	case "k8s.io/apimachinery/pkg/api/resource.Quantity":
		s := intOrString()
		s["pattern"] = quantity
		return s
	case "k8s.io/apimachinery/pkg/util/intstr.IntOrString":
		return intOrString()
	case "k8s.io/apimachinery/pkg/runtime.RawExtension":
		return object{"type": "object", preserve: true}
	case extensionsPath + "v1.JSON", extensionsPath + "v1beta1.JSON":
		return object{preserve: true}
	}
	return nil
}

const preserve = "x-kubernetes-preserve-unknown-fields"

const either = "x-kubernetes-int-or-string"

func intOrString() object {
	return object{"anyOf": []any{object{"type": "integer"}, object{"type": "string"}}, either: true}
}

// metadata is that of an object inside of another: a cluster prunes what isn't said here.
func (b *builder) metadata() object {
	if !b.embeddedMetadata {
		return object{"type": "object"}
	}
	text := func() object { return object{"type": "string"} }
	texts := func() object { return object{"type": "object", "additionalProperties": text()} }
	return object{"type": "object", "properties": object{
		"name": text(), "namespace": text(), "labels": texts(), "annotations": texts(),
		"finalizers": object{"type": "array", "items": text()},
	}}
}

// basic is the schema of a predeclared type.
func basic(name string) object {
	switch name {
	case "bool":
		return object{"type": "boolean"}
	case "int64", "uint64":
		return object{"type": "integer", "format": "int64"}
	case "int32", "uint32", "rune":
		return object{"type": "integer", "format": "int32"}
	case "int", "int16", "int8", "uint", "uint16", "uint8", "byte", "uintptr":
		return object{"type": "integer"}
	case "float32", "float64":
		return object{"type": "number"}
	}
	return object{"type": "string"}
}
