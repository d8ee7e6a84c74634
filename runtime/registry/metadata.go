package registry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"apigen.dev/runtime/api"
	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxGenerated bounds generateName's prefix, so that prefix and suffix stay a DNS label.
	maxGenerated = 63 - suffixLength
	suffixLength = 5
	// suffixes holds neither vowels nor what looks alike, so that no words come out.
	suffixes = "bcdfghjklmnpqrstvwxz2456789"
	// maxGeneratedNames is how many generated names are tried.
	maxGeneratedNames = 8
)

// generateName appends a random suffix to a prefix, which is shortened where need be.
func generateName(prefix string) string {
	name := []byte(prefix[:min(len(prefix), maxGenerated)])
	for range suffixLength {
		name = append(name, suffixes[rand.IntN(len(suffixes))])
	}
	return string(name)
}

// ensureNamespace sets the namespace of the URL in an object that has none.
func ensureNamespace(obj metav1.Object, scope api.Scope, namespace string) error {
	if scope == api.Cluster {
		obj.SetNamespace("")
		return nil
	}
	switch obj.GetNamespace() {
	case namespace:
	case "":
		obj.SetNamespace(namespace)
	default:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// matchName compares the object's name with that of the URL.
func matchName(obj metav1.Object, name string) error {
	if obj.GetName() == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", name))
	}
	if obj.GetName() != name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", obj.GetName(), name))
	}
	return nil
}

// resetMetadata takes from an object that is to be created what the server alone decides.
func resetMetadata(obj metav1.Object) {
	obj.SetUID("")
	obj.SetCreationTimestamp(metav1.Time{})
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetSelfLink("")
}

// initializeMetadata sets the UID and the creation time of a new object.
func initializeMetadata(obj metav1.Object) {
	obj.SetUID(types.UID(uuid.NewString()))
	obj.SetCreationTimestamp(now())
}

// now has the precision with which times are stored.
func now() metav1.Time { return metav1.NewTime(time.Now().UTC().Truncate(time.Second)) }

// keepSystemMetadata takes over from old what an update can't change. What has a value in obj and is immutable stays, for
// validation to refuse.
func keepSystemMetadata(obj, old metav1.Object) {
	obj.SetGeneration(old.GetGeneration())
	obj.SetSelfLink("")
	if obj.GetUID() == "" {
		obj.SetUID(old.GetUID())
	}
	if created := old.GetCreationTimestamp(); !created.IsZero() {
		obj.SetCreationTimestamp(created)
	}
	if deleted := old.GetDeletionTimestamp(); deleted != nil {
		obj.SetDeletionTimestamp(deleted)
	}
	if grace := old.GetDeletionGracePeriodSeconds(); grace != nil && obj.GetDeletionGracePeriodSeconds() == nil {
		obj.SetDeletionGracePeriodSeconds(grace)
	}
}

// markDeleted notes that an object is to be deleted once its finalizers are gone.
func markDeleted(obj metav1.Object) {
	at := now()
	if deleted := obj.GetDeletionTimestamp(); deleted == nil || deleted.After(at.Time) {
		advanceGeneration(obj)
		obj.SetDeletionTimestamp(&at)
	}
	obj.SetDeletionGracePeriodSeconds(new(int64))
}

// finalized tells that an update took the last finalizer of an object that was to be deleted.
func finalized(obj, old metav1.Object) bool {
	grace := old.GetDeletionGracePeriodSeconds()
	return len(obj.GetFinalizers()) == 0 && old.GetDeletionTimestamp() != nil && (grace == nil || *grace == 0)
}

// deduplicateOwners is the step that drops owner references which stand twice, once the proposal is complete.
func (k *kind[T]) deduplicateOwners(_ context.Context, a *attempt[T]) error {
	a.addWarnings(deduplicateOwners(a.obj, " after mutating admission happens"))
	return nil
}

// deduplicateOwners drops owner references that stand twice, with kube-apiserver's warning, which says when they were found.
func deduplicateOwners(obj metav1.Object, when string) (warnings []string) {
	refs := obj.GetOwnerReferences()
	if len(refs) < 2 {
		return nil
	}
	var doubled []string
	kept := refs[:0:0]
	seen := make(map[ownerID]bool, len(refs))
	for _, ref := range refs {
		id := ownerID{ref.APIVersion, ref.Kind, ref.Name, ref.UID, optionOf(ref.Controller), optionOf(ref.BlockOwnerDeletion)}
		if seen[id] {
			doubled = append(doubled, string(ref.UID))
			continue
		}
		seen[id] = true
		kept = append(kept, ref)
	}
	if len(doubled) == 0 {
		return nil
	}
	obj.SetOwnerReferences(kept)
	return []string{".metadata.ownerReferences contains duplicate entries" + when +
		"; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; " +
		"please fix your requests; duplicate UID(s) observed: " + strings.Join(doubled, ", ")}
}

// ownerID is all of an owner reference, comparable.
type ownerID struct {
	apiVersion, kind, name string
	uid                    types.UID
	controller, block      option
}

type option struct{ set, value bool }

func optionOf(b *bool) option {
	if b == nil {
		return option{}
	}
	return option{true, *b}
}
