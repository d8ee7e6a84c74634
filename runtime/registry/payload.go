package registry

import (
	"fmt"
	"slices"

	"apigen.dev/runtime/api"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is a kind that an extension takes or answers.
type Kind[B api.Object] struct {
	Group, Kind string
	New         func() B
	// Versions are those of the resource, where the kind belongs to them, in their order; else there is one.
	Versions []Version[B]
}

// payload is a Kind made ready.
type payload[B api.Object] struct {
	*versions[B]
}

func bindKind[B api.Object](k Kind[B]) (payload[B], error) {
	if k.New == nil || k.Kind == "" || len(k.Versions) == 0 {
		return payload[B]{}, fmt.Errorf("the kind %q lacks New, Kind or Versions", k.Kind)
	}
	all, err := bindVersions(&Definition[B]{
		Group: k.Group, Names: api.Names{Kind: k.Kind}, New: k.New, Versions: k.Versions, Storage: k.Versions[0].Info.Name,
	})
	return payload[B]{all}, err
}

// kindOf is the kind as discovery tells it: without a version where that is the URL's.
func kindOf[B api.Object](k Kind[B], group string) schema.GroupVersionKind {
	kind := schema.GroupVersionKind{Group: k.Group, Kind: k.Kind}
	if (k.Group != group || len(k.Versions) == 1) && len(k.Versions) > 0 {
		kind.Version = k.Versions[0].Info.Name
	}
	return kind
}

// bringsProtobuf tells that the kind can be protobuf in all of its versions.
func (k Kind[B]) bringsProtobuf() bool {
	return len(k.Versions) > 0 && !slices.ContainsFunc(k.Versions, func(v Version[B]) bool { return !v.codec.protobuf })
}

// at is the kind's version for a version of the resource.
func (p payload[B]) at(version string) *version[B] {
	if v := p.named(version); v != nil {
		return v
	}
	return p.storage
}

// read decodes a body.
func (p payload[B]) read(body Body) (obj B, warnings []string, err error) {
	v := p.at(body.Version)
	return decodeInto(v, p.newHub(), body)
}

// show writes an object in a form.
func (p payload[B]) show(obj B, form api.Form) (api.Rendition, error) {
	return renditionOf(p.at(form.Version), obj, form)
}

// renditionOf writes an object that nothing is stored of.
func renditionOf[B api.Object](v *version[B], obj B, form api.Form) (api.Rendition, error) {
	data, err := v.encode(obj)
	if err != nil {
		return api.Rendition{}, apierrors.NewInternalError(err)
	}
	whole, err := newRendition(data, v.head)
	if err == nil {
		whole, err = v.shape(obj, whole, form)
	}
	if err != nil {
		return api.Rendition{}, apierrors.NewInternalError(err)
	}
	return whole, nil
}
