package registry

import (
	"context"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/types"
)

// The verbs of requests. Patches, applies, subresources and actions are updates.
const (
	createVerb = "create"
	updateVerb = "update"
	deleteVerb = "delete"
)

// request is one write as a client asks for it, whatever the state of the object.
type request[T api.Object] struct {
	verb            string
	namespace, name string
	// versions are those of the kind, whose conversions end with the request, and version the one in the URL.
	versions *codec.Versions[T]
	version  *codec.Served[T]
	// scope says what the write may change: the object, a part of it, or what an action needs.
	scope scope[T]
	// proposal makes the object that the client wants.
	proposal  proposal[T]
	ownership fieldOwnership
	options   verb.WriteOptions
	// uid is the UID that the object must have; "" is any.
	uid types.UID
	// mayCreate lets an update create the object.
	mayCreate bool
	// render renders the answer; nil renders the object.
	render renderer
	// admitted reports whether the object of an extension passed admission instead of this one: the plug-ins see a
	// binding, and not the pod that it changes.
	admitted bool
	// deletion is set for the verb delete.
	deletion *deletion[T]
}

// within makes the conversions of the request end with ctx.
func (r *request[T]) within(ctx context.Context, versions *codec.Versions[T]) {
	if r.versions = versions.Within(ctx); r.versions != versions && r.version != nil {
		r.version = r.versions.ByKey(r.version.Key)
	}
}

type fieldOwnership uint8

const (
	// updated makes the field manager of the request the owner of the fields that it changes.
	updated fieldOwnership = iota
	// merged keeps the managedFields that the proposal, an apply or a scale, has set.
	merged
	// dropped removes managedFields, because the object is too large with them.
	dropped
)

type deletion[T api.Object] struct {
	options verb.DeleteOptions
	// consent, if it isn't nil, may change the options, or refuse to delete the object by an error.
	consent func(obj T, options *verb.DeleteOptions) error
	// collection reports whether the request deletes a collection, and names no object.
	collection bool
}

// writeOperation is what an attempt does to its object, in the terms of admission.
type writeOperation string

const (
	createOperation writeOperation = "CREATE"
	updateOperation writeOperation = "UPDATE"
	deleteOperation writeOperation = "DELETE"
)

// attempt is a request against one state of its object.
type attempt[T api.Object] struct {
	*request[T]
	// old is the state of the object that the end read; nil before that.
	old *store.State[T]
	// obj is the new object; nil until a step proposes it. A deletion has the old object here.
	obj T
	// warnings are for the client, which gets them beside an error, too.
	warnings []string
	// sentVersion is the resourceVersion that the client of a create sent.
	sentVersion string
	// plan is what the end is to do.
	plan store.Plan[T]
	// ahead is the answer, if it was rendered before the write.
	ahead renderedAhead
	// seen is what validating plug-ins let pass; nil before that, and after they were told what became of it.
	seen *admission.Attributes
	// deleteOptions and done are the options and the answer of a deletion.
	deleteOptions *verb.DeleteOptions
	done          *verb.Deletion
}

// operation returns what the attempt does. An update that creates the object is a creation.
func (a *attempt[T]) operation() writeOperation {
	switch {
	case a.verb == deleteVerb:
		return deleteOperation
	case a.verb == createVerb || a.old != nil && !a.old.Exists:
		return createOperation
	}
	return updateOperation
}

// addWarnings appends warnings, and leaves those of other attempts alone.
func (a *attempt[T]) addWarnings(warnings []string) {
	if len(warnings) > 0 {
		a.warnings = append(a.warnings[:len(a.warnings):len(a.warnings)], warnings...)
	}
}
