// Package crdjson encodes and decodes CustomResourceDefinitions in JSON without reflection. Nearly all of a definition
// is schemas, whose Go types encode and decode each level of a schema anew: that costs ten times as much, and more the
// deeper the schema is.
//
// What the package writes has the bytes of encoding/json. It reads the schemas that servers store and people write; for
// all others, with fields that are unknown, duplicate or null, for example, it leaves the whole definition to
// sigs.k8s.io/json, whose errors clients know. It imports no package of this module.
package crdjson

import (
	"bytes"
	"encoding/json"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"
)

type (
	definition = apiextensionsv1.CustomResourceDefinition
	props      = apiextensionsv1.JSONSchemaProps
)

// Unmarshal decodes a definition into an empty one, as sigs.k8s.io/json does: case-sensitively. Where it is strict, it
// returns the errors about unknown and duplicate fields.
func Unmarshal(data []byte, crd *definition, strictly bool) (strict []error, err error) {
	if unmarshalParts(data, crd, strictly) {
		return nil, nil
	}
	*crd = definition{}
	return unmarshalWhole(data, crd, strictly)
}

func unmarshalWhole(data []byte, crd *definition, strictly bool) (strict []error, err error) {
	if strictly {
		return kjson.UnmarshalStrict(data, crd)
	}
	return nil, kjson.UnmarshalCaseSensitivePreserveInts(data, crd)
}

// unmarshalParts decodes the schemas here and the rest by reflection. It returns false if one of them is irregular.
func unmarshalParts(data []byte, crd *definition, strictly bool) bool {
	found, ok := findSchemas(data)
	if !ok || len(found) == 0 {
		return false
	}
	rest := make([]byte, 0, len(data)-(found[len(found)-1].end-found[0].start)+2*len(found))
	last := 0
	for _, s := range found {
		rest = append(append(rest, data[last:s.start]...), "{}"...)
		last = s.end
	}
	rest = append(rest, data[last:]...)
	if strict, err := unmarshalWhole(rest, crd, strictly); err != nil || len(strict) > 0 {
		return false
	}
	for _, s := range found {
		crd.Spec.Versions[s.version].Schema.OpenAPIV3Schema = s.schema
	}
	return true
}

// foundSchema is the schema of a version of a definition, and where it stands.
type foundSchema struct {
	version, start, end int
	schema              *props
}

// findSchemas decodes the schemas of a definition. The rest of it need not be valid.
func findSchemas(data []byte) (found []foundSchema, ok bool) {
	r := &reader{data: data}
	r.memberOf("spec", func() {
		r.memberOf("versions", func() {
			n := 0
			r.items(func() {
				r.memberOf("schema", func() {
					r.memberOf("openAPIV3Schema", func() {
						s := foundSchema{version: n, start: r.at, schema: new(props)}
						r.schema(s.schema)
						s.end = r.at
						found = append(found, s)
					})
				})
				n++
			})
		})
	})
	return found, !r.irregular
}

// UnmarshalSchema decodes a schema.
func UnmarshalSchema(data []byte, schema *props) error {
	r := &reader{data: data}
	r.space()
	if r.schema(schema); r.end() {
		return nil
	}
	*schema = props{}
	return kjson.UnmarshalCaseSensitivePreserveInts(data, schema)
}

// MarshalSchema encodes a schema.
func MarshalSchema(schema *props) ([]byte, error) {
	return marshal(schema, func(w *writer) { w.schema(schema) })
}

// Marshal encodes a definition.
func Marshal(crd *definition) ([]byte, error) {
	return marshal(crd, func(w *writer) { w.definition(crd) })
}

// buffers are for the next text: one of a definition has a hundred kilobytes.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// marshal returns what write appends. Where that fails, encoding/json has the error.
func marshal(value any, write func(*writer)) ([]byte, error) {
	buffer := buffers.Get().(*[]byte)
	w := &writer{out: (*buffer)[:0]}
	write(w)
	*buffer = w.out
	defer buffers.Put(buffer)
	if w.failed {
		return json.Marshal(value)
	}
	return bytes.Clone(w.out), nil
}
