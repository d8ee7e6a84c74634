package subresource

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/metadata"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/rendition"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Action is a subresource to which clients POST a kind of its own, B, and which changes the object, like a binding.
type Action[T, B api.Object] struct {
	Name string
	Body codec.Kind[B]
	// Do changes obj as in asks for. The server then validates and stores obj as an update; after a conflict with
	// another write it calls Do again with the newer object. Do can change the fields of the metadata that an update
	// can change. A dry run stores nothing.
	Do func(ctx context.Context, obj T, in B) error
}

// ActionOf makes the extension, which answers 201 with a Status.
func ActionOf[T, B api.Object](a Action[T, B]) Extension[T] {
	return actionOf(a.Name, a.Body, a.Do != nil, func(ctx context.Context, obj T, in B, form api.Form) (api.Rendition,
		error) {
		if err := a.Do(ctx, obj, in); err != nil {
			return api.Rendition{}, err
		}
		return successRendition(form.Encoding)
	})
}

// Request is an Action that answers with a kind of its own, A, like a token.
type Request[T, B, A api.Object] struct {
	Name   string
	Body   codec.Kind[B]
	Answer codec.Kind[A]
	// Do is as in Action. The server doesn't write an object that it leaves unchanged.
	Do func(ctx context.Context, obj T, in B) (A, error)
}

// RequestOf makes the extension, which answers 201 with what Do returns.
func RequestOf[T, B, A api.Object](r Request[T, B, A]) Extension[T] {
	answer, err := codec.BindKind(r.Answer)
	e := actionOf(r.Name, r.Body, r.Do != nil, func(ctx context.Context, obj T, in B, form api.Form) (api.Rendition,
		error) {
		out, err := r.Do(ctx, obj, in)
		if err != nil {
			return api.Rendition{}, err
		}
		return answer.RenderObject(out, form)
	})
	e.info.GivesProtobuf = r.Answer.HasProtobuf()
	if err != nil {
		e.open = func(Host[T]) (*Handle, error) { return nil, err }
	}
	return e
}

func successRendition(encoding api.Encoding) (r api.Rendition, err error) {
	status := &metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated}
	r.Head = rendition.Head(encoding, "Status", "v1")
	switch encoding {
	case api.CBOR:
		r.Payload, err = rendition.EncodeCBOR(status)
		return r, err
	case api.Protobuf:
		r.Payload, err = status.Marshal()
		return r, err
	}
	data, err := json.Marshal(status)
	if err != nil {
		return r, err
	}
	r.Payload = data[1:]
	return r, nil
}

type act[T, B api.Object] func(ctx context.Context, obj T, in B, form api.Form) (api.Rendition, error)

func actionOf[T, B api.Object](name string, kind codec.Kind[B], complete bool, do act[T, B]) Extension[T] {
	return posted(name, kind, complete, func(a *action[T, B]) createFunc {
		a.do = do
		return a.create
	})
}

// createFunc is Handle.Create.
type createFunc = func(ctx context.Context, namespace, name string, body api.Body, opts api.WriteOptions) (api.Result,
	error)

func posted[T, B api.Object](
	name string, kind codec.Kind[B], complete bool, create func(*action[T, B]) createFunc,
) Extension[T] {
	// The answer is a Status, unless the caller changes that.
	e := Extension[T]{info: api.Extension{Name: name, Methods: []string{http.MethodPost}, GivesProtobuf: true}}
	e.open = func(h Host[T]) (*Handle, error) {
		switch {
		case h.Writer == nil:
			return nil, errNeedsStorage
		case !complete:
			return nil, errors.New("Do is not set")
		}
		body, err := codec.BindKind(kind)
		if err != nil {
			return nil, err
		}
		return &Handle{Create: create(&action[T, B]{name: name, host: h, body: body})}, nil
	}
	e.describe = func(info api.Extension, group string) api.Extension {
		info.Kind, info.TakesProtobuf = kind.DiscoveryKind(group), kind.HasProtobuf()
		return info
	}
	return e
}

// action is an open Action, Removal or Request.
type action[T, B api.Object] struct {
	name string
	host Host[T]
	body *codec.Versions[B]
	// do is nil for a Removal.
	do act[T, B]
}

func (a *action[T, B]) target(namespace, name string, body api.Body) Target {
	return Target{Namespace: namespace, Name: name, Version: body.Version, Subresource: a.name}
}

func (a *action[T, B]) create(
	ctx context.Context, namespace, name string, body api.Body, opts api.WriteOptions,
) (api.Result, error) {
	t := a.target(namespace, name, body)
	in, warnings, err := a.read(ctx, body, t)
	if err != nil {
		return api.Result{Warnings: warnings}, err
	}
	result, err := a.host.Writer.Act(ctx, t, opts, func(obj T) (api.Rendition, error) {
		return a.do(ctx, obj, in.DeepCopyObject().(B), opts.Form)
	})
	result.Warnings = slices.Concat(warnings, result.Warnings)
	return result, err
}

// read decodes and checks the body. A body without a name is for the object of the URL.
func (a *action[T, B]) read(ctx context.Context, body api.Body, t Target) (in B, warnings []string, err error) {
	if in, warnings, err = a.body.DecodeBody(body); err != nil {
		return in, warnings, err
	}
	if err := metadata.EnsureNamespace(in, a.host.Info.Scope, t.Namespace); err != nil {
		return in, warnings, err
	}
	if in.GetName() == "" {
		in.SetName(t.Name)
	}
	if err := metadata.MatchName(in, t.Name); err != nil {
		return in, warnings, err
	}
	v := a.body.OrStorage(body.Version)
	errs, err := v.Validate(ctx, operation.Operation{Type: operation.Create}, in, nil)
	if err != nil {
		return in, warnings, apierrors.NewInternalError(err)
	}
	return in, warnings, codec.Invalid(v.GVK.GroupKind(), in.GetName(), errs)
}

// Removal is a subresource to which clients POST a kind of its own, B, and which deletes the object, like an eviction.
type Removal[T, B api.Object] struct {
	Name string
	Body codec.Kind[B]
	// Do returns the options of the deletion, or nil where the object is not to be deleted. It gets copies. After a
	// conflict with another write the server calls Do again with the newer object. Finalizers, grace periods and
	// propagation policies work as in any deletion.
	Do func(ctx context.Context, obj T, in B) (*metav1.DeleteOptions, error)
}

// RemovalOf makes the extension, which answers 201 with a Status.
func RemovalOf[T, B api.Object](r Removal[T, B]) Extension[T] {
	return posted(r.Name, r.Body, r.Do != nil, func(a *action[T, B]) createFunc {
		return func(ctx context.Context, namespace, name string, body api.Body, opts api.WriteOptions) (api.Result,
			error) {
			return a.remove(ctx, namespace, name, body, opts, r.Do)
		}
	})
}

var errNotRemoved = errors.New("the object is not to be deleted")

func (a *action[T, B]) remove(ctx context.Context, namespace, name string, body api.Body, opts api.WriteOptions,
	do func(context.Context, T, B) (*metav1.DeleteOptions, error),
) (api.Result, error) {
	t := a.target(namespace, name, body)
	in, warnings, err := a.read(ctx, body, t)
	if err != nil {
		return api.Result{Warnings: warnings}, err
	}
	_, err = a.host.Writer.Remove(ctx, t, api.DeleteOptions{WriteOptions: opts},
		func(obj T, how *api.DeleteOptions) error {
			options, err := do(ctx, obj.DeepCopyObject().(T), in.DeepCopyObject().(B))
			switch {
			case err != nil:
				return err
			case options == nil:
				return errNotRemoved
			}
			if how.DryRun = how.DryRun || slices.Contains(options.DryRun, metav1.DryRunAll); how.DryRun != opts.DryRun {
				return errDryRun
			}
			if err := metadata.SetDeleteOptions(how, options); err != nil {
				return err
			}
			gr := schema.GroupResource{Group: a.host.Info.Group, Resource: a.host.Info.Names.Kind}
			return store.CheckPreconditions(gr, obj.GetName(), how.Preconditions, obj)
		})
	if errors.Is(err, errDryRun) {
		opts.DryRun = true
		return a.remove(reach.DryRun(ctx), namespace, name, body, opts, do)
	}
	if err != nil && !errors.Is(err, errNotRemoved) {
		return api.Result{Warnings: warnings}, err
	}
	answer, err := successRendition(opts.Form.Encoding)
	return api.Result{Object: answer, Warnings: warnings, Created: true}, err
}

var errDryRun = errors.New("the deletion is a dry run")
