package subresource

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/metadata"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
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
	do := func(ctx context.Context, obj T, in B, form verb.Form) (verb.Rendition, error) {
		if err := a.Do(ctx, obj, in); err != nil {
			return verb.Rendition{}, err
		}
		return successRendition(form.Encoding)
	}
	return posted(a.Name, a.Body, a.Do != nil, act(do))
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
	answer, err := r.Answer.BindUnstored()
	do := func(ctx context.Context, obj T, in B, form verb.Form) (verb.Rendition, error) {
		out, err := r.Do(ctx, obj, in)
		if err != nil {
			return verb.Rendition{}, err
		}
		return answer.RenderObject(out, form)
	}
	e := posted(r.Name, r.Body, r.Do != nil, act(do))
	e.info.GivesProtobuf = r.Answer.HasProtobuf()
	open := e.open
	e.open = func(h Host[T]) (*verb.ExtensionHandle, error) {
		if err != nil {
			return nil, err
		}
		handle, err := open(h)
		if err == nil {
			handle.ToJSON = answer.ToJSON
		}
		return handle, err
	}
	return e
}

func successRendition(encoding verb.Encoding) (r verb.Rendition, err error) {
	status := &metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated}
	r.Head = rendition.Head(encoding, "Status", "v1")
	switch encoding {
	case verb.CBOR:
		r.Payload, err = rendition.EncodeCBOR(status)
		return r, err
	case verb.Protobuf:
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

// statusToJSON renders a Status in JSON that is in protobuf.
func statusToJSON(answer verb.Rendition, form verb.Form) (out verb.Rendition, err error) {
	var status metav1.Status
	if err := status.Unmarshal(answer.Payload); err != nil {
		return out, err
	}
	data, err := json.Marshal(&status)
	if err != nil {
		return out, err
	}
	out.Head, out.Payload = rendition.Head(verb.JSON, "Status", "v1"), data[1:]
	return out, nil
}

type post[T, B api.Object] func(
	ctx context.Context, h Host[T], t Target, in B, opts verb.WriteOptions,
) (verb.Result, error)

func act[T, B api.Object](do func(context.Context, T, B, verb.Form) (verb.Rendition, error)) post[T, B] {
	return func(ctx context.Context, h Host[T], t Target, in B, opts verb.WriteOptions) (verb.Result, error) {
		return h.Writer.Act(ctx, t, opts, func(obj T) (verb.Rendition, error) {
			return do(ctx, obj, in.DeepCopyObject().(B), opts.Form)
		})
	}
}

func posted[T, B api.Object](name string, kind codec.Kind[B], complete bool, do post[T, B]) Extension[T] {
	// The answer is a Status, unless the caller changes that.
	e := Extension[T]{info: verb.Extension{Name: name, Methods: []string{http.MethodPost}, GivesProtobuf: true}}
	e.open = func(h Host[T]) (*verb.ExtensionHandle, error) {
		switch {
		case h.Writer == nil:
			return nil, errNeedsStorage
		case !complete:
			return nil, errors.New("Do is not set")
		}
		versions, err := kind.BindUnstored()
		if err != nil {
			return nil, err
		}
		return &verb.ExtensionHandle{ToJSON: statusToJSON, Create: func(
			ctx context.Context, namespace, object string, body verb.Body, opts verb.WriteOptions,
		) (result verb.Result, err error) {
			t := Target{Namespace: namespace, Name: object, Version: body.Version, Subresource: name}
			in, warnings, err := receive(ctx, h, versions, body, t, opts)
			var more request.Warnings
			if err == nil {
				result, err = do(request.WithWarnings(ctx, &more), h, t, in, opts)
			}
			result.Warnings = slices.Concat(warnings, result.Warnings, more.Texts())
			return result, err
		}}, nil
	}
	e.describe = func(info verb.Extension, group string) verb.Extension {
		info.Kind, info.TakesProtobuf = kind.DiscoveryKind(group), kind.HasProtobuf()
		return info
	}
	return e
}

// receive decodes a body, has it pass admission, and checks it.
func receive[T, B api.Object](
	ctx context.Context, h Host[T], versions *codec.Versions[B], body verb.Body, t Target, opts verb.WriteOptions,
) (in B, warnings []string, err error) {
	if in, warnings, err = readBody(versions, h.Info.Scope, body, t); err != nil {
		return in, warnings, err
	}
	v := versions.OrStorage(body.Version)
	if h.Admission == nil {
		return in, warnings, checkBody(ctx, v, in)
	}
	seen := h.attributes(ctx, admission.Create, t, v.GVK, opts)
	if in, err = admitPosted(ctx, h.Admission, seen, versions, in); err == nil {
		err = checkBody(ctx, v, in)
	}
	if err == nil {
		err = h.Admission.Validate(ctx, seen)
	}
	return in, slices.Concat(warnings, seen.Warnings()), err
}

// readBody decodes a body. One without a name is for the object of the URL.
func readBody[B api.Object](
	versions *codec.Versions[B], scope api.Scope, body verb.Body, t Target,
) (in B, warnings []string, err error) {
	if in, warnings, err = versions.DecodeBody(body); err != nil {
		return in, warnings, err
	}
	if err := metadata.EnsureNamespace(in, scope, t.Namespace); err != nil {
		return in, warnings, err
	}
	if in.GetName() == "" {
		in.SetName(t.Name)
	}
	return in, warnings, metadata.MatchName(in, t.Name)
}

// checkBody checks what was posted by the rules of its version.
func checkBody[B api.Object](ctx context.Context, v *codec.Served[B], in B) error {
	errs, err := v.Validate(ctx, operation.Operation{Type: operation.Create}, in, nil)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	return verb.Invalid(v.GVK.GroupKind(), in.GetName(), errs)
}

// Removal is a subresource to which clients POST a kind of its own, B, and which deletes the object, like an eviction.
type Removal[T, B api.Object] struct {
	Name string
	Body codec.Kind[B]
	// Do returns the options of the deletion, or nil if the object is not to be deleted. It gets copies. After a
	// conflict with another write the server calls Do again with the newer object. Finalizers, grace periods and
	// propagation policies work as in any deletion.
	Do func(ctx context.Context, obj T, in B) (*metav1.DeleteOptions, error)
}

// RemovalOf makes the extension, which answers 201 with a Status.
func RemovalOf[T, B api.Object](r Removal[T, B]) Extension[T] {
	return posted(r.Name, r.Body, r.Do != nil, r.remove)
}

var (
	// errNotRemoved ends a deletion that Do doesn't want; errDryRun begins one again as a dry run.
	errNotRemoved = errors.New("the object is not to be deleted")
	errDryRun     = errors.New("the deletion is a dry run")
)

func (r Removal[T, B]) remove(
	ctx context.Context, h Host[T], t Target, in B, opts verb.WriteOptions,
) (verb.Result, error) {
	_, err := h.Writer.Remove(ctx, t, verb.DeleteOptions{WriteOptions: opts},
		func(obj T, how *verb.DeleteOptions) error {
			options, err := r.Do(ctx, obj.DeepCopyObject().(T), in.DeepCopyObject().(B))
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
			gr := schema.GroupResource{Group: h.Info.Group, Resource: h.Info.Names.Kind}
			return store.CheckPreconditions(gr, obj.GetName(), how.Preconditions, obj)
		})
	if errors.Is(err, errDryRun) {
		opts.DryRun = true
		return r.remove(reach.DryRun(ctx), h, t, in, opts)
	}
	if err != nil && !errors.Is(err, errNotRemoved) {
		return verb.Result{}, err
	}
	answer, err := successRendition(opts.Form.Encoding)
	return verb.Result{Object: answer, Created: true}, err
}
