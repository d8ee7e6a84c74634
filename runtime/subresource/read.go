package subresource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Stream is a subresource that sends output as it comes, like a log. O is the pointer to its options.
type Stream[T api.Object, O any] struct {
	Name string
	// ContentType is that of the output; empty is text/plain.
	ContentType string
	Options     Options[O]
	// Open returns the output. The server closes it at its end, or when the client disconnects; closing must end a Read
	// that waits.
	Open func(ctx context.Context, obj T, options O) (io.ReadCloser, error)
}

// Options decode the query of a request. A nil Decode ignores it.
type Options[O any] struct {
	New    func() O
	Decode func(query url.Values, into O) error
}

// fetcher returns the function that reads the options and then the object of a request.
func fetcher[T api.Object, O any](
	h Host[T], options Options[O],
) func(ctx context.Context, namespace, name string, query url.Values) (T, O, error) {
	return func(ctx context.Context, namespace, name string, query url.Values) (obj T, read O, err error) {
		if read, err = options.read(query); err == nil {
			obj, err = h.Object(ctx, namespace, name, "")
		}
		return obj, read, err
	}
}

func (o Options[O]) read(query url.Values) (O, error) {
	options := o.New()
	if o.Decode == nil {
		return options, nil
	}
	if err := o.Decode(query, options); err != nil {
		return options, apierrors.NewBadRequest(err.Error())
	}
	return options, nil
}

// StreamOf makes the extension.
func StreamOf[T api.Object, O any](s Stream[T, O]) Extension[T] {
	contentType := s.ContentType
	if contentType == "" {
		contentType = "text/plain"
	}
	return Extension[T]{
		info: verb.Extension{Name: s.Name, Form: verb.StreamForm, Methods: []string{http.MethodGet}},
		open: func(h Host[T]) (*verb.ExtensionHandle, error) {
			if s.Open == nil || s.Options.New == nil {
				return nil, errors.New("a Stream needs Open and Options")
			}
			fetch := fetcher(h, s.Options)
			return &verb.ExtensionHandle{Stream: func(
				ctx context.Context, namespace, name string, query url.Values,
			) (verb.Output, error) {
				obj, options, err := fetch(ctx, namespace, name, query)
				if err != nil {
					return verb.Output{}, err
				}
				reader, err := s.Open(ctx, obj, options)
				if err != nil {
					return verb.Output{}, store.ToStatus(err, h.Info.GroupResource(), "get", name)
				}
				if reader == nil {
					return verb.Output{}, apierrors.NewInternalError(errors.New("the stream has no output"))
				}
				return verb.Output{ReadCloser: reader, ContentType: contentType}, nil
			}}, nil
		},
	}
}

// Connection is a subresource that the author's handler serves, like an upgraded connection or a proxy. O is the
// pointer to its options.
type Connection[T api.Object, O any] struct {
	Name string
	// Methods are the HTTP methods; none means GET and POST.
	Methods []string
	// Subpath makes the subresource serve the paths below it, too. The option "path" has the part after its name.
	Subpath bool
	// Address lets requests name the object with a scheme and a port: https:name:port, as kube-apiserver's proxies do.
	// The handler's request has both in its URL.
	Address bool
	// Kind is the kind of the options, which discovery shows as that of the subresource. Without a version it is of the
	// version that the URL names. If it is empty, discovery shows the resource's own kind.
	Kind    schema.GroupVersionKind
	Options Options[O]
	// Connect returns the handler of the request, whose path begins after the subresource, and which has no
	// credentials.
	Connect func(ctx context.Context, obj T, options O) (http.Handler, error)
}

// ConnectionOf makes the extension.
func ConnectionOf[T api.Object, O any](c Connection[T, O]) Extension[T] {
	methods := slices.Clone(c.Methods)
	if len(methods) == 0 {
		methods = []string{http.MethodGet, http.MethodPost}
	}
	slices.Sort(methods)
	return Extension[T]{
		info: verb.Extension{Name: c.Name, Form: verb.ConnectionForm, Kind: c.Kind, Methods: methods,
			Subpath: c.Subpath, Address: c.Address},
		open: func(h Host[T]) (*verb.ExtensionHandle, error) {
			if c.Connect == nil || c.Options.New == nil {
				return nil, errors.New("a Connection needs Connect and Options")
			}
			return &verb.ExtensionHandle{Connect: func(ctx context.Context, namespace, name string,
				query url.Values) (http.Handler, error) {
				options, err := c.Options.read(query)
				if err != nil {
					return nil, err
				}
				t := Target{Namespace: namespace, Name: name, Subresource: c.Name}
				if err := admitConnection(ctx, h, t, c.Kind, options); err != nil {
					return nil, err
				}
				obj, err := h.Object(ctx, namespace, name, "")
				if err != nil {
					return nil, err
				}
				handler, err := c.Connect(ctx, obj, options)
				if err == nil && handler == nil {
					err = errors.New("the connection has no handler")
				}
				return handler, store.ToStatus(err, h.Info.GroupResource(), "connect", name)
			}}, nil
		},
	}
}

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
	e := Extension[T]{info: verb.Extension{Name: v.Name, Methods: []string{http.MethodGet, http.MethodHead}}}
	e.describe = func(info verb.Extension, group string) verb.Extension {
		info.Kind, info.GivesProtobuf = v.Answer.DiscoveryKind(group), v.Answer.HasProtobuf()
		if len(v.Answer.Versions) > 0 {
			info.Columns = rendition.Columns(v.Answer.Versions[0].Info.Columns)
		}
		return info
	}
	e.open = func(h Host[T]) (*verb.ExtensionHandle, error) {
		if v.Show == nil || v.Options.New == nil {
			return nil, errors.New("a Projection needs Show and Options")
		}
		answer, err := v.Answer.BindUnstored()
		if err != nil {
			return nil, err
		}
		fetch := fetcher(h, v.Options)
		return &verb.ExtensionHandle{ToJSON: answer.ToJSON, View: func(ctx context.Context, namespace, name string,
			query url.Values, form verb.Form) (verb.Rendition, error) {
			obj, options, err := fetch(ctx, namespace, name, query)
			if err != nil {
				return verb.Rendition{}, err
			}
			out, err := v.Show(ctx, obj, options)
			if err != nil {
				return verb.Rendition{}, store.ToStatus(err, h.Info.GroupResource(), "get", name)
			}
			var none A
			if any(out) == any(none) {
				return verb.Rendition{}, apierrors.NewNotFound(h.Info.GroupResource(), name)
			}
			return answer.RenderObject(out, form)
		}}, nil
	}
	return e
}

// A Parser parses one value of a query.
type Parser[V any] func(text string) (V, error)

// QueryValue parses the first value of a parameter, and leaves into alone if there is none.
func QueryValue[V any](query url.Values, name string, parse Parser[V], into *V) error {
	values := query[name]
	if len(values) == 0 {
		return nil
	}
	value, err := parse(values[0])
	if err != nil {
		return fmt.Errorf("the value %q of parameter %q: %w", store.Excerpt(values[0]), name, err)
	}
	*into = value
	return nil
}

// QueryPointer is QueryValue for an option that is nil if the query lacks it.
func QueryPointer[V any](query url.Values, name string, parse Parser[V], into **V) error {
	if len(query[name]) == 0 {
		return nil
	}
	value := new(V)
	if err := QueryValue(query, name, parse, value); err != nil {
		return err
	}
	*into = value
	return nil
}

// QueryValues parses and appends all values of a parameter.
func QueryValues[V any](query url.Values, name string, parse Parser[V], into *[]V) error {
	for _, text := range query[name] {
		value, err := parse(text)
		if err != nil {
			return fmt.Errorf("the value %q of parameter %q: %w", store.Excerpt(text), name, err)
		}
		*into = append(*into, value)
	}
	return nil
}

// QueryText returns text as it is.
func QueryText[V ~string](text string) (V, error) { return V(text), nil }

// QueryBool parses a boolean as Kubernetes does: all text but "false" and "0" is true, also the empty one.
func QueryBool[V ~bool](text string) (V, error) {
	return V(text != "0" && !strings.EqualFold(text, "false")), nil
}

// QueryInt parses an integer that fits into V.
func QueryInt[V ~int | ~int8 | ~int16 | ~int32 | ~int64](text string) (V, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || int64(V(n)) != n {
		return 0, fmt.Errorf("it is no whole number of this size")
	}
	return V(n), nil
}

// QueryParsed parses a type with its own method, like a time.
func QueryParsed[V any, P interface {
	*V
	UnmarshalQueryParameter(text string) error
}](text string) (V, error) {
	var value V
	err := P(&value).UnmarshalQueryParameter(text)
	return value, err
}
