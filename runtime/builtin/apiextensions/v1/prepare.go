package v1

import (
	"context"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// definition is the kind that the package serves.
type definition = apiextensionsv1.CustomResourceDefinition

// PrepareForCreate_CustomResourceDefinition is ResetStatus.
func PrepareForCreate_CustomResourceDefinition(_ context.Context, crd *definition) { ResetStatus(crd) }

// ResetStatus gives a new definition its status, which has the storage version among those that are stored.
func ResetStatus(crd *definition) {
	crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	recordStorage(crd)
}

// PrepareForUpdate_CustomResourceDefinition adds a new storage version to those that are stored.
func PrepareForUpdate_CustomResourceDefinition(_ context.Context, crd, old *definition) {
	if equality.Semantic.DeepEqual(crd.Spec, old.Spec) {
		return // a write of the status
	}
	recordStorage(crd)
}

func recordStorage(crd *definition) {
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Storage && !slices.Contains(crd.Status.StoredVersions, v.Name) {
			crd.Status.StoredVersions = append(crd.Status.StoredVersions, v.Name)
			return
		}
	}
}

// BlocksDeletion_CustomResourceDefinition keeps a definition until its objects are deleted: see PrepareForDelete.
func BlocksDeletion_CustomResourceDefinition(crd *definition) bool {
	return crd.DeletionTimestamp == nil
}

// PrepareForDelete_CustomResourceDefinition adds the finalizer that the server removes when no object is left.
func PrepareForDelete_CustomResourceDefinition(_ context.Context, crd *definition) {
	if !slices.Contains(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		crd.Finalizers = append(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer)
	}
	SetCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue, Reason: "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	})
}

// Condition returns a condition of a definition, nil if it has none of the type.
func Condition(
	crd *definition, of apiextensionsv1.CustomResourceDefinitionConditionType,
) *apiextensionsv1.CustomResourceDefinitionCondition {
	for i := range crd.Status.Conditions {
		if crd.Status.Conditions[i].Type == of {
			return &crd.Status.Conditions[i]
		}
	}
	return nil
}

// IsTrue reports whether a definition has a condition whose status is True.
func IsTrue(crd *definition, of apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	c := Condition(crd, of)
	return c != nil && c.Status == apiextensionsv1.ConditionTrue
}

// SetCondition sets a condition, and reports whether that changed it. The time of its last transition is now where its
// status changes.
func SetCondition(crd *definition, c apiextensionsv1.CustomResourceDefinitionCondition) bool {
	c.LastTransitionTime = metav1.Now()
	before := Condition(crd, c.Type)
	if before == nil {
		crd.Status.Conditions = append(crd.Status.Conditions, c)
		return true
	}
	if before.Status == c.Status {
		c.LastTransitionTime = before.LastTransitionTime
	}
	c.ObservedGeneration = before.ObservedGeneration
	changed := *before != c
	*before = c
	return changed
}

// RemoveCondition removes a condition, and reports whether there was one.
func RemoveCondition(crd *definition, of apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	before := len(crd.Status.Conditions)
	crd.Status.Conditions = slices.DeleteFunc(crd.Status.Conditions,
		func(c apiextensionsv1.CustomResourceDefinitionCondition) bool { return c.Type == of })
	return len(crd.Status.Conditions) < before
}
