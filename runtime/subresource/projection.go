package subresource

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/rendition"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Projection is a subresource that shows the object as a kind of its own, A. O is the pointer to the options of the
// request.
type Projection[T api.Object, O any, A api.Object] struct {
	Name    string
	Options Options[O]
	Answer  codec.Kind[A]
	Show    func(ctx context.Context, obj T, options O) (A, error)
}

// ProjectionOf makes the extension.
func ProjectionOf[T api.Object, O any, A api.Object](v Projection[T, O, A]) Extension[T] {
	e := Extension[T]{info: api.Extension{Name: v.Name, Methods: []string{http.MethodGet, http.MethodHead}}}
	e.describe = func(info api.Extension, group string) api.Extension {
		info.Kind, info.GivesProtobuf = v.Answer.DiscoveryKind(group), v.Answer.HasProtobuf()
		if len(v.Answer.Versions) > 0 {
			info.Columns = rendition.Columns(v.Answer.Versions[0].Info.Columns)
		}
		return info
	}
	e.open = func(h Host[T]) (*Handle, error) {
		if v.Show == nil || v.Options.New == nil {
			return nil, errors.New("a Projection needs Show and Options")
		}
		answer, err := codec.BindKind(v.Answer)
		if err != nil {
			return nil, err
		}
		fetch := fetcher(h, v.Options)
		return &Handle{View: func(ctx context.Context, namespace, name string, query url.Values,
			form api.Form) (api.Rendition, error) {
			obj, options, err := fetch(ctx, namespace, name, query)
			if err != nil {
				return api.Rendition{}, err
			}
			out, err := v.Show(ctx, obj, options)
			if err != nil {
				return api.Rendition{}, store.ToStatus(err, h.Info.GroupResource(), "get", name)
			}
			var none A
			if any(out) == any(none) {
				return api.Rendition{}, apierrors.NewNotFound(h.Info.GroupResource(), name)
			}
			return answer.RenderObject(out, form)
		}}, nil
	}
	return e
}
