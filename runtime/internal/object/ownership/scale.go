package ownership

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Validate returns the first fault of managedFields that plug-ins or clients changed.
func Validate(entries []metav1.ManagedFieldsEntry) error {
	_, err := new(Sets).managers(entries)
	return err
}

// Replicas translates managedFields between an object and its subresource scale, as kube-apiserver does: whoever
// manages the number of replicas in one manages it in the other. It is immutable.
type Replicas struct {
	// Paths are where the number of replicas is in each group and version ("apps/v1") of the object. A nil path is that
	// of a version without the subresource.
	Paths map[string]fieldpath.Path
	Sets  *Sets
}

var (
	scaleVersion  = fieldpath.APIVersion(schema.GroupVersion{Group: "autoscaling", Version: "v1"}.String())
	scaleReplicas = fieldpath.MakePathOrDie("spec", "replicas")
)

// InScale returns the managedFields of the scale of an object with entries: those of the managers of replicas.
func (r *Replicas) InScale(entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	all, err := r.Sets.managers(entries)
	if err != nil {
		return nil, err
	}
	shown := newManagers(r.Sets, len(all.fields))
	for name, managed := range all.fields {
		path := r.Paths[string(managed.APIVersion())]
		if path == nil || !managed.Set().Has(path) {
			continue
		}
		shown.fields[name] = fieldpath.NewVersionedSet(fieldpath.NewSet(scaleReplicas), scaleVersion, managed.Applied())
		shown.known[name] = all.known[name]
	}
	return shown.entries()
}

// InObject returns the managedFields of an object with entries after a write of its scale in a version of the object,
// where scale are the managedFields of the scale. Managers of replicas that scale lacks lose the field, and those that
// scale has in addition get an entry of this version. Entries of versions that the object doesn't have are dropped.
func (r *Replicas) InObject(version schema.GroupVersion, entries, scale []metav1.ManagedFieldsEntry) (
	[]metav1.ManagedFieldsEntry, error) {
	before, err := r.Sets.managers(entries)
	if err != nil {
		return nil, err
	}
	in, err := r.Sets.managers(scale)
	if err != nil {
		return nil, err
	}
	after := newManagers(r.Sets, len(before.fields)+len(in.fields))
	maps.Copy(after.known, before.known)
	for name, managed := range before.fields {
		path, served := r.Paths[string(managed.APIVersion())]
		_, keeps := in.fields[name]
		switch {
		case !served:
		case path == nil, !managed.Set().Has(path):
			after.fields[name] = managed
		case keeps:
			after.fields[name] = managed
			in.drop(name)
		default:
			after.reduce(name, managed, managed.Set().Difference(fieldpath.NewSet(path)))
		}
	}
	for name, managed := range in.fields {
		if !managed.Set().Has(scaleReplicas) {
			continue
		}
		replicas := fieldpath.NewSet(r.Paths[version.String()])
		at := fieldpath.APIVersion(version.String())
		after.fields[name] = fieldpath.NewVersionedSet(replicas, at, managed.Applied())
	}
	return after.entries()
}
