package codec

import (
	"context"
	"errors"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/omission"
	"apigen.dev/runtime/internal/object/patch"
	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// binding is a version's codec with its Go type erased: the core, which every version has, and parts that only some
// have. It is safe for concurrent use.
type binding[T api.Object] struct {
	codec core[T]
	// messages is nil for a version that has no protobuf.
	messages messages[T]
	// goType is nil for a version that has no Go type.
	goType goType
	// setDefaults sets the defaults of an object that is stored; nil for a Go type, whose store sets them.
	setDefaults func(obj T) error
	// remote is nil unless another program converts.
	remote remote[T]
}

// core decodes, encodes, validates and shows objects of a version: a *typed, or a *mapped.
type core[T api.Object] interface {
	check(columns int) error
	// decode and encode are for JSON, read and write for other encodings. store encodes what storage keeps, and
	// decodeStored decodes it.
	decode(data []byte, hub T, strictly bool) (Decoded[T], error)
	encode(obj T, gvk schema.GroupVersionKind, head string) ([]byte, error)
	read(encoding verb.Encoding, data []byte, hub T, gvk schema.GroupVersionKind, strictly bool) (Decoded[T], error)
	write(encoding verb.Encoding, obj T) ([]byte, error)
	store(obj T, gvk schema.GroupVersionKind, head string) ([]byte, error)
	decodeStored(data []byte, hub T) (Decoded[T], error)
	validate(ctx context.Context, op operation.Operation, gvk schema.GroupVersionKind, obj T, old *T) (field.ErrorList,
		error)
	cells(obj T) ([]api.Cell, error)
	view(obj T, gvk schema.GroupVersionKind) (runtime.Object, error)
	empty(gvk schema.GroupVersionKind) runtime.Object
	adopt(object map[string]any, hub T, complete bool) (T, error)
}

// messages stores objects in protobuf.
type messages[T api.Object] interface {
	decodeMessage(message []byte, hub T) (Decoded[T], error)
	storeMessage(obj T) ([]byte, error)
	// keepsProtobuf reports whether a revision can be written into a stored message.
	keepsProtobuf() bool
}

// goType is what a Go type says about the JSON of its objects.
type goType interface {
	// jsonForm returns what the JSON of the version has; nil for what encoding/json writes.
	jsonForm() *omission.Form
	// rules returns the rules about the JSON that clients send.
	rules() *Sent
	mergeRules() (patch.Rules, error)
}

// remote converts by another program.
type remote[T api.Object] interface {
	// within returns the same codec, whose conversions end with ctx.
	within(ctx context.Context) binding[T]
	// converted converts hub objects, and returns for each a codec that has the result at hand, or an error.
	converted(ctx context.Context, hubs []T) ([]core[T], []error)
}

func bindingOf[T, V api.Object](c *typed[T, V]) binding[T] {
	b := binding[T]{codec: c, goType: c}
	if c.Proto.marshal != nil {
		b.messages = c
	}
	return b
}

var errNoMessage = errors.New("a custom resource has no protobuf")

func (b *binding[T]) decodeMessage(message []byte, hub T) (d Decoded[T], err error) {
	if b.messages == nil {
		return d, errNoMessage
	}
	return b.messages.decodeMessage(message, hub)
}

func (b *binding[T]) jsonForm() *omission.Form {
	if b.goType == nil {
		return nil
	}
	return b.goType.jsonForm()
}

func (b *binding[T]) rules() *Sent {
	if b.goType == nil {
		return nil
	}
	return b.goType.rules()
}

func (b *binding[T]) mergeRules() (rules patch.Rules, err error) {
	if b.goType == nil {
		return rules, errors.New("a custom resource has no strategic merge patch")
	}
	return b.goType.mergeRules()
}
