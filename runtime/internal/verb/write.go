package verb

import (
	"apigen.dev/runtime/api"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Body is an object or a patch of a client, in a version. The endpoint has translated YAML to JSON.
type Body struct {
	Version string // its key: see Info.Key
	// Encoding is that of an object; a patch is JSON.
	Encoding Encoding
	Data     []byte
	// Validation is Strict, Warn or Ignore for unknown and duplicate fields (metav1.FieldValidation...).
	Validation string
	// Faults are faults of the YAML text that Data no longer has.
	Faults []error
	// Decoded, unless it is nil, is called with the object that the body holds, with defaults and before anything else
	// changes it. encode encodes it in the body's version, in JSON. A patch has no such object.
	Decoded func(object api.Object, encode func() ([]byte, error))
}

// PatchType is the media type of a patch.
type PatchType string

// The patch types that a Handle applies.
const (
	JSONPatch      PatchType = "application/json-patch+json"
	MergePatch     PatchType = "application/merge-patch+json"
	StrategicPatch PatchType = "application/strategic-merge-patch+json"
	// ApplyPatch is a server-side apply. Its Body is JSON, as all are.
	ApplyPatch PatchType = "application/apply-patch+yaml"
)

// WriteOptions are common to the writes.
type WriteOptions struct {
	DryRun bool
	// FieldManager will own the fields that the write sets.
	FieldManager string
	// Force makes an apply take fields over from their owners, instead of failing.
	Force bool
	// Form is the form of the answer.
	Form Form
	// MayCreate decides whether the user of an update or of an apply may create the object, if it doesn't exist. It
	// returns nil or the error to answer with. If it is nil, every user who may write may create.
	MayCreate func() error
	// Sent are the options as the client sent them, which admission sees; nil if the server itself writes.
	Sent *metav1.PatchOptions
}

// Result is the answer of a write.
type Result struct {
	Object Rendition
	// Created makes the answer 201 instead of 200.
	Created bool
	// Warnings are for the client, beside an error, too.
	Warnings []string
}

// DeleteOptions are the parsed and validated options of a deletion; see metav1.DeleteOptions.
type DeleteOptions struct {
	WriteOptions
	Preconditions *metav1.Preconditions
	// GracePeriodSeconds has an effect on kinds with graceful deletion.
	GracePeriodSeconds *int64
	// Propagation is the propagation policy; nil is the one of the object's finalizers or its kind.
	Propagation *metav1.DeletionPropagation
	// IgnoreReadErrors deletes a corrupt object without reading it; another object is a conflict. It can't be combined
	// with Preconditions, GracePeriodSeconds and Propagation, and ignores finalizers. The answer has no object.
	IgnoreReadErrors bool
	// Sent are the options as the client sent them, which admission sees; nil if the server itself deletes.
	Sent *metav1.DeleteOptions
}

// Deletion is the answer of a delete.
type Deletion struct {
	// Object is set where Shown is, or where the object was marked and not removed.
	Object Rendition
	UID    string
	// Done reports whether the object was removed. It is false for an object with finalizers or a grace period, which
	// only has a deletionTimestamp now.
	Done bool
	// Pending reports whether the grace period was running already, so that the deletion changed nothing.
	Pending bool
	// Shown reports whether the answer is the object, even if it was removed or nothing changed.
	Shown bool
}
