package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/metadata"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Subresource is a part of an object that clients write through a path of its own. They send the whole object, and the
// server reverts all that is outside the part.
type Subresource[T api.Object] struct {
	// Name is the name of the subresource: status, ephemeralcontainers.
	Name string
	// Versions are the versions that have it; nil means all. A write in another version is one of the whole object.
	Versions []string
	// Fields are the fields of the part in each served version, by their names on the wire, where [*] stands for the
	// items of a list: {"v1": {"spec.containers[*].resources"}}. Nil is the field that has the subresource's name.
	Fields map[string][]string
	// Metadata are the members of metadata that belong to the part: annotations, finalizers, labels, ownerReferences.
	// Writes of the object set them, too.
	Metadata []string
	// Verbs are get, patch and update, or some of them, sorted; nil is all.
	Verbs []string
	// Copy makes a deep copy of the fields from one object in another.
	Copy func(from, to T)
	// Match reports items that a new object adds to a list, removes from it, renames or reorders, where the part is
	// below the items of a list; it is nil if it isn't. A write with such items is refused.
	Match func(obj, old T) field.ErrorList
	// Reset empties the fields, which belong to the subresource alone: a creation can't set them, and a write of the
	// object keeps them as they are stored. Where Reset is nil, the object's writes set the fields, too, as far as the
	// Strategy lets them.
	Reset func(T)
	// Prepare changes the new object of a write of the subresource; it may be nil. What it changes may be outside the
	// part.
	Prepare func(ctx context.Context, obj, old T)
	// Validate checks a write of the subresource; it may be nil. It runs in addition to the rules of the version, and
	// where Reset is nil, to the Strategy's Validate.
	Validate func(ctx context.Context, obj, old T) field.ErrorList
}

var subresourceVerbs = []string{"get", "patch", "update"}

// info returns what discovery and routing know of the subresource.
func (s *Subresource[T]) info() verb.Subresource {
	verbs := s.Verbs
	if verbs == nil {
		verbs = subresourceVerbs
	}
	return verb.Subresource{Name: s.Name, Versions: s.Versions, Verbs: verbs}
}

// check refuses a subresource of a definition that lacks something.
func (s *Subresource[T]) check(d *Definition[T]) error {
	if s.Name == "" || s.Copy == nil || s.Reset == nil && s.Fields == nil {
		return errors.New("it needs a name of its own, Copy, and Reset or Fields")
	}
	for _, v := range d.Versions {
		if s.Fields != nil && len(s.Fields[v.Info.Name]) == 0 {
			return fmt.Errorf("version %s has no Fields", v.Info.Name)
		}
	}
	if s.Reset != nil && s.Fields != nil {
		return errors.New("it has Reset, so that its field has its name: remove Fields")
	}
	for _, name := range s.Metadata {
		if !metadata.IsMember(name) {
			return fmt.Errorf("%q is no member of metadata that clients write", name)
		}
	}
	for _, version := range s.Versions {
		if !slices.ContainsFunc(d.Versions, func(v codec.Version[T]) bool { return v.Info.Name == version }) {
			return fmt.Errorf("version %q is not served", version)
		}
	}
	for _, verb := range s.Verbs {
		if !slices.Contains(subresourceVerbs, verb) {
			return fmt.Errorf("the verb %s is none of %s", verb, strings.Join(subresourceVerbs, ", "))
		}
	}
	return nil
}

// scope returns the scope of writes of a part.
func (k *kind[T]) scope(part *Subresource[T]) scope[T] {
	s := scope[T]{name: part.Name, confine: k.confineTo(part), validateChange: part.Validate}
	switch {
	case part.Reset == nil:
		s.counted, s.validate = true, k.validateObject
	case part.Metadata != nil:
		s.validate = k.validateMetadataAndRules
	default:
		s.validate = k.validateRules
	}
	return s
}

// confineTo returns the function that copies a part from the new object into the old one, and lets the author prepare
// the result.
func (k *kind[T]) confineTo(part *Subresource[T]) func(ctx context.Context, a *attempt[T]) error {
	return func(ctx context.Context, a *attempt[T]) error {
		if part.Match != nil {
			if errs := part.Match(a.obj, a.old.Object); len(errs) > 0 {
				return verb.Invalid(k.gk, a.obj.GetName(), errs)
			}
		}
		obj := a.old.Object.DeepCopyObject().(T)
		part.Copy(a.obj, obj)
		a.version.Form().Merge(obj, a.obj, part.paths(a.version.GVK.Version)...)
		metadata.CopyMembers(part.Metadata, a.obj, obj)
		keepPreserved(obj, a.old.Object)
		obj.SetManagedFields(a.obj.GetManagedFields())
		a.obj = obj
		if part.Prepare != nil {
			return k.trackPreparation(ctx, a, func() { part.Prepare(ctx, a.obj, a.old.Object) })
		}
		return nil
	}
}

// keepPreserved reverts the annotations that preserve fields which only one version has: such fields are outside every
// part.
func keepPreserved(obj, old metav1.Object) {
	if !preservedDiffer(obj, old) {
		return
	}
	annotations := obj.GetAnnotations()
	for name := range annotations {
		if strings.HasPrefix(name, preservedFields) {
			delete(annotations, name)
		}
	}
	for name, text := range old.GetAnnotations() {
		if strings.HasPrefix(name, preservedFields) {
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[name] = text
		}
	}
	obj.SetAnnotations(annotations)
}

// paths are those of the fields of the part in a version.
func (s *Subresource[T]) paths(version string) []string {
	if s.Fields == nil {
		return []string{s.Name}
	}
	return s.Fields[version]
}

// filter selects the fields of the part in a version, whatever version is written.
func (s *Subresource[T]) filter(_, version string) fieldpath.Filter {
	paths := slices.Clone(s.paths(version))
	for _, name := range s.Metadata {
		paths = append(paths, "metadata."+name)
	}
	return ownership.Only(paths)
}

// others selects all fields but those that belong to subresources of the written version alone; nil selects all.
func (d *Definition[T]) others(written, _ string) fieldpath.Filter {
	excluded := fieldpath.NewSet()
	for i := range d.Subresources {
		if s := &d.Subresources[i]; s.Reset != nil && s.info().In(written) {
			excluded.Insert(fieldpath.MakePathOrDie(s.Name))
		}
	}
	if excluded.Empty() {
		return nil
	}
	return fieldpath.NewExcludeSetFilter(excluded)
}
