package registry

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/ownership"
	"apigen.dev/runtime/rendition"
	"apigen.dev/runtime/store"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"
)

// owners keeps metadata.managedFields of a resource: who set what through which version and subresource.
type owners[T api.Object] struct {
	versions *codec.Versions[T]
	types    map[string]managedfields.TypeConverter
	managers map[ownerKey]*ownership.Manager
}

type ownerKey struct{ version, subresource string }

func newOwners[T api.Object](d *Definition[T], all *codec.Versions[T], schemas *ownership.Schemas) (*owners[T], error) {
	o := &owners[T]{versions: all, types: map[string]managedfields.TypeConverter{}, managers: map[ownerKey]*ownership.Manager{}}
	if schemas == nil {
		schemas = ownership.NewSchemas(nil)
	}
	for i := range all.Served {
		v := &all.Served[i]
		types, err := schemas.Of(v.GVK)
		if err != nil {
			return nil, err
		}
		o.types[v.GVK.Version] = types
	}
	sets := &ownership.Sets{}
	for _, subresource := range append([]string{""}, names(d.Subresources)...) {
		filters := o.filters(d, subresource)
		for i := range all.Served {
			v := &all.Served[i]
			o.managers[ownerKey{v.GVK.Version, subresource}] = &ownership.Manager{
				Version: fieldpath.APIVersion(v.GVK.GroupVersion().String()), Subresource: subresource, Filters: filters,
				Types: o.types[v.GVK.Version], Convert: o.convert, Sets: sets,
			}
		}
	}
	o.addActions(d, sets)
	return o, nil
}

// addActions makes the managers of extensions that may set any field.
func (o *owners[T]) addActions(d *Definition[T], sets *ownership.Sets) {
	for _, e := range d.Extensions {
		for i := range o.versions.Served {
			v := &o.versions.Served[i]
			o.managers[ownerKey{v.GVK.Version, e.info.Name}] = &ownership.Manager{
				Version: fieldpath.APIVersion(v.GVK.GroupVersion().String()), Subresource: e.info.Name,
				Types: o.types[v.GVK.Version], Convert: o.convert, Sets: sets,
			}
		}
	}
}

func names[T api.Object](subresources []Subresource[T]) (all []string) {
	for i := range subresources {
		all = append(all, subresources[i].Name)
	}
	return all
}

// filters leave what a write can set: the member of the subresource's name, or all but those of the subresources.
func (o *owners[T]) filters(d *Definition[T], subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	var filter fieldpath.Filter
	switch {
	case subresource != "":
		filter = fieldpath.NewIncludeMatcherFilter(fieldpath.MakePrefixMatcherOrDie(subresource))
	case len(d.Subresources) == 0:
		return nil
	default:
		others := fieldpath.NewSet()
		for i := range d.Subresources {
			others.Insert(fieldpath.MakePathOrDie(d.Subresources[i].Name))
		}
		filter = fieldpath.NewExcludeSetFilter(others)
	}
	all := map[fieldpath.APIVersion]fieldpath.Filter{}
	for i := range o.versions.Served {
		all[fieldpath.APIVersion(o.versions.Served[i].GVK.GroupVersion().String())] = filter
	}
	return all
}

// manager is who keeps the fields that are written through a target.
func (o *owners[T]) manager(t *target[T]) *ownership.Manager {
	key := ownerKey{version: t.version.GVK.Version}
	if t.subresource != nil {
		key.subresource = t.subresource.Name
	} else if t.acts {
		key.subresource = t.through
	}
	return o.managers[key]
}

// served finds a version by its group and name.
func (o *owners[T]) served(version fieldpath.APIVersion) (*codec.Served[T], error) {
	gv, err := schema.ParseGroupVersion(string(version))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ownership.ErrNotServed, err)
	}
	v := o.versions.ByName(gv.Version)
	if v == nil || v.GVK.Group != gv.Group {
		return nil, fmt.Errorf("%w: %s", ownership.ErrNotServed, version)
	}
	return v, nil
}

// convert brings a typed value into another version, through the hub.
func (o *owners[T]) convert(object *smd.TypedValue, version fieldpath.APIVersion) (*smd.TypedValue, error) {
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
	fields, _ := value.Unstructured().(map[string]any)
	hub, err := from.FromMap(fields, o.versions.NewHub(), false)
	if err != nil {
		return nil, err
	}
	view, err := to.View(hub)
	if err != nil {
		return nil, err
	}
	return o.types[to.GVK.Version].ObjectToTyped(view)
}

// owned shows a hub object to package ownership.
type owned[T api.Object] struct {
	owners *owners[T]
	// obj is the object; nothing where it is absent.
	obj    T
	absent bool
	seen   []seen
}

type seen struct {
	version fieldpath.APIVersion
	value   *smd.TypedValue
}

// At implements ownership.Object.
func (o *owned[T]) At(version fieldpath.APIVersion) (*smd.TypedValue, error) {
	for _, s := range o.seen {
		if s.version == version {
			return s.value, nil
		}
	}
	v, err := o.owners.served(version)
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
	value, err := o.owners.types[v.GVK.Version].ObjectToTyped(view, smd.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	o.seen = append(o.seen, seen{version, value})
	return value, nil
}

// own notes in obj, which is to take the place of the current state, who set what. Where that can't be found out, what
// was known stays: a write doesn't fail of it.
func (h *handle[T]) own(t *target[T], obj T, current *store.State[T], manager string) error {
	owners, err := h.owners()
	if err != nil {
		return err
	}
	if err := owners.own(t, obj, current, manager); err != nil {
		h.tell(obj, err)
	}
	return nil
}

// own notes in obj, which is to take the place of the current state, who set what; where it fails, what was known.
func (o *owners[T]) own(t *target[T], obj T, current *store.State[T], manager string) error {
	live := &owned[T]{owners: o, absent: !current.Exists}
	var stored []metav1.ManagedFieldsEntry
	if current.Exists {
		live.obj, stored = current.Object, current.Object.GetManagedFields()
	}
	entries, err := o.manager(t).Update(live, &owned[T]{owners: o, obj: obj}, stored, obj.GetManagedFields(), !current.Exists, manager)
	if err != nil {
		entries = stored
	}
	obj.SetManagedFields(entries)
	return err
}

// prepare lets the strategy change obj, which is to take the place of the current state, and has it reflected in who owns
// what: what it takes back from a client is not that client's.
func (h *handle[T]) prepare(t *target[T], obj T, current *store.State[T], change func()) {
	if len(obj.GetManagedFields()) == 0 {
		change()
		return
	}
	sent := obj.DeepCopyObject().(T)
	change()
	if same, err := h.sameStored(sent, obj); same || err != nil {
		return // what can't be encoded is refused by whoever stores it
	}
	owners, err := h.owners()
	if err != nil {
		return // then nobody is noted at all
	}
	c := ownership.Change{
		Live: &owned[T]{owners: owners, obj: current.Object, absent: !current.Exists}, Sent: &owned[T]{owners: owners, obj: sent},
		Next: &owned[T]{owners: owners, obj: obj}, Entries: sent.GetManagedFields(), Manager: t.manager, Applied: t.owned,
	}
	if current.Exists {
		c.Stored = current.Object.GetManagedFields()
	}
	entries, err := owners.manager(t).Prepared(c)
	if err != nil {
		h.tell(obj, err)
		return
	}
	obj.SetManagedFields(entries)
}

func (h *handle[T]) sameStored(a, b T) (bool, error) {
	x, err := h.store.Encode(a)
	if err != nil {
		return false, err
	}
	y, err := h.store.Encode(b)
	return bytes.Equal(x, y), err
}

// tell logs, at most once a second, that nobody was noted for what was written. What is too long is no trouble.
func (h *handle[T]) tell(obj metav1.Object, err error) {
	last, now := h.told.Load(), time.Now().Unix()
	if errors.Is(err, ownership.ErrTooLong) || last == now || !h.told.CompareAndSwap(last, now) {
		return
	}
	h.log.Warn("field ownership was kept as it was", "resource", h.info.GroupResource().String(), "namespace", obj.GetNamespace(),
		"name", obj.GetName(), "error", err)
}

// sameButTimes tells whether two stored forms, and the managedFields in them, differ in nothing but the times of these.
func sameButTimes(a, b []byte, fieldsA, fieldsB []metav1.ManagedFieldsEntry) bool {
	if len(fieldsA) != len(fieldsB) || len(fieldsA) == 0 {
		return false
	}
	for i := range fieldsA {
		x, y := &fieldsA[i], &fieldsB[i]
		if x.Manager != y.Manager || x.Operation != y.Operation || x.APIVersion != y.APIVersion || x.Subresource != y.Subresource ||
			x.FieldsType != y.FieldsType || x.FieldsV1.GetRawString() != y.FieldsV1.GetRawString() {
			return false
		}
	}
	beforeA, afterA, okA := aroundFields(a)
	beforeB, afterB, okB := aroundFields(b)
	return okA && okB && bytes.Equal(beforeA, beforeB) && bytes.Equal(afterA, afterB)
}

// aroundFields is what stands before and behind metadata.managedFields in a stored form.
func aroundFields(data []byte) (before, after []byte, ok bool) {
	inside, ok := rendition.InsideMetadata(data, 1)
	if !ok {
		return nil, nil, false
	}
	start, end, ok := rendition.Member(data, inside, rendition.ManagedFieldsKey)
	if !ok {
		return nil, nil, false
	}
	return data[:start], data[end:], true
}
