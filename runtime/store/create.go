package store

import (
	"context"
	"errors"
	"time"

	"apigen.dev/runtime/api"
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
	if isVersioned(obj) && !opts.DryRun {
		return Outcome{}, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	data := opts.Data
	if data == nil {
		if data, err = s.encodeCopy(obj); err != nil {
			return Outcome{}, apierrors.NewInternalError(err)
		}
	}
	revision, err := s.insert(ctx, full, obj.GetName(), data, opts)
	if err != nil {
		return Outcome{}, s.Status(err, "create", obj.GetName())
	}
	return Outcome{Data: data, Revision: revision, Created: true}, nil
}

// isVersioned tells whether an object has a resourceVersion other than 0.
func isVersioned(obj api.Object) bool {
	version := obj.GetResourceVersion()
	return version != "" && version != "0"
}

// insert writes an object that must be absent.
func (s *Store[T]) insert(ctx context.Context, key, name string, data []byte, opts CreateOptions) (int64, error) {
	if opts.DryRun {
		kv, _, err := s.backend.Get(ctx, key, storage.GetOptions{})
		if err != nil || kv == nil {
			return 0, err
		}
		return 0, s.exists(&storage.ConflictError{Key: key, Current: kv}, name)
	}
	revision, err := s.put(ctx, key, data, 0, opts.TTL)
	if err == nil {
		return revision, nil
	}
	var conflict *storage.ConflictError
	if errors.As(err, &conflict) {
		err = s.exists(conflict, name)
	}
	return 0, err
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
