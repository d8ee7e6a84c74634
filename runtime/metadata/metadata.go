// Package metadata is what a server does with the metadata of an object that is written: names, namespaces, the fields
// that the server alone sets, owner references, and the options of a deletion. It knows runtime/api and no storage.
package metadata

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"apigen.dev/runtime/api"
	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxGenerated bounds GenerateName's prefix, so that prefix and suffix stay a DNS label.
	maxGenerated = 63 - suffixLength
	suffixLength = 5
	// suffixes holds neither vowels nor what looks alike, so that no words come out.
	suffixes = "bcdfghjklmnpqrstvwxz2456789"
	// MaxGeneratedNames is how many generated names are tried.
	MaxGeneratedNames = 8
)

// GenerateName appends a random suffix to a prefix, which is shortened where need be.
func GenerateName(prefix string) string {
	name := []byte(prefix[:min(len(prefix), maxGenerated)])
	for range suffixLength {
		name = append(name, suffixes[rand.IntN(len(suffixes))])
	}
	return string(name)
}

// EnsureNamespace sets the namespace of the URL in an object that has none.
func EnsureNamespace(obj metav1.Object, scope api.Scope, namespace string) error {
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

// MatchName compares the object's name with that of the URL.
func MatchName(obj metav1.Object, name string) error {
	if obj.GetName() == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", name))
	}
	if obj.GetName() != name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", obj.GetName(), name))
	}
	return nil
}

// Reset takes from an object that is to be created what the server alone decides.
func Reset(obj metav1.Object) {
	obj.SetUID("")
	obj.SetCreationTimestamp(metav1.Time{})
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetSelfLink("")
}

// Initialize sets the UID and the creation time of a new object.
func Initialize(obj metav1.Object) {
	obj.SetUID(types.UID(uuid.NewString()))
	obj.SetCreationTimestamp(Now())
}

// Now has the precision with which times are stored.
func Now() metav1.Time { return metav1.NewTime(time.Now().UTC().Truncate(time.Second)) }

// KeepSystemFields takes over from old what an update can't change. What has a value in obj and is immutable stays, for
// validation to refuse.
func KeepSystemFields(obj, old metav1.Object) {
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

// MarkDeleted notes that an object is to be deleted once its finalizers are gone.
func MarkDeleted(obj metav1.Object) {
	at := Now()
	if deleted := obj.GetDeletionTimestamp(); deleted == nil || deleted.After(at.Time) {
		AdvanceGeneration(obj)
		obj.SetDeletionTimestamp(&at)
	}
	obj.SetDeletionGracePeriodSeconds(new(int64))
}

// Finalized tells that an update took the last finalizer of an object that was to be deleted.
func Finalized(obj, old metav1.Object) bool {
	grace := old.GetDeletionGracePeriodSeconds()
	return len(obj.GetFinalizers()) == 0 && old.GetDeletionTimestamp() != nil && (grace == nil || *grace == 0)
}

// DeduplicateOwners drops owner references that stand twice, with kube-apiserver's warning, which says when they were
// found.
func DeduplicateOwners(obj metav1.Object, when string) (warnings []string) {
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

// AdvanceGeneration advances the generation of what begins to be deleted.
func AdvanceGeneration(obj metav1.Object) {
	if obj.GetDeletionTimestamp() == nil && obj.GetGeneration() > 0 {
		obj.SetGeneration(obj.GetGeneration() + 1)
	}
}

// UIDConflict is 409 for an update of another object of the same name.
func UIDConflict(gr schema.GroupResource, name string, sent, found types.UID) error {
	return apierrors.NewConflict(gr, name,
		fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", sent, found))
}

// SetDeleteOptions makes options of metav1 those of a deletion.
func SetDeleteOptions(o *api.DeleteOptions, options *metav1.DeleteOptions) error {
	if errs := metavalidation.ValidateDeleteOptions(options); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	o.Preconditions, o.GracePeriodSeconds, o.Propagation = options.Preconditions, options.GracePeriodSeconds, options.PropagationPolicy
	//nolint:staticcheck // an eviction may bring the deprecated option
	if orphan := options.OrphanDependents; orphan != nil {
		policy := metav1.DeletePropagationBackground
		if *orphan {
			policy = metav1.DeletePropagationOrphan
		}
		o.Propagation = &policy
	}
	return nil
}
