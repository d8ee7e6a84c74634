package registry

import (
	"context"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/metadata"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Create implements Write.
func (k *kind[T]) Create(
	ctx context.Context, namespace string, body api.Body, opts api.WriteOptions,
) (api.Result, error) {
	if err := k.checkVerb("create"); err != nil {
		return api.Result{}, err
	}
	v, err := k.versions.Lookup(body.Version)
	if err != nil {
		return api.Result{}, internal(err)
	}
	return k.create(ctx, &request[T]{
		verb: createVerb, namespace: namespace, version: v, proposal: &sent[T]{body: body},
		options: opts,
	})
}

// needsName tells whether the server generates the name of a new object.
func needsName(obj metav1.Object) bool { return obj.GetName() == "" && obj.GetGenerateName() != "" }

// nameTaken returns the error for an object with a generateName whose generated name another object has.
func nameTaken(gr schema.GroupResource, name string, taken error) error {
	status := apierrors.NewGenerateNameConflict(gr, name, store.RetryAfterSeconds)
	if strings.HasPrefix(taken.Error(), store.BeingDeleted) {
		status.ErrStatus.Message = store.BeingDeleted + status.ErrStatus.Message
	}
	return store.WithCause(status, taken)
}

// resetMetadata is the step that resets the fields of a new object's metadata that only the server sets.
func (k *kind[T]) resetMetadata(_ context.Context, a *attempt[T]) error {
	if a.verb == createVerb {
		metadata.Reset(a.obj)
	}
	return nil
}

// setSystemMetadata is the step that sets the fields of the metadata that only the server sets: it initializes those of
// a new object, and keeps those of an old one.
func (k *kind[T]) setSystemMetadata(_ context.Context, a *attempt[T]) error {
	if a.old.Exists {
		metadata.KeepSystemFields(a.obj, a.old.Object)
		return nil
	}
	if a.verb != createVerb {
		metadata.Reset(a.obj)
	}
	if needsName(a.obj) {
		a.obj.SetName(metadata.GenerateName(a.obj.GetGenerateName()))
	}
	if k.initialize != nil {
		k.initialize(a.obj)
	}
	return nil
}

// isAbsent tells whether a typed pointer is nil.
func isAbsent[T api.Object](obj T) bool {
	var none T
	return any(obj) == any(none)
}

// deduplicateOwners is the step that removes duplicate owner references from the complete proposal.
func (k *kind[T]) deduplicateOwners(_ context.Context, a *attempt[T]) error {
	a.addWarnings(metadata.DeduplicateOwners(a.obj, " after mutating admission happens"))
	return nil
}
