// Package admission runs the plug-ins that change or refuse a write before it is stored: those of an author, those that
// kube-apiserver has, policies and webhooks. It defines what a plug-in sees of a write. As in kube-apiserver, mutating
// plug-ins run after the server has tracked field ownership, and validating ones after it has validated the object.
//
// It may know packages api, auth and trail.
package admission

import (
	"context"
	"errors"
	"slices"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/audit/trail"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Operation is what a request does to its object.
type Operation string

// The operations. An update or an apply that creates its object is a creation.
const (
	Create  Operation = "CREATE"
	Update  Operation = "UPDATE"
	Delete  Operation = "DELETE"
	Connect Operation = "CONNECT"
)

// Attributes are what plug-ins see of one write: the request, the new object and the old one. One goroutine at a time
// uses them.
type Attributes struct {
	Operation Operation
	// Resource and Kind are those of the request: Resource of the URL, Kind of Object or Old in the version of the URL.
	// The kind of a subresource may be of another group, such as autoscaling/v1 Scale.
	Resource schema.GroupVersionResource
	Kind     schema.GroupVersionKind
	// Subresource is "" for the object itself.
	Subresource string
	// Namespace is "" for cluster-scoped kinds. Name is "" before the name of a new object was generated, and
	// in the deletion of a collection.
	Namespace, Name string
	// DryRun reports whether nothing is stored: a plug-in must have no effect beside its decision.
	DryRun bool
	// Options are a *metav1.CreateOptions, *metav1.UpdateOptions or *metav1.DeleteOptions, whose kind and apiVersion
	// are set; nil for a connection.
	Options runtime.Object
	// User is the one whom the request acts as.
	User *auth.User
	// Object is the new object, or the options of a connection; nil for a deletion. Old is the object before the write;
	// nil for a creation and for a connection.
	Object, Old Object
	// Equivalents are all forms in which the server serves the resource or the subresource, also in other groups: that
	// of the request and the others. Object and Old have a JSON in each of their kinds.
	Equivalents []Form
	// Merge returns an object of a kind among Equivalents with the fields of an apply configuration, merged as
	// server-side apply merges them. It changes neither.
	Merge func(kind schema.GroupVersionKind, object, config map[string]any) (map[string]any, error)

	warnings  []string
	pass      pass
	onOutcome []func(ctx context.Context, outcome Outcome)
}

// Outcome is what became of a write that passed admission.
type Outcome uint8

const (
	// Unknown means that the write may have happened or may yet happen.
	Unknown Outcome = iota
	// Rejected means that nothing was written. The same request may run the plug-ins again, on a newer object.
	Rejected
	// Written means that the object was stored, perhaps as it was before, or that a deletion marked it.
	Written
	// Removed means that the object exists no longer.
	Removed
)

// Form is one of the resources through which clients can write the same object.
type Form struct {
	Resource schema.GroupVersionResource
	Kind     schema.GroupVersionKind
}

// Object is an object as plug-ins see it: as a Go value, and as JSON in every served version.
type Object interface {
	// Value returns the Go value: a pointer to the hub type of its kind, or to the options of a connection. A mutating
	// plug-in may change that of a new object, and then calls Changed. Nobody may change the others.
	Value() any
	// Changed records that the caller changed Value.
	Changed()
	// JSON encodes the object in a served kind.
	JSON(schema.GroupVersionKind) ([]byte, error)
	// Content returns the object in a served kind, with numbers as int64 or float64. It must not be changed.
	Content(schema.GroupVersionKind) (map[string]any, error)
	// Replace decodes data, the JSON of a served kind, and puts the result in the place of the object. It sets defaults
	// as for an object that a client sends.
	Replace(gvk schema.GroupVersionKind, data []byte) error
	// Meta returns the metadata; nil for the options of a connection.
	Meta() metav1.Object
}

// IsResource reports whether the attributes are those of a resource, and of the object itself.
func (a *Attributes) IsResource(group, resource string) bool {
	return a.Resource.Group == group && a.Resource.Resource == resource && a.Subresource == ""
}

// OnOutcome registers a function that the server calls once with the outcome of the write, if all validating plug-ins
// let it pass, and before it answers the client. It calls none for dry runs and connections.
func (a *Attributes) OnOutcome(do func(ctx context.Context, outcome Outcome)) {
	a.onOutcome = append(a.onOutcome, do)
}

// Conclude calls the functions that plug-ins registered by OnOutcome.
func (a *Attributes) Conclude(ctx context.Context, outcome Outcome) {
	for _, do := range a.onOutcome {
		do(ctx, outcome)
	}
	a.onOutcome = nil
}

// Warn adds a warning to the answer.
func (a *Attributes) Warn(text string) { a.warnings = append(a.warnings, text) }

// Warnings returns the warnings so far.
func (a *Attributes) Warnings() []string { return a.warnings }

// Annotate adds an annotation to the audit events of the request. The first value of a key stays.
func (a *Attributes) Annotate(ctx context.Context, key, value string) {
	trail.Annotate(ctx, key, value)
}

// AnnotateRequest does so where the policy of audit records what requests hold, since value could hold a secret.
func (a *Attributes) AnnotateRequest(ctx context.Context, key, value string) {
	trail.AnnotateAt(ctx, trail.Request, key, value)
}

// pass is the state of the mutating plug-ins, which run a second time where one of them asks for it.
type pass struct {
	again, second bool
	state         map[string]any
}

// Reinvoke asks for a second pass of all mutating plug-ins after the last one, as kube-apiserver does for webhooks with
// the reinvocationPolicy IfNeeded. It has no effect in the second pass.
func (a *Attributes) Reinvoke() { a.pass.again = true }

// IsReinvoked reports whether this is the second pass.
func (a *Attributes) IsReinvoked() bool { return a.pass.second }

// SetReinvocationValue keeps a value of a plug-in for its second pass.
func (a *Attributes) SetReinvocationValue(plugin string, state any) {
	if a.pass.state == nil {
		a.pass.state = map[string]any{}
	}
	a.pass.state[plugin] = state
}

// ReinvocationValue returns what a plug-in has kept for its second pass; nil if it has kept nothing.
func (a *Attributes) ReinvocationValue(plugin string) any { return a.pass.state[plugin] }

// ObjectName returns how errors name the object: by its name, by its generateName, or as Unknown.
func (a *Attributes) ObjectName() string {
	if a.Name != "" {
		return a.Name
	}
	if a.Object != nil {
		if meta := a.Object.Meta(); meta != nil {
			if name := meta.GetName(); name != "" {
				return name
			}
			if prefix := meta.GetGenerateName(); prefix != "" {
				return prefix
			}
		}
	}
	return "Unknown"
}

// Forbidden returns err as 403, as kube-apiserver words it. An error that is an API status already stays as it is.
func Forbidden(a *Attributes, err error) error {
	var status apierrors.APIStatus
	if err == nil || errors.As(err, &status) {
		return err
	}
	return apierrors.NewForbidden(a.Resource.GroupResource(), a.ObjectName(), err)
}

// Plugin is one step of admission. Its functions may be nil; requests call them concurrently.
type Plugin struct {
	// Name is unique among the plug-ins of a server. Flags and metrics name the plug-in by it.
	Name string
	// Off leaves the plug-in out, unless --enable-admission-plugins names it.
	Off bool
	// Handles tells cheaply whether the plug-in looks at a write; nil looks at all. It must not look at Object and Old.
	Handles func(a *Attributes) bool
	// Admit may change the new object, or refuse the write. Validate may refuse the write, and changes nothing. An
	// error that is not an API status is answered with 403; one of a context with the status of its cause.
	Admit, Validate func(ctx context.Context, a *Attributes) error
	// Configure reads the plug-in's part of --admission-control-config-file, in JSON; dir is the directory of the file,
	// to which paths are relative. It is called before the server starts, if the file has such a part.
	Configure func(configuration []byte, dir string) error
}

// Observe is told about each call of a plug-in, and, with a nil plug-in, how all calls together went that change or
// check a write.
type Observe func(plugin *Plugin, a *Attributes, mutating bool, call Call)

// Chain runs plug-ins in order. A nil Chain admits everything. It is immutable.
type Chain struct {
	plugins []Plugin
	observe Observe
}

// NewChain returns the chain of plug-ins in their order. observe may be nil.
func NewChain(plugins []Plugin, observe Observe) *Chain {
	if len(plugins) == 0 {
		return nil
	}
	return &Chain{plugins: slices.Clone(plugins), observe: observe}
}

// Admit runs the mutating plug-ins, and once more if one of them asks for it.
func (c *Chain) Admit(ctx context.Context, a *Attributes) error {
	if c == nil {
		return nil
	}
	a.pass = pass{}
	began := time.Now()
	err := c.run(ctx, a, true)
	if err == nil && a.pass.again {
		a.pass.second = true
		err = c.run(ctx, a, true)
	}
	return c.ended(a, true, began, err)
}

// Validate runs the validating plug-ins.
func (c *Chain) Validate(ctx context.Context, a *Attributes) error {
	if c == nil {
		return nil
	}
	began := time.Now()
	return c.ended(a, false, began, c.run(ctx, a, false))
}

func (c *Chain) run(ctx context.Context, a *Attributes, mutating bool) error {
	for i := range c.plugins {
		p := &c.plugins[i]
		call := p.Validate
		if mutating {
			call = p.Admit
		}
		if call == nil || p.Handles != nil && !p.Handles(a) {
			continue
		}
		if err := c.call(ctx, a, p, mutating, call); err != nil {
			return err
		}
	}
	return nil
}
