package registry

import (
	"context"
	"fmt"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/metadata"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (k *kind[T]) Update(
	ctx context.Context, namespace, name, subresource string, body verb.Body, opts verb.WriteOptions,
) (verb.Result, error) {
	r, err := k.updateRequest("update", namespace, name, subresource, body.Version, opts)
	if err != nil {
		return verb.Result{}, err
	}
	r.proposal = &sent[T]{body: body}
	r.mayCreate = subresource == "" && k.definition.Strategy.AllowCreateOnUpdate && k.info.Has("create")
	return k.update(ctx, r)
}

// Patch implements Write. It applies the patch to the object in the version of the URL, and again after a conflict with
// another write. Only a patch that sets a resourceVersion can fail with a conflict.
func (k *kind[T]) Patch(
	ctx context.Context, namespace, name, subresource string, kind verb.PatchType, body verb.Body,
	opts verb.WriteOptions,
) (verb.Result, error) {
	r, err := k.updateRequest("patch", namespace, name, subresource, body.Version, opts)
	if err != nil {
		return verb.Result{}, err
	}
	if r.proposal = (&patched[T]{kind: kind, body: body}); kind == verb.ApplyPatch {
		r.proposal, r.ownership = &applied[T]{body: body}, merged
		r.mayCreate = subresource == "" && k.info.Has("create")
	}
	return k.update(ctx, r)
}

func (k *kind[T]) updateRequest(
	verb, namespace, name, subresource, version string, opts verb.WriteOptions,
) (r *request[T], err error) {
	if err := k.checkVerb(verb); err != nil {
		return nil, err
	}
	if err := k.checkPath(namespace, name); err != nil {
		return nil, err
	}
	r = &request[T]{verb: updateVerb, namespace: namespace, name: name, options: opts}
	if r.scope, err = k.scopes.of(subresource); err != nil {
		return nil, err
	}
	if r.version, err = k.versions.Lookup(version); err != nil {
		return nil, internal(err)
	}
	return r, nil
}

// matchRequest is the step that compares the new object with the namespace and name of the request. It does nothing for
// a patch that isn't applied yet.
func (k *kind[T]) matchRequest(_ context.Context, a *attempt[T]) error {
	if isAbsent(a.obj) {
		return nil
	}
	if err := metadata.EnsureNamespace(a.obj, k.info.Scope, a.namespace); err != nil || a.verb == createVerb {
		return err
	}
	return metadata.MatchName(a.obj, a.name)
}

// checkPreconditions is the step that refuses an object with another UID than the client sent. An update that could
// create the object is refused, too, if it has a UID and the object doesn't exist: the client means one that is
// gone.
func (k *kind[T]) checkPreconditions(_ context.Context, a *attempt[T]) error {
	var found types.UID
	switch {
	case a.verb == createVerb:
		return nil
	case a.old.Exists:
		found = a.old.Object.GetUID()
	case !a.mayCreate:
		return apierrors.NewNotFound(k.gr, a.name)
	}
	if a.uid == "" || a.uid == found {
		return nil
	}
	return metadata.UIDConflict(k.gr, a.name, a.uid, found)
}

// checkVersion is the step that refuses an update with a resourceVersion that isn't the object's. A new object has no
// resourceVersion from here on: what a client sent must not make it look like an old one. The end of the pipeline
// refuses a create that had one.
func (k *kind[T]) checkVersion(_ context.Context, a *attempt[T]) error {
	switch {
	case a.verb == createVerb:
		a.sentVersion = a.obj.GetResourceVersion()
		a.obj.SetResourceVersion("")
		return nil
	case !a.old.Exists:
		// The object that had this resourceVersion no longer exists.
		_, err := store.ParseVersion(a.obj.GetResourceVersion())
		a.obj.SetResourceVersion("")
		return err
	}
	current := a.old.Object.GetResourceVersion()
	if sent := a.obj.GetResourceVersion(); sent != current || sent == "" {
		number, err := store.ParseVersion(sent)
		switch {
		case err != nil:
			return err
		case number == 0 && k.definition.Strategy.RequireVersionOnUpdate:
			return apierrors.NewInvalid(schema.GroupKind{Group: k.gr.Group, Kind: k.gr.Resource}, a.name,
				field.ErrorList{
					field.Invalid(metadataPath.Child("resourceVersion"), uint64(0), "must be specified for an update"),
				})
		case number != 0 && number != a.old.Revision:
			return apierrors.NewConflict(k.gr, a.name, fmt.Errorf("%s", store.OptimisticLock))
		}
	}
	a.obj.SetResourceVersion(current)
	return nil
}

func (k *kind[T]) Create(
	ctx context.Context, namespace string, body verb.Body, opts verb.WriteOptions,
) (verb.Result, error) {
	if err := k.checkVerb("create"); err != nil {
		return verb.Result{}, err
	}
	v, err := k.versions.Lookup(body.Version)
	if err != nil {
		return verb.Result{}, internal(err)
	}
	return k.create(ctx, &request[T]{
		verb: createVerb, namespace: namespace, version: v, proposal: &sent[T]{body: body},
		scope: k.scopes.object, options: opts,
	})
}

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

// setSystemMetadata is the step that sets the fields of the metadata that only the server sets.
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

func isAbsent[T api.Object](obj T) bool {
	var none T
	return any(obj) == any(none)
}

// deduplicateOwners is the step that removes duplicate owner references from the complete proposal.
func (k *kind[T]) deduplicateOwners(_ context.Context, a *attempt[T]) error {
	a.addWarnings(metadata.DeduplicateOwners(a.obj, " after mutating admission happens"))
	return nil
}
