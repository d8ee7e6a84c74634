package registry

import (
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/store"
	"k8s.io/apimachinery/pkg/types"
)

// The verbs of requests. Patches, applies, subresources and actions are updates.
const (
	createVerb = "create"
	updateVerb = "update"
	deleteVerb = "delete"
)

// request is one write as a client asks for it: what is the same for all states that it is tried against.
type request[T api.Object] struct {
	verb            string
	namespace, name string
	// version is that of the URL.
	version *codec.Served[T]
	// scope is what the write covers: the object, a part of it, or what an action needs.
	scope scope[T]
	// proposal makes the object that the client wants.
	proposal  proposal[T]
	ownership fieldOwnership
	options   api.WriteOptions
	// uid is that of the very object that the client means; "" is any.
	uid types.UID
	// mayCreate lets an update create an object that is absent.
	mayCreate bool
	// render makes the answer of the stored form; nil is the object.
	render renderer
	// deletion is set for the verb delete.
	deletion *deletion[T]
}

// fieldOwnership tells how the managedFields of a proposal come about.
type fieldOwnership uint8

const (
	// updated: the field manager of the request owns the fields that it changes.
	updated fieldOwnership = iota
	// merged: the source of the proposal, an apply or a scale, has set managedFields.
	merged
	// dropped: the object is too large to keep managedFields.
	dropped
)

// deletion is what a request to delete says beyond other requests.
type deletion[T api.Object] struct {
	options api.DeleteOptions
	// consent, where it isn't nil, refuses to delete an object by an error, or changes the options.
	consent func(obj T, options *api.DeleteOptions) error
}

// writeOperation is what an attempt does to its object, as admission knows it.
type writeOperation string

const (
	createOperation writeOperation = "CREATE"
	updateOperation writeOperation = "UPDATE"
	deleteOperation writeOperation = "DELETE"
)

// attempt is a request against one state of its object.
type attempt[T api.Object] struct {
	*request[T]
	// old is the object as it was found; it is nil until the end was asked for it.
	old *store.State[T]
	// obj is the new object; nil until it is proposed. Of a deletion, it is the one that was found.
	obj T
	// warnings are sent to the client, beside an error, too.
	warnings []string
	// plan is what the end is to do.
	plan store.Plan[T]
	// ahead is the answer, as far as it could be made before the write.
	ahead renderedAhead
	// deleteOptions and done are those of a deletion.
	deleteOptions *api.DeleteOptions
	done          *api.Deletion
}

// operation tells what becomes of the object. An update that finds nothing, and may create, is a creation.
func (a *attempt[T]) operation() writeOperation {
	switch {
	case a.verb == deleteVerb:
		return deleteOperation
	case a.verb == createVerb || a.old != nil && !a.old.Exists:
		return createOperation
	}
	return updateOperation
}

// addWarnings appends warnings, without a change to those of other attempts.
func (a *attempt[T]) addWarnings(warnings []string) {
	if len(warnings) > 0 {
		a.warnings = append(a.warnings[:len(a.warnings):len(a.warnings)], warnings...)
	}
}
