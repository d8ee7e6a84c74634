package metadata

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Grace is what becomes of an object's grace period in a deletion.
type Grace uint8

const (
	// NoGrace means that the object has no grace period, or that it has ended.
	NoGrace Grace = iota
	// GraceSet means that the deletion set a grace period, or a shorter one.
	GraceSet
	// GraceRuns means that a grace period is running, which the deletion doesn't change.
	GraceRuns
)

// SetGrace sets the grace period, in seconds, of an object whose deletion begins.
func SetGrace(obj metav1.Object, seconds int64) Grace {
	seconds = GracePeriod(seconds)
	if seconds == 0 && len(obj.GetFinalizers()) == 0 {
		// No finalizer waits for the deletionTimestamp: the object is removed in one write.
		return NoGrace
	}
	AdvanceGeneration(obj)
	endAt(obj, Now().Add(time.Duration(seconds)*time.Second), seconds)
	return GraceSet
}

// ShortenGrace sets the grace period, in seconds, of an object that a further deletion meets, if it is shorter than the
// one that runs. Nil leaves the period as it is; 0 ends it.
func ShortenGrace(obj metav1.Object, wanted *int64) Grace {
	deleted, given := obj.GetDeletionTimestamp(), obj.GetDeletionGracePeriodSeconds()
	if given == nil || *given == 0 {
		return NoGrace
	}
	last := GracePeriod(*given)
	if wanted == nil || GracePeriod(*wanted) >= last {
		return GraceRuns
	}
	seconds := GracePeriod(*wanted)
	if seconds == 0 && len(obj.GetFinalizers()) == 0 {
		return NoGrace
	}
	at := deleted.Add(time.Duration(seconds-last) * time.Second)
	if present := Now(); at.Before(present.Time) {
		// The shorter period has ended already: the shortest one that an agent can still act on.
		at, seconds = present.Time, min(seconds, 1)
	}
	endAt(obj, at, seconds)
	return GraceSet
}

// GracePeriod returns a grace period as clients mean it: a negative one is 1.
func GracePeriod(seconds int64) int64 {
	if seconds < 0 {
		return 1
	}
	return seconds
}

func endAt(obj metav1.Object, at time.Time, seconds int64) {
	deleted := metav1.NewTime(at)
	obj.SetDeletionTimestamp(&deleted)
	obj.SetDeletionGracePeriodSeconds(&seconds)
}

// Propagation returns the policy of a deletion: the one that the client asked for, else that of the object's
// finalizers, else the usual one of its kind. A kind without a usual policy has no dependents.
func Propagation(
	obj metav1.Object, asked *metav1.DeletionPropagation, usual metav1.DeletionPropagation,
) metav1.DeletionPropagation {
	if usual == "" {
		return metav1.DeletePropagationBackground
	}
	if asked != nil {
		return *asked
	}
	for _, finalizer := range obj.GetFinalizers() {
		switch finalizer {
		case metav1.FinalizerOrphanDependents:
			return metav1.DeletePropagationOrphan
		case metav1.FinalizerDeleteDependents:
			return metav1.DeletePropagationForeground
		}
	}
	return usual
}

// SetPropagation sets the finalizer of a policy, and removes that of another one. Other finalizers keep their order.
func SetPropagation(obj metav1.Object, policy metav1.DeletionPropagation) {
	wanted := map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationOrphan:     metav1.FinalizerOrphanDependents,
		metav1.DeletePropagationForeground: metav1.FinalizerDeleteDependents,
	}[policy]
	var kept []string
	has := false
	for _, finalizer := range obj.GetFinalizers() {
		switch {
		case finalizer == wanted && !has:
			has = true
		case finalizer == metav1.FinalizerOrphanDependents || finalizer == metav1.FinalizerDeleteDependents:
			continue
		}
		kept = append(kept, finalizer)
	}
	if wanted != "" && !has {
		kept = append(kept, wanted)
	}
	obj.SetFinalizers(kept)
}
