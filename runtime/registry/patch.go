package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"apigen.dev/runtime/api"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

const (
	// maxOperations bounds a JSON patch.
	maxOperations = 10000
	// maxCopied bounds by how much the copy operations of a patch may let an object grow, maxUnseen how large it may become
	// before that is looked at, and maxCopyWork what is spent on looking, which takes 30 ms for each MiB.
	maxCopied   = 3 << 20
	maxUnseen   = 16 << 20
	maxCopyWork = 64 << 20
	// maxPatchWork bounds what is spent on reading what nests deep.
	maxPatchWork = 256 << 20
)

// patcher applies one patch to JSON objects. It may be used again.
type patcher interface {
	apply(object []byte) ([]byte, error)
	// shown is what an error tells of a patch that made object.
	shown(object []byte) string
}

// Patch implements Write. The patch is applied to the object in the version of the URL, and again where that turned out
// to be out of date; unless the patch itself names a resourceVersion, it has no conflicts.
func (h *handle[T]) Patch(ctx context.Context, namespace, name, subresource string, kind PatchType, body Body, opts WriteOptions) (Result, error) {
	t, err := h.target(namespace, name, subresource, body.Version)
	if err != nil {
		return Result{}, err
	}
	t.merged = true
	if kind == ApplyPatch {
		return h.apply(ctx, t, body, opts)
	}
	v := t.version
	p, strict, err := v.patcher(kind, body)
	if err != nil {
		return Result{}, h.unlessMissing(ctx, t, err)
	}
	return h.update(ctx, t, opts, func(current *state[T]) (obj T, warnings []string, err error) {
		if !current.exists {
			return obj, nil, apierrors.NewNotFound(h.store.gr, name)
		}
		object, err := h.sentTo(v, current)
		if err != nil {
			return obj, nil, apierrors.NewInternalError(err)
		}
		if object, err = p.apply(object); err != nil {
			return obj, nil, err
		}
		if obj, warnings, err = decodePatched(v, h.definition.New(), p, object, strict, body.Validation); err != nil {
			return obj, nil, err
		}
		if err = h.isTarget(obj, t); err != nil {
			return obj, nil, err
		}
		return obj, warnings, keepsVersion(p, object)
	})
}

// unlessMissing is the error of a patch that can't be read; that there is nothing to patch is said first.
func (h *handle[T]) unlessMissing(ctx context.Context, t target[T], err error) error {
	if _, missing := h.store.getRendition(ctx, t.key, t.name, "", h.store.stored); apierrors.IsNotFound(missing) {
		return missing
	}
	return err
}

// sentTo is the current object as it is sent to clients of a version.
func (h *handle[T]) sentTo(v *version[T], current *state[T]) ([]byte, error) {
	if v != h.versions.storage {
		return v.encode(current.obj)
	}
	stored, err := newRendition(current.data, v.head)
	if err != nil {
		return nil, err
	}
	return whole(stamp(stored, current.revision)), nil
}

// decodePatched decodes what a patch made of an object.
func decodePatched[T api.Object](v *version[T], hub T, p patcher, object []byte, strict []error, validation string) (obj T, warnings []string, err error) {
	refuse := func(why error) error {
		return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), p.shown(object), why.Error())})
	}
	d, err := v.codec.decode(object, hub, validation != metav1.FieldValidationIgnore)
	// A strategic merge patch is of the version's Go type: what it says of kind and apiVersion is lost.
	if _, typed := p.(*strategicPatch); !typed && err == nil {
		err = v.fits(d.gvk, object)
	}
	if err != nil {
		return obj, nil, refuse(err)
	}
	if _, merged := p.(mergePatch); merged && len(d.strict) > 1 {
		d.strict = sortedFaults(v, hub, object, d.strict)
	}
	strict = append(strict[:len(strict):len(strict)], d.strict...)
	if len(strict) > 0 && validation == metav1.FieldValidationStrict {
		return obj, nil, refuse(runtime.NewStrictDecodingError(strict))
	}
	for _, e := range strict {
		warnings = append(warnings, e.Error())
	}
	return d.obj, warnings, nil
}

// keepsVersion refuses what a patch left without an apiVersion, which would say nothing of what its fields mean. The kind
// follows from the path, and a strategic merge patch is of a Go type, whatever it does to these fields.
func keepsVersion(p patcher, object []byte) error {
	if _, typed := p.(*strategicPatch); typed {
		return nil
	}
	if apiVersion, _ := typeOf(object); apiVersion == "" {
		return apierrors.NewBadRequest("Object 'apiVersion' is missing in what the patch makes of it")
	}
	return nil
}

// sortedFaults are the faults of an object in the order of its keys, which is that of an object that was decoded to be
// merged with: a merge that copies what it leaves alone keeps another.
func sortedFaults[T api.Object](v *version[T], hub T, object []byte, faults []error) []error {
	var tree map[string]any
	if decodeTree(object, &tree) != nil {
		return faults
	}
	sorted, err := json.Marshal(tree)
	if err != nil {
		return faults
	}
	d, err := v.codec.decode(sorted, hub.DeepCopyObject().(T), true)
	if err != nil || len(d.strict) != len(faults) {
		return faults
	}
	return d.strict
}

// patcher reads a patch of the version.
func (v *version[T]) patcher(kind PatchType, body Body) (p patcher, strict []error, err error) {
	if kind != StrategicPatch {
		return newPatcher(kind, body)
	}
	meta, err := v.codec.merging()
	if err != nil {
		return nil, nil, apierrors.NewInternalError(err)
	}
	return newStrategicPatch(body.Data, meta, body.Validation == metav1.FieldValidationIgnore)
}

// newPatcher reads a patch. strict are its unknown and duplicate fields, where they matter.
func newPatcher(kind PatchType, body Body) (p patcher, strict []error, err error) {
	lax := body.Validation == metav1.FieldValidationIgnore
	switch kind {
	case JSONPatch:
		return newJSONPatch(body.Data, lax)
	case MergePatch:
		var patch map[string]any
		if strict, err = kjson.UnmarshalStrict(body.Data, &patch); err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
		if lax {
			strict = nil
		}
		p, err = newMergePatch(body.Data)
		return p, strict, err
	}
	return nil, nil, apierrors.NewInternalError(fmt.Errorf("patches of type %q are not applied here", kind))
}

type jsonPatch struct {
	operations jsonpatch.Patch
	copies     bool
}

// jsonPatchOp has a name that errors show.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

func newJSONPatch(data []byte, lax bool) (patcher, []error, error) {
	var known []jsonPatchOp
	strict, err := kjson.UnmarshalStrict(data, &known)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	for i, e := range strict {
		strict[i] = fmt.Errorf("json patch %w", e)
	}
	if lax {
		strict = nil
	}
	// The library reads a value again at each level that it goes down.
	if nesting(data)*len(data) > maxPatchWork {
		return nil, nil, apierrors.NewRequestEntityTooLargeError("the JSON patch nests too deep for its size")
	}
	operations, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if len(operations) > maxOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(
			fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, len(operations)))
	}
	p := &jsonPatch{operations: operations}
	for _, o := range known {
		p.copies = p.copies || o.Op == "copy"
	}
	return p, strict, nil
}

// apply applies all operations at once, but for a patch with copies, each of which could double the object: there it
// stops behind so many copies as could make it too large, and looks at the size.
func (p *jsonPatch) apply(object []byte) ([]byte, error) {
	limit, work := len(object)+maxCopied, 0
	for rest := p.operations; len(rest) > 0; {
		n := len(rest)
		if p.copies {
			n = throughCopies(rest, len(object))
		}
		var err error
		if object, err = applyJSON(rest[:n], object); err != nil {
			return nil, err
		}
		rest, work = rest[n:], work+len(object)
		if p.copies && (len(object) > limit || work > maxCopyWork) {
			return nil, apierrors.NewRequestEntityTooLargeError("the copy operations of the JSON patch let the object grow too much")
		}
	}
	return object, nil
}

// throughCopies is how many operations can be applied to an object of a size before it could be larger than maxUnseen.
// One copy always can.
func throughCopies(operations jsonpatch.Patch, size int) int {
	for i := range operations {
		if operations[i].Kind() != "copy" {
			continue
		}
		if size *= 2; 2*size > maxUnseen {
			return i + 1
		}
	}
	return len(operations)
}

func (*jsonPatch) shown(object []byte) string { return string(object) }

func applyJSON(operations jsonpatch.Patch, object []byte) ([]byte, error) {
	return safely(func() ([]byte, error) {
		out, err := operations.Apply(object)
		if err != nil {
			return nil, unprocessable(err)
		}
		return out, nil
	})
}

// safely turns a panic of the patch library, whatever the patch that provoked it, into an error.
func safely(apply func() ([]byte, error)) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, unprocessable(errors.New("the patch can't be applied to this object"))
		}
	}()
	return apply()
}
