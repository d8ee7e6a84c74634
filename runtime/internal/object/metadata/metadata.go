// Package metadata applies the rules for an object's metadata on a write: names, namespaces, the fields that only the
// server sets, owner references, and the options of a deletion.
//
// It may know packages api and verb.
package metadata

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
)

const (
	// maxGenerated bounds the prefix in GenerateName, so that the name is at most as long as a DNS label.
	maxGenerated = 63 - suffixLength
	suffixLength = 5
	// MaxGeneratedNames bounds how many generated names a creation tries.
	MaxGeneratedNames = 8
)

// GenerateName appends a random suffix to a prefix, which it shortens if necessary.
func GenerateName(prefix string) string {
	return prefix[:min(len(prefix), maxGenerated)] + rand.String(suffixLength)
}

// EnsureNamespace sets the namespace of the URL in an object that has none, and refuses another one.
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
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on " +
			"the request")
	}
	return nil
}

// MatchName refuses an object with another name than that of the URL.
func MatchName(obj metav1.Object, name string) error {
	if obj.GetName() == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: "+
			"name must be provided", name))
	}
	if obj.GetName() != name {
		return apierrors.NewBadRequest(
			fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", obj.GetName(), name))
	}
	return nil
}

// Reset resets the fields of a new object that only the server sets.
func Reset(obj metav1.Object) {
	obj.SetUID("")
	obj.SetCreationTimestamp(metav1.Time{})
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
}

// Initialize sets the UID and the creation time of a new object.
func Initialize(obj metav1.Object) {
	obj.SetUID(types.UID(uuid.NewString()))
	obj.SetCreationTimestamp(Now())
}

// Now returns the current time in the precision of stored times.
func Now() metav1.Time { return metav1.NewTime(time.Now().UTC().Truncate(time.Second)) }

// KeepSystemFields copies the fields that only the server sets from old. It keeps a UID and a grace period that obj
// has: validation refuses a changed value of these immutable fields.
func KeepSystemFields(obj, old metav1.Object) {
	obj.SetGeneration(old.GetGeneration())
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

// members are the members of metadata that a subresource may share with its object, by their names on the wire.
var members = map[string]func(from, to metav1.Object){
	"annotations":     func(from, to metav1.Object) { to.SetAnnotations(maps.Clone(from.GetAnnotations())) },
	"finalizers":      func(from, to metav1.Object) { to.SetFinalizers(slices.Clone(from.GetFinalizers())) },
	"labels":          func(from, to metav1.Object) { to.SetLabels(maps.Clone(from.GetLabels())) },
	"ownerReferences": func(from, to metav1.Object) { to.SetOwnerReferences(slices.Clone(from.GetOwnerReferences())) },
}

// IsMember reports whether CopyMembers knows a name.
func IsMember(name string) bool { return members[name] != nil }

// CopyMembers copies the members of metadata that have the names: annotations, finalizers, labels, ownerReferences.
func CopyMembers(names []string, from, to metav1.Object) {
	for _, name := range names {
		members[name](from, to)
	}
}

// MarkDeleted sets the deletionTimestamp of an object that has finalizers.
func MarkDeleted(obj metav1.Object) {
	at := Now()
	if deleted := obj.GetDeletionTimestamp(); deleted == nil || deleted.After(at.Time) {
		AdvanceGeneration(obj)
		obj.SetDeletionTimestamp(&at)
	}
	obj.SetDeletionGracePeriodSeconds(new(int64))
}

// Finalized reports whether an update removed the last finalizer of an object that is being deleted.
func Finalized(obj, old metav1.Object) bool {
	grace := old.GetDeletionGracePeriodSeconds()
	return len(obj.GetFinalizers()) == 0 && old.GetDeletionTimestamp() != nil && (grace == nil || *grace == 0)
}

// DeduplicateOwners removes duplicate owner references, and returns kube-apiserver's warning, which includes when.
func DeduplicateOwners(obj metav1.Object, when string) (warnings []string) {
	refs := obj.GetOwnerReferences()
	if len(refs) < 2 {
		return nil
	}
	var doubled []string
	kept := refs[:0:0]
	seen := make(map[ownerID]bool, len(refs))
	for _, ref := range refs {
		id := ownerID{ref.APIVersion, ref.Kind, ref.Name, ref.UID, optionOf(ref.Controller),
			optionOf(ref.BlockOwnerDeletion)}
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

// ownerID is an owner reference as a comparable value.
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

// AdvanceGeneration increments the generation of an object whose deletion begins.
func AdvanceGeneration(obj metav1.Object) {
	if obj.GetDeletionTimestamp() == nil && obj.GetGeneration() > 0 {
		obj.SetGeneration(obj.GetGeneration() + 1)
	}
}

// UIDConflict returns 409 for an update whose UID isn't that of the stored object.
func UIDConflict(gr schema.GroupResource, name string, sent, found types.UID) error {
	return apierrors.NewConflict(gr, name,
		fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", sent, found))
}

// SetDeleteOptions validates options, and sets those of a deletion.
func SetDeleteOptions(o *verb.DeleteOptions, options *metav1.DeleteOptions) error {
	if errs := metavalidation.ValidateDeleteOptions(options); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	o.Preconditions, o.GracePeriodSeconds, o.Propagation = options.Preconditions, options.GracePeriodSeconds,
		options.PropagationPolicy
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
