package registry

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"
)

type fieldManagers[T api.Object] struct {
	versions *codec.Versions[T]
	types    map[string]*ownership.Type
	managers map[managerKey]*ownership.Manager
	// bound reports whether versions are those of a request, and not those of the managers.
	bound bool
	// custom has all versions of a custom resource, as group/version; it is empty for a kind with Go types.
	custom []fieldpath.APIVersion
}

type managerKey struct{ version, subresource string }

func newFieldManagers[T api.Object](
	d *Definition[T], all *codec.Versions[T], schemas *ownership.Schemas,
) (*fieldManagers[T], error) {
	o := &fieldManagers[T]{versions: all, types: map[string]*ownership.Type{},
		managers: map[managerKey]*ownership.Manager{}}
	for i := range all.Served {
		v := &all.Served[i]
		types, err := schemas.Of(v.GVK)
		if err != nil {
			return nil, err
		}
		types.Omit(v.Form())
		o.types[v.Key] = types
	}
	for i := range d.Versions {
		if info := &d.Versions[i].Info; info.Untyped {
			o.custom = append(o.custom, fieldpath.APIVersion(d.Group+"/"+info.Name))
		}
	}
	sets := &ownership.Sets{}
	add := func(subresource string, filter func(written, version string) fieldpath.Filter) {
		for i := range all.Served {
			v := &all.Served[i]
			filters := map[fieldpath.APIVersion]fieldpath.Filter{}
			for j := range all.Served {
				gvk := all.Served[j].GVK
				if selected := filter(v.GVK.Version, gvk.Version); selected != nil {
					filters[fieldpath.APIVersion(gvk.GroupVersion().String())] = selected
				}
			}
			m := &ownership.Manager{
				Version: fieldpath.APIVersion(v.GVK.GroupVersion().String()), Subresource: subresource,
				Filters: filters, Types: o.types[v.Key], Convert: o.convert, Sets: sets,
			}
			o.managers[managerKey{v.Key, subresource}] = m
		}
	}
	add("", d.others)
	for i := range d.Subresources {
		add(d.Subresources[i].Name, d.Subresources[i].filter)
	}
	for _, e := range d.Extensions {
		add(e.Name(), func(_, _ string) fieldpath.Filter { return nil }) // an extension may set any field
	}
	return o, nil
}

func (o *fieldManagers[T]) manager(a *attempt[T]) *ownership.Manager {
	shared := o.managers[managerKey{a.version.Key, a.scope.name}]
	if !o.bound {
		return shared
	}
	m := *shared
	m.Convert = o.convert
	return &m
}

// managersOf returns the field managers of an attempt, whose conversions end with its request.
func (k *kind[T]) managersOf(a *attempt[T]) (*fieldManagers[T], error) {
	shared, err := k.fieldManagers()
	if err != nil || shared.versions == a.versions {
		return shared, err
	}
	of := *shared
	of.versions, of.bound = a.versions, true
	return &of, nil
}

func (o *fieldManagers[T]) served(version fieldpath.APIVersion) (*codec.Served[T], error) {
	gv, err := schema.ParseGroupVersion(string(version))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ownership.ErrNotServed, err)
	}
	v := o.versions.In(gv)
	if v == nil {
		return nil, fmt.Errorf("%w: %s", ownership.ErrNotServed, version)
	}
	return v, nil
}

func (o *fieldManagers[T]) convert(object *smd.TypedValue, version fieldpath.APIVersion) (*smd.TypedValue, error) {
	to, err := o.served(version)
	if err != nil {
		return nil, err
	}
	value := object.AsValue()
	if !value.IsMap() {
		return nil, fmt.Errorf("the object is no object")
	}
	apiVersion, ok := value.AsMap().Get("apiVersion")
	if !ok || !apiVersion.IsString() {
		return nil, fmt.Errorf("the object has no apiVersion")
	}
	from, err := o.served(fieldpath.APIVersion(apiVersion.AsString()))
	if err != nil {
		return nil, err
	}
	if from == to {
		return object, nil
	}
	return o.read(object, from, to)
}

// read decodes the typed value of an object in a version, and returns that of its Go value in another version.
func (o *fieldManagers[T]) read(object *smd.TypedValue, from, to *codec.Served[T]) (*smd.TypedValue, error) {
	fields, _ := object.AsValue().Unstructured().(map[string]any)
	hub, err := from.FromMap(fields, o.versions.NewHub())
	if err != nil {
		return nil, err
	}
	view, err := to.View(hub)
	if err != nil {
		return nil, err
	}
	return o.types[to.Key].ObjectToTyped(view)
}

// managedObject shows a hub object to package ownership.
type managedObject[T api.Object] struct {
	managers *fieldManagers[T]
	// obj is the object; its value has no meaning if it is absent.
	obj    T
	absent bool
	// seen are the views that were made. Most writes take one, for which first has room.
	seen  []seen
	first [1]seen
}

type seen struct {
	version fieldpath.APIVersion
	value   *smd.TypedValue
}

func (o *managedObject[T]) At(version fieldpath.APIVersion) (*smd.TypedValue, error) {
	for _, s := range o.seen {
		if s.version == version {
			return s.value, nil
		}
	}
	v, err := o.managers.served(version)
	if err != nil && o.absent && len(o.managers.custom) > 0 && !slices.Contains(o.managers.custom, version) {
		// A new custom resource whose client sent a manager of such a version has none. As in kube-apiserver, where
		// crConverter.ConvertToVersion of apiextensions-apiserver doesn't say that only the version is missing.
		return nil, fmt.Errorf("%s is no version of the custom resource", version)
	}
	if err != nil {
		return nil, err
	}
	var view runtime.Object
	if o.absent {
		view = v.Empty()
	} else if view, err = v.View(o.obj); err != nil {
		return nil, err
	}
	if err := ownership.Bound(view); err != nil {
		return nil, err
	}
	value, err := o.managers.types[v.Key].ObjectToTyped(view, smd.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	if o.seen == nil {
		o.seen = o.first[:0]
	}
	o.seen = append(o.seen, seen{version, value})
	return value, nil
}

// trackFields is the step that sets managedFields: the request's field manager owns the fields that it changes. Where
// an error prevents that, the fields stay as they were, and the write fails only if it has no more time.
func (k *kind[T]) trackFields(ctx context.Context, a *attempt[T]) error {
	switch {
	case k.fieldManagers == nil || a.ownership == merged:
		return nil
	case a.ownership == dropped:
		a.obj.SetManagedFields(nil)
		return nil
	}
	managers, err := k.managersOf(a)
	if err != nil {
		return internal(err)
	}
	if err := managers.update(a); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		k.logOwnership(a.obj, err)
	}
	return nil
}

// live returns the old object of an attempt, and its managedFields.
func (o *fieldManagers[T]) live(a *attempt[T]) (*managedObject[T], []metav1.ManagedFieldsEntry) {
	if !a.old.Exists {
		return &managedObject[T]{managers: o, absent: true}, nil
	}
	return &managedObject[T]{managers: o, obj: a.old.Object}, a.old.Object.GetManagedFields()
}

// update sets the managedFields of an attempt's new object. On an error the object keeps those of the old one.
func (o *fieldManagers[T]) update(a *attempt[T]) error {
	old, stored := o.live(a)
	entries, err := o.manager(a).Update(old, &managedObject[T]{managers: o, obj: a.obj}, stored,
		a.obj.GetManagedFields(), !a.old.Exists, a.options.FieldManager)
	if err != nil {
		entries = stored
	}
	a.obj.SetManagedFields(entries)
	return err
}

// trackPreparation lets the strategy change the new object. A client doesn't own a field whose change it reverts. It
// fails only if the write has no more time.
func (k *kind[T]) trackPreparation(ctx context.Context, a *attempt[T], change func()) error {
	if k.fieldManagers == nil || len(a.obj.GetManagedFields()) == 0 {
		change()
		return nil
	}
	sent := a.obj.DeepCopyObject().(T)
	change()
	if reflect.DeepEqual(sent, a.obj) {
		return nil
	}
	managers, err := k.managersOf(a)
	if err != nil {
		return nil //nolint:nilerr // the object keeps the managedFields that the client sent
	}
	live, stored := managers.live(a)
	c := ownership.Change{
		Live: live, Stored: stored,
		Sent:    &managedObject[T]{managers: managers, obj: sent},
		Next:    &managedObject[T]{managers: managers, obj: a.obj},
		Entries: sent.GetManagedFields(), Manager: a.options.FieldManager, Applied: a.ownership == merged,
	}
	entries, err := managers.manager(a).Prepared(c)
	switch {
	case err == nil:
		a.obj.SetManagedFields(entries)
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		k.logOwnership(a.obj, err)
	}
	return nil
}

func (k *kind[T]) encodeBoth(a, b T) (x, y []byte, err error) {
	if x, err = k.versions.Encode(a); err == nil {
		y, err = k.versions.Encode(b)
	}
	return x, y, err
}

// logOwnership logs, at most once a second, that managedFields could not be updated. It doesn't log fields that are too
// long to track.
func (k *kind[T]) logOwnership(obj metav1.Object, err error) {
	last, now := k.logged.Load(), time.Now().Unix()
	if errors.Is(err, ownership.ErrTooLong) || last == now || !k.logged.CompareAndSwap(last, now) {
		return
	}
	k.log.Warn("field ownership was kept as it was", "resource", k.gr.String(), "namespace", obj.GetNamespace(),
		"name", obj.GetName(), "error", err)
}

func sameButTimes(a, b []byte, fieldsA, fieldsB []metav1.ManagedFieldsEntry) bool {
	if len(fieldsA) != len(fieldsB) || len(fieldsA) == 0 {
		return false
	}
	for i := range fieldsA {
		x, y := &fieldsA[i], &fieldsB[i]
		if x.Manager != y.Manager || x.Operation != y.Operation || x.APIVersion != y.APIVersion ||
			x.Subresource != y.Subresource ||
			x.FieldsType != y.FieldsType || x.FieldsV1.GetRawString() != y.FieldsV1.GetRawString() {
			return false
		}
	}
	return rendition.EqualButManagedFields(a, b)
}

// apply returns the attempt's old object with the applied configuration merged into it, and its managedFields. merged
// is the result in the request's version; nil if the configuration changes nothing.
func (o *fieldManagers[T]) apply(a *attempt[T], body verb.Body) (obj T, merged map[string]any, err error) {
	config, err := decodeConfiguration(a.version, body)
	if err != nil {
		return obj, nil, err
	}
	live := &ownership.Live{Empty: &managedObject[T]{managers: o, absent: true}}
	live.Object, live.ManagedFields = o.live(a)
	if a.old.Exists {
		live.LastApplied = a.old.Object.GetAnnotations()[ownership.LastAppliedAnnotation]
	}
	applied, err := o.manager(a).Apply(live, config, a.options.FieldManager, a.options.Force)
	if err != nil {
		return obj, nil, err
	}
	if obj, err = o.applied(a, applied); err != nil {
		return obj, nil, err
	}
	return obj, applied.Object, annotate(obj, config, a.options.FieldManager)
}

// decodeConfiguration decodes the body of an apply, anew for each attempt: the merge may keep parts of the result.
func decodeConfiguration[T api.Object](v *codec.Served[T], body verb.Body) (map[string]any, error) {
	config, err := v.DecodeApply(body)
	if metadata, ok := config["metadata"].(map[string]any); err == nil && ok && metadata["managedFields"] != nil {
		return nil, apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	return config, err
}

func (o *fieldManagers[T]) applied(a *attempt[T], applied ownership.Applied) (obj T, err error) {
	if applied.Object == nil && a.old.Exists {
		obj = a.old.Object.DeepCopyObject().(T)
	} else if obj, err = a.version.FromApplied(applied.Object, o.versions.NewHub()); err != nil {
		return obj, err
	}
	obj.SetManagedFields(applied.ManagedFields)
	return obj, nil
}

// annotate updates kubectl's annotation for client-side apply, where kubectl applies on the server's side.
func annotate(obj metav1.Object, config map[string]any, manager string) error {
	annotations := obj.GetAnnotations()
	if manager != ownership.Kubectl || annotations[ownership.LastAppliedAnnotation] == "" {
		return nil
	}
	value, err := ownership.LastApplied(config)
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("failed to build last-applied annotation: %v", err))
	}
	annotations[ownership.LastAppliedAnnotation] = value
	if validation.ValidateAnnotationsSize(annotations) != nil {
		delete(annotations, ownership.LastAppliedAnnotation)
	}
	obj.SetAnnotations(annotations)
	return nil
}
