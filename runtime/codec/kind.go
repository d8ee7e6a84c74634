package codec

import (
	"fmt"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/rendition"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is a kind with its versions, the preferred one first.
type Kind[T api.Object] struct {
	Group, Kind string
	// New returns an empty hub object.
	New      func() T
	Versions []Version[T]
}

// BindKind binds the versions of a kind without storage. Its first version takes the place of the storage version.
func BindKind[T api.Object](k Kind[T]) (*Versions[T], error) {
	if k.New == nil || k.Kind == "" || len(k.Versions) == 0 {
		return nil, fmt.Errorf("the kind %q lacks New, Kind or Versions", k.Kind)
	}
	return Bind(k, k.Versions[0].Info.Name)
}

// DiscoveryKind returns the kind as the discovery document of a group shows it: without a version where the kind has
// the version of the URL.
func (k Kind[T]) DiscoveryKind(group string) schema.GroupVersionKind {
	kind := schema.GroupVersionKind{Group: k.Group, Kind: k.Kind}
	if (k.Group != group || len(k.Versions) == 1) && len(k.Versions) > 0 {
		kind.Version = k.Versions[0].Info.Name
	}
	return kind
}

// HasProtobuf reports whether every version of the kind has a protobuf encoding.
func (k Kind[T]) HasProtobuf() bool {
	return len(k.Versions) > 0 && !slices.ContainsFunc(k.Versions, func(v Version[T]) bool { return !v.HasProtobuf() })
}

// OrStorage finds a version by its name; without one of that name it returns the storage version.
func (a *Versions[T]) OrStorage(name string) *Served[T] {
	if v := a.ByName(name); v != nil {
		return v
	}
	return a.Storage
}

// DecodeBody decodes a body, whose version may be that of another kind: see OrStorage.
func (a *Versions[T]) DecodeBody(body api.Body) (obj T, warnings []string, err error) {
	return a.OrStorage(body.Version).DecodeBody(a.NewHub(), body)
}

// RenderObject renders an object in a form, whose version may be that of another kind: see OrStorage.
func (a *Versions[T]) RenderObject(obj T, form api.Form) (api.Rendition, error) {
	return a.OrStorage(form.Version).RenderObject(obj, form)
}

// RenderObject renders an object without a stored form. Its errors are API statuses.
func (v *Served[T]) RenderObject(obj T, form api.Form) (api.Rendition, error) {
	data, err := v.Encode(obj)
	if err != nil {
		return api.Rendition{}, apierrors.NewInternalError(err)
	}
	whole, err := rendition.New(data, v.Head)
	if err == nil {
		whole, err = v.shape(obj, whole, form)
	}
	if err != nil {
		return api.Rendition{}, apierrors.NewInternalError(err)
	}
	return whole, nil
}
