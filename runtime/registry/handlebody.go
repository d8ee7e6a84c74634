package registry

import (
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// decodeBody reads an object that a client sent. What it doesn't say of kind and apiVersion, the URL says.
func (h *handle[T]) decodeBody(body api.Body) (obj T, warnings []string, err error) {
	v, err := h.versions.Lookup(body.Version)
	if err != nil {
		return obj, nil, apierrors.NewInternalError(err)
	}
	return codec.DecodeBody(v, h.definition.New(), body)
}
