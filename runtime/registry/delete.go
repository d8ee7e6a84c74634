package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"apigen.dev/runtime/internal/object/metadata"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
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

// Delete implements Write. It removes the object, or sets its deletionTimestamp where the object has finalizers or a
// grace period: a later write then removes it. It records the propagation policy as a finalizer, for the garbage
// collector.
func (k *kind[T]) Delete(ctx context.Context, namespace, name string, opts verb.DeleteOptions) (verb.Deletion, error) {
	if err := k.checkVerb("delete"); err != nil {
		return verb.Deletion{}, err
	}
	if err := validateDeletion(opts); err != nil {
		return verb.Deletion{}, err
	}
	return k.delete(ctx, k.deletionOf(namespace, name, opts, nil), nil)
}

func (k *kind[T]) deletionOf(
	namespace, name string, opts verb.DeleteOptions, consent func(T, *verb.DeleteOptions) error,
) *request[T] {
	return &request[T]{
		verb: deleteVerb, namespace: namespace, name: name, options: opts.WriteOptions,
		version:  k.versions.ByKey(opts.Form.Version),
		deletion: &deletion[T]{options: opts, consent: consent},
	}
}

// Delete implements Write. It also deletes corrupt objects, where the options ask for that.
func (h *handle[T]) Delete(
	ctx context.Context, namespace, name string, opts verb.DeleteOptions,
) (verb.Deletion, error) {
	if !opts.IgnoreReadErrors {
		return h.kind.Delete(ctx, namespace, name, opts)
	}
	if err := validateDeletion(opts); err != nil {
		return verb.Deletion{}, err
	}
	key, err := h.storage.key(namespace, name)
	if err != nil {
		return verb.Deletion{}, err
	}
	if err := h.store.DeleteCorrupt(ctx, key, opts.DryRun); err != nil {
		return verb.Deletion{}, err
	}
	return verb.Deletion{Done: true}, nil
}

func validateDeletion(opts verb.DeleteOptions) error {
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

// checkDeletion is the step that refuses to delete an object that doesn't meet the preconditions of the request.
func (k *kind[T]) checkDeletion(_ context.Context, a *attempt[T]) error {
	if !a.old.Exists {
		return apierrors.NewNotFound(k.gr, a.name)
	}
	if err := k.checkConversion(a); err != nil {
		return err
	}
	if err := store.CheckPreconditions(k.deletionResource(), a.name, a.deleteOptions.Preconditions, a.obj); err != nil {
		return err
	}
	if consent := a.deletion.consent; consent != nil {
		if err := consent(a.obj, a.deleteOptions); err != nil {
			return err
		}
	}
	*a.done = verb.Deletion{UID: string(a.obj.GetUID()), Shown: k.definition.Strategy.ReturnDeletedObject}
	return nil
}

// checkConversion refuses to delete an object that can't be converted to the version of the request. As in
// kube-apiserver, that is so although most deletions show nothing of the object. The members of a collection were
// converted when they were listed.
func (k *kind[T]) checkConversion(a *attempt[T]) error {
	if a.version == nil || !a.version.Remote() || a.deletion.collection {
		return nil
	}
	_, err := a.version.View(a.obj)
	return internal(err)
}

// planDeletion plans to remove an object, or to set its deletionTimestamp if it has finalizers or a grace period.
func (e *storageEnd[T]) planDeletion(ctx context.Context, a *attempt[T]) (err error) {
	grace, err := e.grant(ctx, a.obj, *a.deleteOptions)
	if err != nil {
		return err
	}
	a.plan.Data = a.old.Data
	blocked := e.blocked(a.obj)
	if grace == metadata.GraceRuns || blocked && a.obj.GetDeletionTimestamp() != nil {
		a.plan.Verb, a.done.Pending = store.Nothing, true
		return nil
	}
	e.propagate(ctx, a.obj, a.deleteOptions.Propagation)
	switch {
	case grace == metadata.GraceSet:
	case len(a.obj.GetFinalizers()) > 0 || blocked:
		metadata.MarkDeleted(a.obj)
	default:
		a.plan.Verb, a.done.Done = store.Remove, true
		return nil
	}
	if prepare := e.kind.definition.Strategy.PrepareForDelete; prepare != nil {
		prepare(ctx, a.obj)
	}
	a.plan.Data, err = e.store.Encode(a.obj)
	return err
}

// blocked reports whether something beside metadata.finalizers keeps a deleted object.
func (e *storageEnd[T]) blocked(obj T) bool {
	blocks := e.kind.definition.Strategy.BlocksDeletion
	return blocks != nil && blocks(obj)
}

var errNotSelected = errors.New("the object is no longer what was listed")

// DeleteCollection implements Write. It skips an object that another write replaced since it was listed, or changed so
// that the selection no longer selects it. As in kube-apiserver, the answer shows each object as it was listed, with
// the resourceVersion from before its deletion, and has a continue token where the request has a limit. The first error
// ends the deletion; the objects that were deleted before it stay deleted.
func (h *handle[T]) DeleteCollection(
	ctx context.Context, namespace string, opts verb.DeleteOptions, list verb.ListOptions,
) (*verb.Page, error) {
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
		// With a limit a resourceVersion without a match is an exact one: objects that were created later stay.
		list.Limit = collectionPage
	}
	var deleted []verb.Rendition
	version := ""
	for {
		page, err := h.List(ctx, namespace, list, h.store.Form())
		if err != nil {
			return nil, err
		}
		if version == "" {
			version = page.ResourceVersion
		}
		err = h.deletePage(ctx, page, &deleted, opts, list.Memory, &sel)
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
	ctx context.Context, page *verb.Page, into *[]verb.Rendition, opts verb.DeleteOptions, memory verb.Memory,
	sel *store.Selector,
) error {
	deleted := make([]verb.Rendition, page.Len)
	shown, err := h.listedIn(ctx, page, opts.Form, memory)
	if err != nil {
		return err
	}
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
			deleted[at], err = h.deleteListed(ctx, r, shown[at], opts, sel)
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

// listedIn returns the objects of a page in the form of the answer, which is kept until the collection is deleted. No
// object is deleted where one of them can't be rendered in that form, or if there is no memory for them.
func (h *handle[T]) listedIn(
	ctx context.Context, page *verb.Page, form verb.Form, memory verb.Memory,
) ([]verb.Rendition, error) {
	listed := slices.Collect(page.Items)
	if form == h.store.Form() {
		return listed, nil
	}
	shown, errs := h.versions.RenderAll(ctx, listed, form)
	for _, err := range errs {
		if err != nil {
			return nil, internal(err)
		}
	}
	if memory == nil {
		return shown, nil
	}
	size := int64(0)
	for _, r := range shown {
		size += int64(len(r.Payload))
	}
	return shown, memory.Hold(size)
}

// deleteListed deletes an object of a list, and returns it as it is shown. It returns the zero value where the object
// is gone or another one has its name.
func (h *handle[T]) deleteListed(
	ctx context.Context, listed, shown verb.Rendition, opts verb.DeleteOptions, sel *store.Selector,
) (verb.Rendition, error) {
	meta, err := identityOf(listed)
	if err != nil {
		return verb.Rendition{}, internal(err)
	}
	r := h.deletionOf(meta.Namespace, meta.Name, opts, func(obj T, _ *verb.DeleteOptions) error {
		if obj.GetUID() != meta.UID || !h.store.Selects(sel, obj) {
			return errNotSelected
		}
		return nil
	})
	r.deletion.collection = true
	r.options.Form = h.store.Form() // the cheapest one: nobody sees the answer to this deletion
	_, err = h.kind.delete(ctx, r, nil)
	if apierrors.IsNotFound(err) || errors.Is(err, errNotSelected) {
		return verb.Rendition{}, nil
	}
	return shown, err
}

// identity is the part of an object's metadata that names it.
type identity struct {
	Name      string    `json:"name"`
	Namespace string    `json:"namespace"`
	UID       types.UID `json:"uid"`
}

func identityOf(r verb.Rendition) (identity, error) {
	var object struct {
		Metadata identity `json:"metadata"`
	}
	partial, err := rendition.MetadataIn(verb.JSON, r, verb.Metadata)
	if err == nil {
		err = json.Unmarshal(rendition.Whole(partial), &object)
	}
	return object.Metadata, err
}
