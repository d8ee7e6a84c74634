package subresource

import (
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/ownership"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"
)

// newScaleManager returns the manager of the fields of a Scale, which has one version.
func newScaleManager(types managedfields.TypeConverter) *ownership.Manager {
	version := fieldpath.APIVersion(scaleGVK.GroupVersion().String())
	return &ownership.Manager{
		Version: version, Subresource: scaleName, Types: types, Sets: &ownership.Sets{},
		Convert: func(object *smd.TypedValue, to fieldpath.APIVersion) (*smd.TypedValue, error) {
			if to != version {
				return nil, fmt.Errorf("%w: %s", ownership.ErrNotServed, to)
			}
			return object, nil
		},
	}
}

// scaleView shows a Scale to package ownership.
type scaleView struct {
	manager *ownership.Manager
	scale   *scaleObject
}

// At implements ownership.Object.
func (v scaleView) At(version fieldpath.APIVersion) (*smd.TypedValue, error) {
	if version != v.manager.Version {
		return nil, fmt.Errorf("%w: %s", ownership.ErrNotServed, version)
	}
	view := *v.scale
	view.ManagedFields = nil
	view.SetGroupVersionKind(scaleGVK)
	return v.manager.Types.ObjectToTyped(&view, smd.AllowDuplicates)
}

// trackFields returns the managedFields after scale replaces live. On an error it returns those that are stored.
func (s *scaler[T]) trackFields(
	live, scale *scaleObject, stored []metav1.ManagedFieldsEntry, manager string,
) ([]metav1.ManagedFieldsEntry, error) {
	m, err := s.manager()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	entries, err := m.Update(scaleView{m, live}, scaleView{m, scale}, stored, nil, false, manager)
	if err != nil {
		s.host.LogOwnership(live, err)
		return stored, nil
	}
	return entries, nil
}

// apply is a server-side apply of a Scale.
func (s *scaler[T]) apply(
	live *scaleObject, stored []metav1.ManagedFieldsEntry, body api.Body, opts api.WriteOptions,
) (*scaleObject, []metav1.ManagedFieldsEntry, error) {
	m, err := s.manager()
	if err != nil {
		return nil, nil, apierrors.NewInternalError(err)
	}
	config, err := s.kind.Storage.DecodeApply(body)
	if err != nil {
		return nil, nil, err
	}
	applied, err := m.Apply(&ownership.Live{
		Object: scaleView{m, live}, Empty: scaleView{m, new(scaleObject)}, ManagedFields: stored,
	}, config, opts.FieldManager, opts.Force)
	if err != nil {
		return nil, nil, err
	}
	if applied.Object == nil {
		return live, applied.ManagedFields, nil
	}
	scale, err := s.kind.Storage.FromApplied(applied.Object, new(scaleObject))
	return scale, applied.ManagedFields, err
}
