package registry

import (
	"context"
	"errors"
	"fmt"

	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var errReadable = errors.New("the object can be read: it is deleted without ignoreStoreReadErrorWithClusterBreakingPotential")

// deleteUnreadable removes a value that can't be opened or decoded, and only such a one: without preconditions,
// finalizers and hooks, since nobody can know what they would say. What is removed is the very value that could not be
// read.
func (h *handle[T]) deleteUnreadable(ctx context.Context, key, name string, dryRun bool) (Deletion, error) {
	kv, _, err := h.store.backend.Get(ctx, key, storage.GetOptions{})
	for err == nil {
		if kv == nil {
			return Deletion{}, apierrors.NewNotFound(h.store.gr, name)
		}
		if _, readErr := h.store.stateOf(key, kv); readErr == nil {
			return Deletion{}, apierrors.NewConflict(h.store.gr, name, errReadable)
		}
		if dryRun {
			return Deletion{Done: true}, nil
		}
		_, err = h.store.backend.Delete(ctx, key, kv.Revision)
		var conflict *storage.ConflictError
		if !errors.As(err, &conflict) {
			break
		}
		kv, err = conflict.Current, nil
	}
	if err != nil {
		return Deletion{}, h.store.status(fmt.Errorf("deleting an unreadable value: %w", err), "delete", name)
	}
	return Deletion{Done: true}, nil
}
