package registry

import (
	"context"
	"iter"

	"apigen.dev/runtime/api"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// Group is an API group as generated wiring hands it to a server.
type Group struct {
	Name string
	// Versions of the group, in order of priority.
	Versions []string
	// Resources are made by New, or NewVirtual, one for each kind.
	Resources []Resource
	// AddToScheme registers the group's Go types, for clients and codecs that want a Scheme.
	AddToScheme func(*runtime.Scheme) error
	// OpenAPI holds, for each version, its OpenAPI v3 document, with paths and components.
	OpenAPI map[string]api.Document
	// Swagger is the OpenAPI v2 document of all versions.
	Swagger api.Document
}

// Resource is a resource whose Go type has been erased: static, not yet bound to a backend. New makes it.
type Resource interface {
	Info() *api.Info
	// Open binds the resource to a backend, which it asks what is stored, as long as ctx lasts. The returned handle owns
	// goroutines until it is closed, whatever becomes of ctx.
	Open(ctx context.Context, config Config) (Handle, error)
}

// Handle is an open resource: what HTTP sees of it. Errors are apimachinery's API statuses (apierrors.APIStatus).
//
// Namespace is "" for cluster-scoped resources and for reads across all namespaces.
type Handle interface {
	Info() *api.Info
	View
	Write
	// Extension returns one of Info.Extensions by its name, nil where there is none.
	Extension(name string) *ExtensionHandle
	// Ready is nil once reads are served from memory, else the reason why not.
	Ready() error
	// Close ends all watches and waits for the handle's goroutines.
	Close() error
}

// View is reading.
type View interface {
	// Get returns one object. resourceVersion is as in metav1.GetOptions.
	Get(ctx context.Context, namespace, name, resourceVersion string, form api.Form) (api.Rendition, error)
	// List returns one page, all of one revision. The page must be closed.
	List(ctx context.Context, namespace string, opts ListOptions, form api.Form) (*Page, error)
	// Watch returns a stream of events.
	Watch(ctx context.Context, namespace string, opts WatchOptions, form api.Form) (Watch, error)
}

// Selection narrows a read. Nil selectors select everything.
type Selection struct {
	Labels labels.Selector
	Fields fields.Selector
}

// ListOptions are the parsed and validated query of a list; see metav1.ListOptions for what the fields mean.
type ListOptions struct {
	Selection
	ResourceVersion      string
	ResourceVersionMatch metav1.ResourceVersionMatch
	Limit                int64
	Continue             string
}

// WatchOptions are the parsed and validated query of a watch.
type WatchOptions struct {
	Selection
	ResourceVersion   string
	AllowBookmarks    bool
	SendInitialEvents *bool
	// Unreadable has values that can't be read told as events of the type Unreadable, and their removal as one of the type
	// Deleted whose object has a name and no uid, instead of ending the watch. It goes with an empty Selection alone, and is
	// heeded by resources that New made.
	Unreadable bool
}

// Page is what a List returns. Its items can be read once or more until it is closed.
type Page struct {
	ResourceVersion string
	Continue        string
	// Remaining is nil where it is not known.
	Remaining *int64
	// Len is the number of items.
	Len int
	// Items yields the renditions in key order. All were rendered before the Page was returned: it cannot fail.
	Items iter.Seq[api.Rendition]
	// Blocks are the same items joined, where they are at hand in that form; else nil.
	Blocks []api.Block
	// Close gives back what the page borrowed.
	Close func()
}

// EventType is that of a watch event on the wire.
type EventType string

// The types of watch events.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	Bookmark EventType = "BOOKMARK"
	// Unreadable is never on the wire: see WatchOptions. Its Object is no more than the metadata that the key tells.
	Unreadable EventType = "UNREADABLE"
)

// Event is one watch event. A bookmark's Object is a rendition, too.
type Event struct {
	Type   EventType
	Object api.Rendition
}

// Watch is a watch under way, with one reader.
type Watch interface {
	// Next waits for events and returns all that are due, at most a bounded number, so that they can be written in one
	// piece. The slice is valid until the following call. An error ends the watch: ctx's error, or a status (410
	// Expired, 500 for a value that can't be decoded) that is to be sent as an ERROR event.
	Next(ctx context.Context) ([]Event, error)
	// Close ends the watch; it may be called once Next has returned.
	Close()
}

// Backlog is a Watch that tells when events are at hand, so that they can be written in one piece with those before.
type Backlog interface {
	// More tells that the next Next returns at once. It may be called by the reader.
	More() bool
}

// Paced is a Watch that tells how far it has come. Those of New's resources are.
type Paced interface {
	// Revision is how far: every event up to it was returned. It advances also when Next ends with its context. It may be
	// called by the reader, once the state that the watch began with was returned.
	Revision() int64
	// Hurry has storage tell how far it is, so that Revision soon is, too; with a cache, once Next was called again.
	Hurry(ctx context.Context) error
}

// Body is an object, or a patch, as a client sent it, in a version. The endpoint turns YAML into JSON before.
type Body struct {
	Version string
	// Encoding is that of an object; a patch is JSON.
	Encoding api.Encoding
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
	Form api.Form
}

// Result is the answer of a write.
type Result struct {
	Object api.Rendition
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
	// with none of Preconditions, GracePeriodSeconds and Propagation, heeds no finalizers, and the answer has no object.
	IgnoreReadErrors bool
}

// Deletion is the answer of a delete.
type Deletion struct {
	// Object is there where it is shown: by Shown, or since it was marked and not removed.
	Object api.Rendition
	UID    string
	// Done is false where finalizers or a time of grace hold the object: it was marked, and is still there.
	Done bool
	// Pending tells that its time of grace was running already, and that the deletion changed nothing.
	Pending bool
	// Shown: the answer is the object, even where it is gone, or nothing changed.
	Shown bool
}

// Write is writing. Subresource is "" for the object itself.
type Write interface {
	Create(ctx context.Context, namespace string, body Body, opts WriteOptions) (Result, error)
	Update(ctx context.Context, namespace, name, subresource string, body Body, opts WriteOptions) (Result, error)
	Patch(ctx context.Context, namespace, name, subresource string, kind PatchType, body Body, opts WriteOptions) (Result, error)
	Delete(ctx context.Context, namespace, name string, opts DeleteOptions) (Deletion, error)
	// DeleteCollection deletes what list selects, and returns what it deleted, as a Page without more behind it.
	DeleteCollection(ctx context.Context, namespace string, opts DeleteOptions, list ListOptions) (*Page, error)
}
