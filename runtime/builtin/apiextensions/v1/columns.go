package v1

import (
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// CreatedAtColumn_CustomResourceDefinition returns when a definition was created: a time, not an age.
func CreatedAtColumn_CustomResourceDefinition(crd *apiextensionsv1.CustomResourceDefinition) string {
	return crd.CreationTimestamp.UTC().Format(time.RFC3339)
}
