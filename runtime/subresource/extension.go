// Package subresource serves the subresources that are no part of their object: actions, removals, requests, scales,
// projections, streams and connections. It reads and writes the object through a Host. It also pairs and compares the
// items of lists for subresources that are a part of their object.
//
// It may know packages admission, api, auth, codec, metadata, ownership, reach, rendition, request, store, verb and
// wire.
package subresource

import (
	"context"
	"errors"
	"fmt"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Extension is a subresource that is not part of its object. ScaleOf, ActionOf, RemovalOf, RequestOf, ProjectionOf,
// StreamOf and ConnectionOf make it, and close over its types.
type Extension[T api.Object] struct {
	info verb.Extension
	// describe, where set, completes info for the resource's group.
	describe func(info verb.Extension, group string) verb.Extension
	// faults, where set, checks what the extension reads of an object, for a write of the object or of its part.
	faults func(obj T, part string) field.ErrorList
	// open binds the extension to an open resource.
	open func(Host[T]) (*verb.ExtensionHandle, error)
}

// Host is the open resource that an extension is bound to.
type Host[T api.Object] struct {
	Info *verb.Info
	// Object reads one object. resourceVersion is as in metav1.GetOptions.
	Object func(ctx context.Context, namespace, name, resourceVersion string) (T, error)
	// Writer is nil for a kind without storage.
	Writer  Writer[T]
	Schemas *ownership.Schemas
	// Admission has the plug-ins that what clients send to extensions passes; nil has none.
	Admission *admission.Chain
	// LogOwnership logs that the managedFields of a write could not be found out.
	LogOwnership func(obj metav1.Object, err error)
}

// Writer writes objects for their extensions.
type Writer[T api.Object] interface {
	// Act runs do on an object, stores all its changes that an update may make, and answers with the result of do.
	Act(ctx context.Context, t Target, opts verb.WriteOptions,
		do func(obj T) (verb.Rendition, error)) (verb.Result, error)
	// Change updates the object through another kind. The Change also sets managedFields and renders the answer.
	Change(ctx context.Context, t Target, opts verb.WriteOptions, change Change[T]) (verb.Result, error)
	// Remove deletes an object that consent doesn't refuse.
	Remove(ctx context.Context, t Target, opts verb.DeleteOptions,
		consent func(T, *verb.DeleteOptions) error) (verb.Deletion, error)
	// ServedVersion returns the group and version of a served version of the resource.
	ServedVersion(name string) (schema.GroupVersion, error)
}

// Target is the object that an extension writes, in a version of the resource.
type Target struct {
	Namespace, Name, Version string
	// Subresource is the extension's name.
	Subresource string
}

// Change changes an object for an extension, and renders the answer.
type Change[T api.Object] struct {
	Change func(obj T) (warnings []string, err error)
	Show   func(obj T, form verb.Form) (verb.Rendition, error)
}

// errNeedsStorage refuses an extension that writes objects of a kind without storage.
var errNeedsStorage = errors.New("it changes the object, and nothing is stored of it")

// Open binds extensions to an open resource.
func Open[T api.Object](extensions []Extension[T], h Host[T]) (map[string]*verb.ExtensionHandle, error) {
	opened := make(map[string]*verb.ExtensionHandle, len(extensions))
	for _, e := range extensions {
		switch {
		case e.open == nil || e.info.Name == "":
			return nil, fmt.Errorf("extension %q was not made by one of ScaleOf, ActionOf, RemovalOf, RequestOf, "+
				"ProjectionOf, StreamOf and ConnectionOf, or has no name", e.info.Name)
		case opened[e.info.Name] != nil || h.Info.Subresource(e.info.Name) != nil:
			return nil, fmt.Errorf("subresource %q is declared twice", e.info.Name)
		}
		handle, err := e.open(h)
		if err != nil {
			return nil, fmt.Errorf("subresource %q: %w", e.info.Name, err)
		}
		opened[e.info.Name] = handle
	}
	return opened, nil
}

// Info describes the extension of a resource in a group.
func (e Extension[T]) Info(group string) verb.Extension {
	if e.describe != nil {
		return e.describe(e.info, group)
	}
	return e.info
}

// Name is the name of the subresource.
func (e Extension[T]) Name() string { return e.info.Name }

// Faults returns what is wrong with the fields of an object that the extension reads. part is the subresource that is
// written, or "" for the object.
func (e Extension[T]) Faults(obj T, part string) field.ErrorList {
	if e.faults == nil {
		return nil
	}
	return e.faults(obj, part)
}
