package registry

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/metadata"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/internal/versioned"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// mutate is the step that runs the mutating plug-ins, which may replace the new object.
func (k *kind[T]) mutate(ctx context.Context, a *attempt[T]) error {
	if k.admission == nil || a.admitted {
		return nil
	}
	seen, object := k.attributes(ctx, a)
	fields := a.obj.GetManagedFields()
	err := k.admission.Admit(ctx, seen)
	a.addWarnings(seen.Warnings())
	if err != nil {
		return err
	}
	a.obj = object.Hub()
	if a.operation() == deleteOperation {
		return nil
	}
	k.checkFields(a, fields)
	a.addWarnings(metadata.DeduplicateOwners(a.obj, ""))
	return metadata.EnsureNamespace(a.obj, k.info.Scope, a.namespace)
}

// invalidFields is the warning of kube-apiserver about managedFields that a plug-in broke.
const invalidFields = ".metadata.managedFields was in an invalid state after admission; this could be caused by " +
	"an outdated mutating admission controller; please fix your requests: %v"

// checkFields resets managedFields that a plug-in made invalid.
func (k *kind[T]) checkFields(a *attempt[T], before []metav1.ManagedFieldsEntry) {
	after := a.obj.GetManagedFields()
	if slices.EqualFunc(after, before, sameEntry) {
		return
	}
	if err := ownership.Validate(after); err != nil {
		a.obj.SetManagedFields(before)
		a.addWarnings([]string{fmt.Sprintf(invalidFields, err)})
	}
}

func sameEntry(a, b metav1.ManagedFieldsEntry) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.APIVersion == b.APIVersion &&
		a.FieldsType == b.FieldsType && a.Subresource == b.Subresource && a.Time.Equal(b.Time) &&
		a.FieldsV1 != nil && b.FieldsV1 != nil && bytes.Equal(a.FieldsV1.GetRawBytes(), b.FieldsV1.GetRawBytes())
}

// admit is the step that runs the validating plug-ins.
func (k *kind[T]) admit(ctx context.Context, a *attempt[T]) error {
	if k.admission == nil || a.admitted {
		return nil
	}
	seen, _ := k.attributes(ctx, a)
	err := k.admission.Validate(ctx, seen)
	a.addWarnings(seen.Warnings())
	a.seen = seen
	return err
}

// settle tells the plug-ins what became of an attempt.
func (a *attempt[T]) settle(ctx context.Context, outcome admission.Outcome) {
	if a.seen == nil || a.options.DryRun {
		return
	}
	seen := a.seen
	a.seen = nil
	seen.Conclude(context.WithoutCancel(ctx), outcome)
}

// outcome returns what became of an attempt whose write ended with err.
func (a *attempt[T]) outcome(err error) admission.Outcome {
	switch {
	case err == nil && a.plan.Verb == store.Remove && (a.done == nil || a.done.Done):
		return admission.Removed
	case err == nil:
		return admission.Written
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) ||
		apierrors.IsRequestEntityTooLargeError(err):
		return admission.Rejected
	}
	return admission.Unknown
}

// merge merges an apply configuration of a plug-in into an object.
func (k *kind[T]) merge(kind schema.GroupVersionKind, object, config map[string]any) (map[string]any, error) {
	return k.schemas.Merge(kind.GroupVersion(), kind, object, config)
}

// attributes returns what admission sees of an attempt, and the object that mutating plug-ins may replace.
func (k *kind[T]) attributes(ctx context.Context, a *attempt[T]) (*admission.Attributes, *versioned.Object[T]) {
	seen := &admission.Attributes{
		Operation: admission.Operation(a.operation()), Subresource: a.scope.name, Namespace: a.namespace, Name: a.name,
		DryRun: a.options.DryRun, User: auth.UserFrom(ctx), Equivalents: k.forms,
		Merge: k.merge,
	}
	v := a.version
	if v == nil {
		v = k.versions.Storage
	}
	seen.Kind, seen.Resource = v.GVK, v.GVK.GroupVersion().WithResource(k.info.Names.Plural)
	switch {
	case a.deletion != nil && a.deletion.collection:
		seen.Name = "" // as kube-apiserver has it
	case seen.Name == "":
		seen.Name = a.obj.GetName()
	}
	if k.gr == namespaces {
		seen.Namespace = a.name // as kube-apiserver has it
	}
	seen.Options = a.sentOptions(seen.Operation)
	object := versioned.New(a.versions, a.obj)
	if seen.Operation != admission.Delete {
		seen.Object = object
	}
	if a.old != nil && a.old.Exists {
		seen.Old = versioned.New(a.versions, a.old.Object)
	}
	return seen, object
}

var namespaces = schema.GroupResource{Resource: "namespaces"}

// sentOptions returns the options of a write for admission. Where the server itself writes, it makes them.
func (a *attempt[T]) sentOptions(operation admission.Operation) runtime.Object {
	switch {
	case operation == admission.Delete && a.deleteOptions.Sent != nil:
		return a.deleteOptions.Sent
	case operation == admission.Delete:
		return asMeta(*a.deleteOptions)
	case a.options.Sent != nil:
		return operation.WriteOptions(a.options.Sent)
	}
	sent := &metav1.PatchOptions{FieldManager: a.options.FieldManager}
	if a.options.DryRun {
		sent.DryRun = []string{metav1.DryRunAll}
	}
	return operation.WriteOptions(sent)
}

// formsOf returns the forms in which clients can write the objects of a kind.
func formsOf[T api.Object](versions *codec.Versions[T], info *verb.Info) (forms []admission.Form) {
	for i := range versions.Served {
		gvk := versions.Served[i].GVK
		forms = append(forms, admission.Form{
			Kind: gvk, Resource: gvk.GroupVersion().WithResource(info.Names.Plural),
		})
	}
	return forms
}
