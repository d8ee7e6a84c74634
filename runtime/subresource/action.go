package subresource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/metadata"
	"apigen.dev/runtime/rendition"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Action is a subresource that a kind of its own, B, is posted to, and that acts on the object: a binding, an eviction.
type Action[T, B api.Object] struct {
	Name string
	Body codec.Kind[B]
	// Do changes obj as in asks for. The object is then validated and stored as an update of it, at once with what was
	// read: where it was changed meanwhile, Do is called again with the newer one. Of metadata only what an update may
	// change is taken. In a dry run nothing is stored.
	Do func(ctx context.Context, obj T, in B) error
}

// ActionOf makes the extension, which answers 201 with a Status.
func ActionOf[T, B api.Object](a Action[T, B]) Extension[T] {
	return actionOf(a.Name, a.Body, a.Do != nil, func(ctx context.Context, obj T, in B, form api.Form) (api.Rendition, error) {
		if err := a.Do(ctx, obj, in); err != nil {
			return api.Rendition{}, err
		}
		return successRendition(form.Encoding)
	})
}

// Request is an Action that answers with a kind of its own, A: a token.
type Request[T, B, A api.Object] struct {
	Name   string
	Body   codec.Kind[B]
	Answer codec.Kind[A]
	// Do is that of an Action. An object that it leaves as it is isn't written.
	Do func(ctx context.Context, obj T, in B) (A, error)
}

// RequestOf makes the extension, which answers 201 with what Do returns.
func RequestOf[T, B, A api.Object](r Request[T, B, A]) Extension[T] {
	answer, err := codec.BindKind(r.Answer)
	e := actionOf(r.Name, r.Body, r.Do != nil, func(ctx context.Context, obj T, in B, form api.Form) (api.Rendition, error) {
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

// successRendition is the Status of what was done.
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

// act changes an object and makes the answer.
type act[T, B api.Object] func(ctx context.Context, obj T, in B, form api.Form) (api.Rendition, error)

func actionOf[T, B api.Object](name string, kind codec.Kind[B], complete bool, do act[T, B]) Extension[T] {
	return posted(name, kind, complete, func(a *action[T, B]) createFunc {
		a.do = do
		return a.create
	})
}

// createFunc is Handle.Create.
type createFunc = func(ctx context.Context, namespace, name string, body api.Body, opts api.WriteOptions) (api.Result, error)

// posted makes an extension that a kind is posted to; create serves it.
func posted[T, B api.Object](
	name string, kind codec.Kind[B], complete bool, create func(*action[T, B]) createFunc,
) Extension[T] {
	// The answer is a Status, or else who calls it says what.
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

// target is the object that a body is posted for.
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

// read decodes and checks the body. One that names no object is for the one of the URL.
func (a *action[T, B]) read(ctx context.Context, body api.Body, t Target) (in B, warnings []string, err error) {
	if in, warnings, err = a.body.DecodeBody(body); err != nil {
		return in, warnings, err
	}
	if err := metadata.EnsureNamespace(in, a.host.Info.Scope, t.Namespace); err != nil {
		return in, warnings, err
	}
	switch in.GetName() {
	case t.Name:
	case "":
		in.SetName(t.Name)
	default:
		return in, warnings, apierrors.NewBadRequest(
			fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", in.GetName(), t.Name))
	}
	v := a.body.OrStorage(body.Version)
	errs, err := v.Validate(ctx, operation.Operation{Type: operation.Create}, in, nil)
	if err != nil {
		return in, warnings, apierrors.NewInternalError(err)
	}
	return in, warnings, codec.Invalid(v.GVK.GroupKind(), in.GetName(), errs)
}
