// Package structural gives our schemas of custom resources to upstream's unit tests: they are compiled in
// apiextensions-apiserver's module, to which the runtime's internal packages are closed.
package structural

import (
	"context"

	"apigen.dev/runtime/cel"
	ours "apigen.dev/runtime/internal/custom/structural"
	"apigen.dev/runtime/internal/request"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Schema is our schema.
type Schema = ours.Schema

// New makes a Schema of that of a definition.
func New(props *apiextensionsv1.JSONSchemaProps) (*Schema, error) { return ours.New(props) }

// Values validates values.
type Values = ours.Values

// NewValues makes the validation by a schema.
func NewValues(props *apiextensionsv1.JSONSchemaProps) (*Values, error) { return ours.NewValues(props) }

// NewRules compiles the rules in a schema of a resource.
func NewRules(props *apiextensionsv1.JSONSchemaProps) *cel.Rules {
	return cel.New(schema.GroupVersionKind{Version: "v1", Kind: "Object"}, ours.CEL(props))
}

// WithWarnings returns a context for rules, and what returns the warnings that they gave.
func WithWarnings(ctx context.Context) (context.Context, func() []string) {
	warnings := &request.Warnings{}
	return request.WithWarnings(ctx, warnings), warnings.Texts
}
