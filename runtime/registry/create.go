package registry

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Create implements Write.
func (h *handle[T]) Create(ctx context.Context, namespace string, body api.Body, opts api.WriteOptions) (api.Result, error) {
	v, err := h.versions.Lookup(body.Version)
	if err != nil {
		return api.Result{}, apierrors.NewInternalError(err)
	}
	obj, warnings, err := h.decodeBody(body)
	if err != nil {
		return api.Result{}, err
	}
	t := target[T]{version: v, namespace: namespace, manager: opts.FieldManager}
	if err := place(obj, h.info.Scope, namespace); err != nil {
		return api.Result{Warnings: warnings}, err
	}
	return named(h.store.Resource(), obj, warnings, func(obj T) (api.Result, error) { return h.create(ctx, t, obj, warnings, opts) })
}

// named creates an object under its name, or under names made of its generateName until one is free.
func named[T api.Object](gr schema.GroupResource, obj T, warnings []string, create func(T) (api.Result, error)) (api.Result, error) {
	if obj.GetName() != "" || obj.GetGenerateName() == "" {
		result, err := create(obj)
		if obj.GetGenerateName() != "" && apierrors.IsAlreadyExists(err) {
			err = notGenerated(gr, obj.GetName(), err)
		}
		return result, err
	}
	for attempt := 1; ; attempt++ {
		named := obj.DeepCopyObject().(T)
		named.SetName(generateName(obj.GetGenerateName()))
		result, err := create(named)
		if err == nil || !apierrors.IsAlreadyExists(err) {
			return result, err
		}
		if attempt == maxAttempts {
			return api.Result{Warnings: warnings}, notGenerated(gr, named.GetName(), err)
		}
	}
}

// notGenerated is the error of an object with a generateName whose name is taken.
func notGenerated(gr schema.GroupResource, name string, taken error) error {
	status := apierrors.NewGenerateNameConflict(gr, name, store.RetryAfterSeconds)
	if strings.HasPrefix(taken.Error(), store.BeingDeleted) {
		status.ErrStatus.Message = store.BeingDeleted + status.ErrStatus.Message
	}
	return store.WithCause(status, taken)
}

func (h *handle[T]) create(ctx context.Context, t target[T], obj T, warnings []string, opts api.WriteOptions) (api.Result, error) {
	unborn(obj)
	warnings = append(warnings[:len(warnings):len(warnings)], dedupOwners(obj, false)...)
	if err := h.own(&t, obj, &store.State[T]{}, opts.FieldManager); err != nil {
		return api.Result{}, err
	}
	more, data, err := h.prepareCreate(ctx, t, obj, &store.State[T]{})
	warnings = append(warnings[:len(warnings):len(warnings)], more...)
	if err != nil {
		return api.Result{Warnings: warnings}, err
	}
	if store.IsVersioned(obj) && !opts.DryRun {
		return api.Result{Warnings: warnings}, store.VersionOnCreate()
	}
	key, err := h.key(obj.GetNamespace(), obj.GetName())
	if err != nil {
		return api.Result{Warnings: warnings}, err
	}
	answer, err := h.foreseeObject(data, 0, opts.Form)
	if err != nil {
		return api.Result{Warnings: warnings}, err
	}
	out, err := h.store.Create(ctx, key, obj, store.CreateOptions{Data: data, DryRun: opts.DryRun})
	if errors.Is(err, storage.ErrTooLarge) && len(obj.GetManagedFields()) > 0 {
		// An object that would fit without them does without them.
		obj.SetManagedFields(nil)
		answer = foreseen{}
		if data, err = h.canonical(t.version, obj); err == nil {
			out, err = h.store.Create(ctx, key, obj, store.CreateOptions{Data: data, DryRun: opts.DryRun})
		}
	}
	if err != nil {
		return api.Result{Warnings: warnings}, h.store.Status(err, "create", obj.GetName())
	}
	if opts.DryRun {
		// Nothing was written that would give the object another resourceVersion than the client's.
		out.Revision, _ = store.ParseVersion(obj.GetResourceVersion())
	}
	object, err := answer.at(h.answer, data, out.Revision, opts.Form)
	return api.Result{Object: object, Created: true, Warnings: warnings}, err
}

// prepareCreate brings an object that has its name and namespace into its stored form.
func (h *handle[T]) prepareCreate(ctx context.Context, t target[T], obj T, absent *store.State[T]) (warnings []string, data []byte, err error) {
	strategy := &h.definition.Strategy
	unborn(obj)
	born(obj)
	if !strategy.NoGeneration {
		obj.SetGeneration(1)
	}
	for _, s := range h.definition.Subresources {
		s.Reset(obj)
	}
	if strategy.PrepareForCreate != nil {
		h.prepare(&t, obj, absent, func() { strategy.PrepareForCreate(ctx, obj) })
	}
	if err := h.validateCreate(ctx, t, obj); err != nil {
		return nil, nil, err
	}
	var none T
	warnings = h.warnings(ctx, obj, none)
	data, err = h.canonical(t.version, obj)
	return warnings, data, err
}

// canonical is the stored form of a valid object, which came in a version.
func (h *handle[T]) canonical(from *codec.Served[T], obj T) ([]byte, error) {
	if canonicalize := h.definition.Strategy.Canonicalize; canonicalize != nil {
		canonicalize(obj)
	}
	var err error
	if from != h.versions.Storage {
		obj, err = h.versions.ToStorageVersion(obj)
	}
	var data []byte
	if err == nil {
		data, err = h.store.Encode(obj)
	}
	var unsupported *json.UnsupportedValueError
	switch {
	case errors.As(err, &unsupported): // NaN, say, which protobuf can say and JSON can't
		return nil, apierrors.NewBadRequest("the object can't be stored: " + err.Error())
	case err != nil:
		return nil, apierrors.NewInternalError(err)
	}
	return data, nil
}
