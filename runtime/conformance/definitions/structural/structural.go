// Package structural gives our schemas of custom resources to upstream's unit tests: they are compiled in
// apiextensions-apiserver's module, to which the runtime's internal packages are closed.
package structural

import (
	ours "apigen.dev/runtime/internal/custom/structural"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Schema is our schema.
type Schema = ours.Schema

// New makes a Schema of that of a definition.
func New(props *apiextensionsv1.JSONSchemaProps) (*Schema, error) { return ours.New(props) }
