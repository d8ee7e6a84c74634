package v1

import (
	"k8s.io/apimachinery/pkg/runtime"

	basev1 "apigen.dev/generator/internal/emit/conversion/testdata/cross/base/v1"
)

// SchemeBuilder is what generated functions are registered with.
var SchemeBuilder runtime.SchemeBuilder

// App has parts of another group.
type App struct {
	Parts []basev1.Part          `json:"parts"`
	Units map[string]basev1.Unit `json:"units"`
	Notes []basev1.Note          `json:"notes"`
	Stock basev1.Stock           `json:"stock"`
	Mark  basev1.Mark            `json:"mark"`
	Span  *basev1.Span           `json:"span,omitempty"`
}
