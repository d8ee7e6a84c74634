package subresource

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/metadata"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/internal/versioned"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Scale reads and writes an object for the subresource scale, of the kind Scale in autoscaling/v1.
type Scale[T api.Object] struct {
	// Replicas returns the desired number of replicas, SetReplicas sets it.
	Replicas    func(T) int32
	SetReplicas func(obj T, replicas int32)
	// StatusReplicas returns the observed number of replicas, Selector their label selector. Each may be nil.
	StatusReplicas func(T) int32
	Selector       func(T) string
	// SpecPath and StatusPath are the paths of the two numbers as a CustomResourceDefinition writes them, such as
	// .spec.replicas: as of a custom resource, an object is refused if the number is negative. "" checks nothing, as of
	// Kubernetes' own kinds, whose own rules do.
	SpecPath, StatusPath string
	// Paths has the path of the desired number in each version: the field manager of a scale owns that field.
	Paths map[string][]string
	// Versions are the versions that have the subresource; nil means all.
	Versions []string
	// Through calls do with the object as its version has it, and takes over into obj what do says that it changed. It
	// returns soon after ctx ends. Nil calls do with obj: the functions read the object as it is.
	Through func(ctx context.Context, obj T, do func(seen T) (changed bool)) error
	// In returns the functions for the version of a request; nil is for those that are the same in all versions.
	In func(version string) *Scale[T]
}

// in returns the functions for a version.
func (s *Scale[T]) in(version string) *Scale[T] {
	if s.In == nil {
		return s
	}
	if of := s.In(version); of != nil {
		return of
	}
	return s
}

// through is Through where that isn't nil.
func (s *Scale[T]) through(ctx context.Context, obj T, do func(seen T) (changed bool)) error {
	if s.Through != nil {
		return s.Through(ctx, obj, do)
	}
	do(obj)
	return nil
}

const scaleName = "scale"

// ScaleOf makes the extension scale.
func ScaleOf[T api.Object](s Scale[T]) Extension[T] {
	return Extension[T]{
		info: verb.Extension{
			Name: scaleName, Kind: scaleGVK, Columns: scaleColumns, Versions: s.Versions,
			Methods:       []string{http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPut},
			TakesProtobuf: true, GivesProtobuf: true,
		},
		faults: s.faults,
		open: func(h Host[T]) (*verb.ExtensionHandle, error) {
			switch {
			case h.Writer == nil:
				return nil, errNeedsStorage
			case s.Replicas == nil || s.SetReplicas == nil:
				return nil, errors.New("a Scale needs Replicas and SetReplicas")
			}
			kind, err := scaleKind().BindUnstored()
			if err != nil {
				return nil, err
			}
			b := &scaler[T]{Scale: s, host: h, kind: kind,
				replicas: ownership.Replicas{Paths: map[string]fieldpath.Path{}, Sets: &ownership.Sets{}}}
			for version, path := range s.Paths {
				elements := make([]any, len(path))
				for i, name := range path {
					elements[i] = name
				}
				at, err := fieldpath.MakePath(elements...)
				if err != nil {
					return nil, err
				}
				gv, err := h.Writer.ServedVersion(h.Info.Key(version))
				if err != nil {
					return nil, err
				}
				b.replicas.Paths[gv.String()] = at
			}
			b.manager = sync.OnceValues(b.newManager)
			return &verb.ExtensionHandle{Get: b.get, Update: b.update, Patch: b.patch, ToJSON: kind.ToJSON}, nil
		},
	}
}

// faults checks the numbers of an object, and of its status alone where that is written.
func (s *Scale[T]) faults(obj T, part string) (errs field.ErrorList) {
	check := func(path string, n int32) {
		if n < 0 {
			errs = append(errs, field.Invalid(field.NewPath(path), n, "should be a non-negative integer"))
		}
	}
	if s.SpecPath != "" && part == "" {
		check(s.SpecPath, s.Replicas(obj))
	}
	if s.StatusPath != "" && (part == "" || part == "status") {
		check(s.StatusPath, s.StatusReplicas(obj))
	}
	return errs
}

type scaler[T api.Object] struct {
	Scale[T]
	host     Host[T]
	kind     *codec.Versions[*scaleObject]
	replicas ownership.Replicas
	// manager is made at the first write.
	manager func() (*ownership.Manager, error)
}

func (s *scaler[T]) newManager() (*ownership.Manager, error) {
	stored := s.host.Info.Stored()
	types, err := s.host.Schemas.In(schema.GroupVersion{Group: stored.Group, Version: stored.Storage}, scaleGVK)
	if err != nil {
		return nil, err
	}
	return newScaleManager(types), nil
}

func (s *scaler[T]) of(ctx context.Context, obj T, version string) (*scaleObject, error) {
	by := s.in(version)
	scale := &scaleObject{
		ObjectMeta: metav1.ObjectMeta{
			Name: obj.GetName(), Namespace: obj.GetNamespace(), UID: obj.GetUID(),
			ResourceVersion: obj.GetResourceVersion(), CreationTimestamp: obj.GetCreationTimestamp(),
		},
	}
	return scale, by.through(ctx, obj, func(seen T) (changed bool) {
		scale.Spec.Replicas = by.Replicas(seen)
		if by.StatusReplicas != nil {
			scale.Status.Replicas = by.StatusReplicas(seen)
		}
		if by.Selector != nil {
			scale.Status.Selector = by.Selector(seen)
		}
		return false
	})
}

func (s *scaler[T]) show(ctx context.Context, obj T, version string, form verb.Form) (verb.Rendition, error) {
	scale, err := s.of(ctx, obj, version)
	if err != nil {
		return verb.Rendition{}, err
	}
	return s.kind.RenderObject(scale, form)
}

func (s *scaler[T]) get(
	ctx context.Context, namespace, name, resourceVersion string, form verb.Form,
) (verb.Rendition, error) {
	obj, err := s.host.Object(ctx, namespace, name, resourceVersion)
	if err != nil {
		return verb.Rendition{}, err
	}
	return s.show(ctx, obj, form.Version, form)
}

type proposal struct {
	scale    *scaleObject
	fields   []metav1.ManagedFieldsEntry
	warnings []string
}

// propose makes a proposal from the live scale, which it may change, and its managedFields.
type propose func(live *scaleObject, stored []metav1.ManagedFieldsEntry) (proposal, error)

func (s *scaler[T]) update(
	ctx context.Context, namespace, name string, body verb.Body, opts verb.WriteOptions,
) (verb.Result, error) {
	// As in kube-apiserver, a client learns that its body is wrong before it learns that there is no object.
	sent, warnings, err := s.kind.DecodeBody(body)
	if err == nil {
		err = s.matchRequest(sent, namespace, name)
	}
	if err != nil {
		return verb.Result{Warnings: warnings}, err
	}
	propose := func(live *scaleObject, stored []metav1.ManagedFieldsEntry) (p proposal, err error) {
		p = proposal{scale: sent.DeepCopyObject().(*scaleObject), warnings: warnings}
		p.fields, err = s.trackFields(live, p.scale, stored, opts.FieldManager)
		return p, err
	}
	return s.write(ctx, namespace, name, body.Version, opts, propose)
}

func (s *scaler[T]) patch(
	ctx context.Context, namespace, name string, kind verb.PatchType, body verb.Body, opts verb.WriteOptions,
) (verb.Result, error) {
	if kind == verb.ApplyPatch {
		propose := func(live *scaleObject, stored []metav1.ManagedFieldsEntry) (proposal, error) {
			return s.apply(live, stored, body, opts)
		}
		return s.write(ctx, namespace, name, body.Version, opts, propose)
	}
	v := s.kind.Storage
	patch, err := v.ReadPatch(kind, body)
	if err != nil {
		return verb.Result{}, err
	}
	propose := func(live *scaleObject, stored []metav1.ManagedFieldsEntry) (p proposal, err error) {
		data, err := v.Encode(live)
		if err != nil {
			return p, apierrors.NewInternalError(err)
		}
		if p.scale, p.warnings, err = patch.Apply(data, new(scaleObject), nil); err != nil {
			return p, err
		}
		p.fields, err = s.trackFields(live, p.scale, stored, opts.FieldManager)
		return p, err
	}
	return s.write(ctx, namespace, name, body.Version, opts, propose)
}

func (s *scaler[T]) write(
	ctx context.Context, namespace, name, version string, opts verb.WriteOptions, propose propose,
) (verb.Result, error) {
	gv, err := s.host.Writer.ServedVersion(version)
	if err != nil {
		return verb.Result{}, apierrors.NewInternalError(err)
	}
	t := Target{Namespace: namespace, Name: name, Version: version, Subresource: scaleName}
	var shown *scaleObject // before the write; what is written is answered without calling Through, which may fail
	return s.host.Writer.Change(ctx, t, opts, Change[T]{
		Change: func(obj T) ([]string, error) {
			shown = nil
			admitted := func(live *scaleObject, stored []metav1.ManagedFieldsEntry) (proposal, error) {
				return s.admit(ctx, t, opts, live, stored, propose)
			}
			return s.scale(ctx, obj, t, gv, admitted)
		},
		Show: func(obj T, form verb.Form) (verb.Rendition, error) {
			if shown == nil {
				scale, err := s.of(ctx, obj, version)
				if err != nil {
					return verb.Rendition{}, err
				}
				shown = scale
			}
			shown.ResourceVersion = obj.GetResourceVersion()
			return s.kind.RenderObject(shown, form)
		},
	})
}

func (s *scaler[T]) scale(
	ctx context.Context, obj T, t Target, version schema.GroupVersion, propose propose,
) ([]string, error) {
	managed := obj.GetManagedFields()
	stored, err := s.replicas.InScale(managed)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	live, err := s.of(ctx, obj, t.Version)
	if err != nil {
		return nil, err
	}
	before := live.Spec.Replicas // a proposal may change live
	p, err := propose(live, stored)
	if err != nil {
		return p.warnings, err
	}
	entries, err := s.replicas.InObject(version, managed, p.fields)
	if err != nil {
		return p.warnings, apierrors.NewInternalError(err)
	}
	obj.SetManagedFields(entries)
	if p.scale.ResourceVersion != "" {
		obj.SetResourceVersion(p.scale.ResourceVersion)
	}
	if before == p.scale.Spec.Replicas {
		return p.warnings, nil
	}
	by := s.in(t.Version)
	return p.warnings, by.through(ctx, obj, func(seen T) (changed bool) {
		by.SetReplicas(seen, p.scale.Spec.Replicas)
		return true
	})
}

// admit makes a proposal, which passes admission and is checked.
func (s *scaler[T]) admit(
	ctx context.Context, t Target, opts verb.WriteOptions, live *scaleObject, stored []metav1.ManagedFieldsEntry,
	propose propose,
) (proposal, error) {
	old := *live
	p, err := propose(live, stored)
	if err != nil || s.host.Admission == nil {
		if err == nil {
			err = s.check(p.scale, &old, t)
		}
		return p, err
	}
	seen := s.host.attributes(ctx, admission.Update, t, scaleGVK, opts)
	seen.Old = versioned.New(s.kind, &old)
	if p.scale, err = admitPosted(ctx, s.host.Admission, seen, s.kind, p.scale); err == nil {
		err = s.check(p.scale, &old, t)
	}
	if err == nil {
		err = s.host.Admission.Validate(ctx, seen)
	}
	p.warnings = slices.Concat(p.warnings, seen.Warnings())
	return p, err
}

// matchRequest compares the namespace and name of a scale with those of the request.
func (s *scaler[T]) matchRequest(scale *scaleObject, namespace, name string) error {
	if err := metadata.EnsureNamespace(scale, s.host.Info.Scope, namespace); err != nil {
		return err
	}
	return metadata.MatchName(scale, name)
}

// check refuses a scale that isn't that of the object, or whose number is negative. The kind of a custom resource
// refuses the number itself: kube-apiserver names the path that the definition has for it.
func (s *scaler[T]) check(scale, live *scaleObject, t Target) error {
	if err := s.matchRequest(scale, t.Namespace, t.Name); err != nil {
		return err
	}
	if scale.UID != "" && scale.UID != live.UID {
		return metadata.UIDConflict(s.host.Info.GroupResource(), t.Name, scale.UID, live.UID)
	}
	if scale.Spec.Replicas < 0 && !s.host.Info.Stored().Versions[0].Untyped {
		return apierrors.NewInvalid(scaleGVK.GroupKind(), t.Name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), scale.Spec.Replicas, "must be greater than or equal to 0"),
		})
	}
	return nil
}

func newScaleManager(types *ownership.Type) *ownership.Manager {
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

func (s *scaler[T]) apply(
	live *scaleObject, stored []metav1.ManagedFieldsEntry, body verb.Body, opts verb.WriteOptions,
) (p proposal, err error) {
	m, err := s.manager()
	if err != nil {
		return p, apierrors.NewInternalError(err)
	}
	config, err := s.kind.Storage.DecodeApply(body)
	if err != nil {
		return p, err
	}
	applied, err := m.Apply(&ownership.Live{
		Object: scaleView{m, live}, Empty: scaleView{m, new(scaleObject)}, ManagedFields: stored,
	}, config, opts.FieldManager, opts.Force)
	if err != nil {
		return p, err
	}
	p = proposal{scale: live, fields: applied.ManagedFields}
	if applied.Object != nil {
		p.scale, err = s.kind.Storage.FromApplied(applied.Object, new(scaleObject))
	}
	return p, err
}
