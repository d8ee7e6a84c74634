package cel

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"apigen.dev/runtime/internal/object/fault"
	"apigen.dev/runtime/internal/object/omission"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// Validate runs the rules over an object of the kind, and returns their errors after the errors that other checks
// found. old is the object that is replaced, or nil on a creation. Rules that use oldSelf run only if there is an
// old object, and a rule whose value an update leaves unchanged may fail. As for a custom resource, no rule runs where
// an earlier error says that a value is missing, too large or not allowed. Validate changes neither object.
func Validate[T any](ctx context.Context, r *Rules, errs field.ErrorList, obj, old *T) field.ErrorList {
	if fault.Blocks(errs) {
		return fault.Unchecked(errs)
	}
	if r.fault != nil {
		return append(errs, field.InternalError(nil, r.fault))
	}
	now, err := content(ctx, r, obj)
	if err != nil {
		return append(errs, field.InternalError(nil, err))
	}
	var before map[string]any
	if old != nil {
		if before, err = content(ctx, r, old); err != nil {
			return append(errs, field.InternalError(nil, err))
		}
	}
	return append(errs, r.Run(ctx, now, before)...)
}

// RunAfter is Validate for decoded JSON, such as a custom resource: see Run.
func (r *Rules) RunAfter(ctx context.Context, errs field.ErrorList, obj, old map[string]any) field.ErrorList {
	if r.root == nil && r.fault == nil {
		return errs
	}
	if fault.Blocks(errs) {
		return fault.Unchecked(errs)
	}
	return append(errs, r.Run(ctx, obj, old)...)
}

// content returns the object as decoded JSON, with its kind and without managedFields, which no rule sees.
func content[T any](ctx context.Context, r *Rules, obj *T) (map[string]any, error) {
	shallow := *obj
	if o, ok := any(&shallow).(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	if o, ok := any(&shallow).(interface{ GetObjectKind() schema.ObjectKind }); ok {
		o.GetObjectKind().SetGroupVersionKind(r.kind)
	}
	data, err := omission.From(ctx, reflect.TypeFor[T]()).JSON(&shallow)
	if err != nil {
		return nil, fmt.Errorf("the object as rules see it: %w", err)
	}
	var out map[string]any
	err = kjson.UnmarshalCaseSensitivePreserveInts(data, &out)
	return out, err
}

// Run runs the rules over an object, which is decoded JSON with int64 for whole numbers, and returns their errors in
// the order of the schema. old is nil on a creation.
func (r *Rules) Run(ctx context.Context, obj, old map[string]any) field.ErrorList {
	errs, _ := r.RunWithin(ctx, objectLimit, obj, old)
	return errs
}

// RunWithin is Run with a limit of the cost of all rules together, in units of CEL. It returns what is left of it,
// which is negative where the rules needed more.
func (r *Rules) RunWithin(
	ctx context.Context, limit int64, obj, old map[string]any,
) (errs field.ErrorList, left int64) {
	if r.fault != nil {
		return field.ErrorList{field.InternalError(nil, r.fault)}, limit
	}
	if r.root == nil {
		return nil, limit
	}
	w := walk{ctx: ctx, budget: limit}
	at := ratchet{}
	var before any
	if old != nil {
		before, at = old, ratchet{correlated: true, schema: r.root.schema, now: obj, old: old}
	}
	w.value(r.root, nil, obj, before, at)
	return w.errs, w.budget
}

// walk is one run over an object.
type walk struct {
	ctx    context.Context
	budget int64 // the remaining budget; no further rules run if it is negative
	errs   field.ErrorList
}

// value runs the rules for a value and for the values in it. old is nil if there is no value to compare with.
func (w *walk) value(n *node, path *field.Path, v, old any, at ratchet) {
	if v == nil || w.budget < 0 {
		return // the value around null has rules about null
	}
	w.rules(n, path, v, old, at)
	switch v := v.(type) {
	case map[string]any:
		before, _ := old.(map[string]any)
		w.members(n, path, v, before, at)
	case []any:
		before, _ := old.([]any)
		w.elements(n, path, v, before, at)
	}
}

func (w *walk) members(n *node, path *field.Path, v, old map[string]any, at ratchet) {
	for _, name := range n.names {
		if member, ok := v[name]; ok {
			p := n.properties[name]
			w.value(p, path.Child(name), member, old[name], at.field(name, p.schema, path == nil))
		}
	}
	if n.values == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		w.value(n.values, path.Key(key), v[key], old[key], at.field(key, n.values.schema, false))
	}
}

func (w *walk) elements(n *node, path *field.Path, v, old []any, at ratchet) {
	if n.items == nil {
		return
	}
	by := newIndex(n.schema, old)
	for i, e := range v {
		before := by.Find(e)
		w.value(n.items, path.Index(i), e, before, at.element(e, before, n.items.schema))
	}
}
