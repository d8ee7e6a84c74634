package registry

import (
	"context"

	"apigen.dev/runtime/api"
)

// Patch implements Write. It applies the patch to the object in the version of the URL, and again after a conflict with
// another write. Only a patch that sets a resourceVersion can fail with a conflict.
func (k *kind[T]) Patch(
	ctx context.Context, namespace, name, subresource string, kind api.PatchType, body api.Body, opts api.WriteOptions,
) (api.Result, error) {
	r, err := k.updateRequest("patch", namespace, name, subresource, body.Version, opts)
	if err != nil {
		return api.Result{}, err
	}
	if r.proposal = (&patched[T]{kind: kind, body: body}); kind == api.ApplyPatch {
		r.proposal, r.ownership = &applied[T]{body: body}, merged
		r.mayCreate = subresource == "" && k.checkVerb("create") == nil
	}
	return k.update(ctx, r)
}
