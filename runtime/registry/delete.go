package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/metadata"
	"apigen.dev/runtime/rendition"
	"apigen.dev/runtime/store"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// collectionPage is how many objects a DeleteCollection lists at a time, collectionWorkers how many it deletes.
	collectionPage    = 500
	collectionWorkers = 8
)

// Delete implements Write. The object is removed; or, where finalizers hold it or the strategy grants it a time of
// grace, marked, for a later write to remove it. How its dependents are dealt with is recorded as a finalizer, which
// whoever collects garbage resolves.
func (k *kind[T]) Delete(ctx context.Context, namespace, name string, opts api.DeleteOptions) (api.Deletion, error) {
	if err := k.checkVerb("delete"); err != nil {
		return api.Deletion{}, err
	}
	if err := validateDeletion(opts); err != nil {
		return api.Deletion{}, err
	}
	return k.delete(ctx, deletionOf[T](namespace, name, opts, nil), nil)
}

// deletionOf is the request to delete an object.
func deletionOf[T api.Object](
	namespace, name string, opts api.DeleteOptions, consent func(T, *api.DeleteOptions) error,
) *request[T] {
	return &request[T]{
		verb: deleteVerb, namespace: namespace, name: name, options: opts.WriteOptions,
		deletion: &deletion[T]{options: opts, consent: consent},
	}
}

// Delete implements Write. It also deletes values that can't be read.
func (h *handle[T]) Delete(ctx context.Context, namespace, name string, opts api.DeleteOptions) (api.Deletion, error) {
	if !opts.IgnoreReadErrors {
		return h.kind.Delete(ctx, namespace, name, opts)
	}
	if err := validateDeletion(opts); err != nil {
		return api.Deletion{}, err
	}
	key, err := h.storage.key(namespace, name)
	if err != nil {
		return api.Deletion{}, err
	}
	if err := h.store.DeleteCorrupt(ctx, key, opts.DryRun); err != nil {
		return api.Deletion{}, err
	}
	return api.Deletion{Done: true}, nil
}

func validateDeletion(opts api.DeleteOptions) error {
	options := &metav1.DeleteOptions{PropagationPolicy: opts.Propagation}
	if opts.IgnoreReadErrors {
		options.IgnoreStoreReadErrorWithClusterBreakingPotential = &opts.IgnoreReadErrors
		options.Preconditions, options.GracePeriodSeconds = opts.Preconditions, opts.GracePeriodSeconds
	}
	errs := metavalidation.ValidateDeleteOptions(options)
	if len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	return nil
}

// checkDeletion is the step that refuses to delete an object which isn't the one that the client means.
func (k *kind[T]) checkDeletion(_ context.Context, a *attempt[T]) error {
	if !a.old.Exists {
		return apierrors.NewNotFound(k.gr, a.name)
	}
	if err := store.CheckPreconditions(k.deletionResource(), a.name, a.deleteOptions.Preconditions, a.obj); err != nil {
		return err
	}
	if consent := a.deletion.consent; consent != nil {
		if err := consent(a.obj, a.deleteOptions); err != nil {
			return err
		}
	}
	*a.done = api.Deletion{UID: string(a.obj.GetUID()), Shown: k.definition.Strategy.ReturnDeletedObject}
	return nil
}

// planDeletion removes an object, or marks it where it must wait.
func (e *storageEnd[T]) planDeletion(ctx context.Context, a *attempt[T]) (err error) {
	grace, err := e.grant(ctx, a.obj, *a.deleteOptions)
	if err != nil {
		return err
	}
	a.plan.Data = a.old.Data
	if grace == graceRuns {
		a.plan.Verb, a.done.Pending = store.Nothing, true
		return nil
	}
	e.propagate(ctx, a.obj, a.deleteOptions.Propagation)
	switch {
	case grace == graceSet:
	case len(a.obj.GetFinalizers()) > 0:
		metadata.MarkDeleted(a.obj)
	default:
		a.plan.Verb, a.done.Done = store.Remove, true
		return nil
	}
	a.plan.Data, err = e.store.Encode(a.obj)
	return err
}

var errNotSelected = errors.New("the object is no longer what was listed")

// DeleteCollection implements Write. An object that was replaced or changed since it was listed, so that the selection
// no longer takes it, stays, and is not part of the answer. What is shows as it was listed, as kube-apiserver has it:
// with the resourceVersion from before. Where a limit was asked for, the answer tells how the list goes on. The first
// error ends the deletion; the objects that were deleted until then are gone.
func (h *handle[T]) DeleteCollection(
	ctx context.Context, namespace string, opts api.DeleteOptions, list api.ListOptions,
) (*api.Page, error) {
	if err := validateDeletion(opts); err != nil {
		return nil, err
	}
	if opts.IgnoreReadErrors {
		return nil, apierrors.NewBadRequest("what can't be read is deleted by name, not as part of a collection")
	}
	sel, err := h.store.Selector(list.Selection)
	if err != nil {
		return nil, err
	}
	bounded := list.Limit > 0
	if !bounded {
		// A limit makes a resourceVersion without a match an exact one: what was created later stays.
		list.Limit = collectionPage
	}
	var deleted []api.Rendition
	version := ""
	for {
		page, err := h.List(ctx, namespace, list, h.store.Form())
		if err != nil {
			return nil, err
		}
		if version == "" {
			version = page.ResourceVersion
		}
		err = h.deletePage(ctx, page, &deleted, opts, &sel)
		page.Close()
		if err != nil {
			return nil, err
		}
		if bounded || page.Continue == "" {
			answer := pageOf(deleted, version)
			answer.Continue, answer.Remaining = page.Continue, page.Remaining
			return answer, nil
		}
		list.Continue, list.ResourceVersion, list.ResourceVersionMatch = page.Continue, "", ""
	}
}

// deletePage deletes the objects of a page, and appends them to into. After the first error it begins no further
// deletion.
func (h *handle[T]) deletePage(
	ctx context.Context, page *api.Page, into *[]api.Rendition, opts api.DeleteOptions, sel *store.Selector,
) error {
	deleted := make([]api.Rendition, page.Len)
	group, failed := errgroup.WithContext(ctx)
	group.SetLimit(collectionWorkers)
	if opts.Preconditions != nil {
		// Few objects meet a precondition. One worker deletes nothing behind the first object that fails it, as in
		// kube-apiserver, which by default has one worker for all that it deletes.
		group.SetLimit(1)
	}
	i := 0
	for r := range page.Items {
		at := i
		i++
		group.Go(func() (err error) {
			// A panic of a user's conversion must end this request, not the process.
			defer func() {
				if p := recover(); p != nil {
					err = apierrors.NewInternalError(fmt.Errorf("deleting %s panicked: %v", h.store.Resource(), p))
				}
			}()
			if err := failed.Err(); err != nil {
				return err
			}
			// A deletion that has begun is finished: its outcome must be known.
			deleted[at], err = h.deleteListed(ctx, r, opts, sel)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, r := range deleted {
		if r.Payload != nil {
			*into = append(*into, r)
		}
	}
	return nil
}

// deleteListed deletes the object that a list showed, and returns it as it was listed, in the form of the answer; what
// is gone already, or another one now, is no error, and nothing. What can't be shown in that form stays.
func (h *handle[T]) deleteListed(
	ctx context.Context, listed api.Rendition, opts api.DeleteOptions, sel *store.Selector,
) (api.Rendition, error) {
	var meta struct {
		Name      string    `json:"name"`
		Namespace string    `json:"namespace"`
		UID       types.UID `json:"uid"`
	}
	start, end, _ := rendition.Member(listed.Payload, 0, rendition.MetadataKey)
	if err := json.Unmarshal(listed.Payload[start:end], &meta); err != nil {
		return api.Rendition{}, apierrors.NewInternalError(err)
	}
	shown := listed
	var err error
	if opts.Form != h.store.Form() {
		if shown, err = h.versions.Render(listed, opts.Form); err != nil {
			return api.Rendition{}, apierrors.NewInternalError(err)
		}
	}
	opts.Form = h.store.Form() // of the deletion's own answer, which nobody sees
	_, err = h.kind.delete(ctx, deletionOf(meta.Namespace, meta.Name, opts, func(obj T, _ *api.DeleteOptions) error {
		if obj.GetUID() != meta.UID || !h.store.Selects(sel, obj) {
			return errNotSelected
		}
		return nil
	}), nil)
	if apierrors.IsNotFound(err) || errors.Is(err, errNotSelected) {
		return api.Rendition{}, nil
	}
	return shown, err
}
