package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Body is an object, or a patch, as a client sent it, in a version. The endpoint turns YAML into JSON before.
type Body struct {
	Version string
	// Encoding is that of an object; a patch is JSON.
	Encoding Encoding
	Data     []byte
	// Validation is Strict, Warn or Ignore for unknown and duplicate fields (metav1.FieldValidation...).
	Validation string
	// Faults are those that were found already, in the text that Data was made of, and that aren't in Data any more.
	Faults []error
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
	// FieldManager is who will own the fields that the write sets.
	FieldManager string
	// Force makes an apply take fields from those who own them, instead of failing.
	Force bool
	// Form is the form of the answer.
	Form Form
}

// Result is the answer of a write.
type Result struct {
	Object Rendition
	// Created tells 201 from 200: what was created, by whatever verb, or posted.
	Created bool
	// Warnings for the client: of fieldValidation=Warn, and of the strategy. They are there beside an error, too.
	Warnings []string
}

// DeleteOptions are the parsed and validated options of a deletion; see metav1.DeleteOptions.
type DeleteOptions struct {
	WriteOptions
	Preconditions *metav1.Preconditions
	// GracePeriodSeconds has an effect on kinds whose strategy grants a time of grace.
	GracePeriodSeconds *int64
	// Propagation is what becomes of the dependents; nil is what the object's finalizers or its kind say.
	Propagation *metav1.DeletionPropagation
	// IgnoreReadErrors deletes a value that can't be read, and nothing else: one that can be is a conflict. It goes
	// with none of Preconditions, GracePeriodSeconds and Propagation, heeds no finalizers, and the answer has no
	// object.
	IgnoreReadErrors bool
}

// Deletion is the answer of a delete.
type Deletion struct {
	// Object is there where it is shown: by Shown, or since it was marked and not removed.
	Object Rendition
	UID    string
	// Done is false where finalizers or a time of grace hold the object: it was marked, and is still there.
	Done bool
	// Pending tells that its time of grace was running already, and that the deletion changed nothing.
	Pending bool
	// Shown: the answer is the object, even where it is gone, or nothing changed.
	Shown bool
}
