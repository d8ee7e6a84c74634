package store

import (
	"context"
	"errors"
	"time"

	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// CreateOptions refine a Create of a Store. The zero value works.
type CreateOptions struct {
	// Data is the stored form of the object, as Encode returns it; nil has the store encode the object.
	Data []byte
	// TTL is how long the object lives; 0 is no limit.
	TTL time.Duration
	// DryRun makes Create check that the object doesn't exist, and write nothing.
	DryRun bool
}

// Create writes an object that must not exist, in one transaction. Except in a dry run it refuses an object that has a
// resourceVersion.
func (s *Store[T]) Create(ctx context.Context, key string, obj T, opts CreateOptions) (Outcome, error) {
	full, err := s.key(key)
	if err != nil {
		return Outcome{}, err
	}
	if version := obj.GetResourceVersion(); version != "" && version != "0" && !opts.DryRun {
		return Outcome{}, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	data := opts.Data
	if data == nil {
		if data, err = s.encodeCopy(obj); err != nil {
			return Outcome{}, apierrors.NewInternalError(err)
		}
	}
	out := Outcome{Data: data, Created: true}
	var conflict *storage.ConflictError
	if opts.DryRun {
		var kv *storage.KeyValue
		if kv, _, err = s.backend.Get(ctx, full, storage.GetOptions{}); kv != nil {
			conflict = &storage.ConflictError{Key: full, Current: kv}
		}
	} else if out.Revision, err = s.put(ctx, full, data, 0, opts.TTL); err != nil {
		var taken *storage.ConflictError
		if errors.As(err, &taken) {
			conflict = taken
		}
	}
	switch {
	case conflict != nil:
		return Outcome{}, s.exists(conflict, obj.GetName())
	case err != nil:
		return Outcome{}, s.Status(err, "create", obj.GetName())
	}
	return out, nil
}

// BeingDeleted begins the message of an error about an object with a deletionTimestamp.
const BeingDeleted = "object is being deleted: "

// exists returns 409 AlreadyExists, whose message says so where the existing object is being deleted.
func (s *Store[T]) exists(conflict *storage.ConflictError, name string) error {
	status := apierrors.NewAlreadyExists(s.gr, name)
	if conflict.Current != nil {
		current, err := s.stateOf(conflict.Key, conflict.Current)
		if err == nil && current.Object.GetDeletionTimestamp() != nil {
			status.ErrStatus.Message = BeingDeleted + status.ErrStatus.Message
		}
	}
	return WithCause(status, conflict)
}
