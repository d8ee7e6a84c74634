package crd

import (
	"apigen.dev/generator/schema"
)

// quantity is the pattern of a resource.Quantity in a string.
const quantity = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))` +
	`(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

const (
	preserve    = "x-kubernetes-preserve-unknown-fields"
	intOrString = "x-kubernetes-int-or-string"
)

// special returns the schema of a type whose form doesn't follow from its Go form.
func (b *builder) special(t *schema.Type) object {
	s := b.simple(t, nil)
	switch t.Known {
	case schema.ObjectMeta:
		return b.metadata()
	case schema.Fields:
		s["additionalProperties"] = object{}
	case schema.Quantity:
		s["pattern"] = quantity
	case schema.RawExtension:
		s[preserve] = true
	}
	return s
}

// metadata returns the schema of the metadata of an embedded object. A cluster prunes all fields that it doesn't
// describe.
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
