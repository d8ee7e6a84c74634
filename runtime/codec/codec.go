// Package codec binds the versions of one kind: it decodes bytes of every served version to objects of the hub, encodes
// objects of the hub, and renders the forms of answers.
//
// It may know packages api, omission, patch, rendition, verb and wire.
package codec

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/omission"
	"apigen.dev/runtime/internal/object/patch"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// VersionOf returns a served version with its typed conversions. It erases V, the version's Go type.
func VersionOf[T, V api.Object](info api.VersionInfo, conversion Conversion[T, V]) Version[T] {
	sent := sync.OnceValue(func() *Sent {
		if conversion.Sent == nil {
			return nil
		}
		return conversion.Sent()
	})
	form := sync.OnceValue(func() *omission.Form {
		if !conversion.Custom {
			return nil
		}
		return omission.FormOf(reflect.TypeFor[V](), omission.Rules{
			IfSent: conversion.DefaultsIfSent, Nullable: conversion.Nullable,
			Schemaless: conversion.Schemaless, Defaults: conversion.DefaultTexts,
			Empty: conversion.EmptyStructs,
		})
	})
	return Version[T]{info, bindingOf(&typed[T, V]{
		Conversion: conversion, form: form, sent: sent,
		counts: sync.OnceValue(func() counts { return sent().counts(form()) }),
		floats: sync.OnceValue(func() bool { return holds(reflect.TypeFor[V](), isFloat, map[reflect.Type]bool{}) }),
		nulls:  sync.OnceValue(func() bool { return holds(reflect.TypeFor[V](), hasNulls, map[reflect.Type]bool{}) }),
		wide:   sync.OnceValue(func() bool { return holds(reflect.TypeFor[V](), isWide, map[reflect.Type]bool{}) }),
	})}
}

// Decoded is a decoded object. GVK is what the data says about its kind, Strict are its unknown and duplicate fields.
type Decoded[T api.Object] struct {
	Object T
	GVK    schema.GroupVersionKind
	Strict []error
}

type typed[T, V api.Object] struct {
	Conversion[T, V]
	// floats reports whether V has floating-point numbers, nulls whether it has maps whose values may be null, wide
	// whether it has numbers that int64 can't hold.
	floats, nulls, wide func() bool
	// form says what encoded objects have; nil for what encoding/json writes.
	form func() *omission.Form
	// sent are the rules about the JSON that a client sends.
	sent func() *Sent
	// counts says which of them are about the number of members.
	counts func() counts
}

func (c *typed[T, V]) mergeRules() (patch.Rules, error) {
	return patch.RulesOf(reflect.TypeFor[V]()), nil
}

func (c *typed[T, V]) jsonForm() *omission.Form { return c.form() }

func (c *typed[T, V]) check(columns int) error {
	switch {
	case c.New == nil:
		return fmt.Errorf("its Conversion has no New")
	case (c.ToHub == nil) != (c.FromHub == nil):
		return fmt.Errorf("its Conversion has only one of ToHub and FromHub")
	case c.ToHub == nil && reflect.TypeFor[T]() != reflect.TypeFor[V]():
		return fmt.Errorf("its Conversion has no ToHub, and %v is not %v", reflect.TypeFor[V](), reflect.TypeFor[T]())
	case len(c.Columns) != columns:
		return fmt.Errorf("its Conversion has cells for %d columns, its Info has %d columns", len(c.Columns), columns)
	}
	return nil
}

// decode decodes JSON, sets defaults and converts to an object of the hub, whose kind and apiVersion are empty. It
// returns the kind and apiVersion in the data also with an error.
func (c *typed[T, V]) decode(data []byte, hub T, strictly bool) (d Decoded[T], err error) {
	return c.decodeChecked(data, hub, strictly, c.checkNumbers)
}

func (c *typed[T, V]) decodeStored(data []byte, hub T) (Decoded[T], error) {
	return c.decodeChecked(data, hub, false, func(V) error { return nil })
}

func (c *typed[T, V]) decodeChecked(data []byte, hub T, strictly bool, check func(V) error) (d Decoded[T], err error) {
	obj := c.New()
	d.Strict, err = c.unmarshal(c.form().Decodable(data), obj, strictly)
	d.GVK = obj.GetObjectKind().GroupVersionKind()
	if err == nil {
		err = check(obj)
	}
	if err != nil {
		return d, err
	}
	d.Object, err = c.toHub(obj, hub, data, true)
	return d, err
}

// toHub converts an object to the hub that was decoded of JSON, and sets defaults before where the object is complete.
// An object that was decoded of another encoding has no JSON.
func (c *typed[T, V]) toHub(obj V, hub T, data []byte, complete bool) (T, error) {
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	var setDefaults func()
	if complete {
		setDefaults = func() {
			if c.Default != nil {
				c.Default(obj)
			}
		}
	}
	c.form().Complete(obj, data, setDefaults)
	if c.ToHub == nil {
		return any(obj).(T), nil
	}
	return hub, c.ToHub(obj, hub)
}

// setDefaults sets the defaults of an object that was decoded before.
func (c *typed[T, V]) setDefaults(obj V) {
	c.form().CompleteAgain(obj, func() {
		if c.Default != nil {
			c.Default(obj)
		}
	})
}

func (c *typed[T, V]) version(obj T) (V, error) {
	if c.FromHub == nil {
		return any(obj).(V), nil
	}
	out := c.New()
	return out, c.FromHub(obj, out)
}

func (c *typed[T, V]) encode(obj T, gvk schema.GroupVersionKind, head string) ([]byte, error) {
	out, err := c.version(obj)
	if err != nil {
		return nil, err
	}
	return c.encodeWhole(out, gvk, head)
}

func (c *typed[T, V]) unmarshal(data []byte, obj V, strictly bool) (strict []error, err error) {
	switch {
	case c.JSON.Unmarshal != nil:
		return c.JSON.Unmarshal(data, obj, strictly)
	case strictly:
		return kjson.UnmarshalStrict(data, obj)
	}
	return nil, kjson.UnmarshalCaseSensitivePreserveInts(data, obj)
}

func (c *typed[T, V]) marshal(obj V) ([]byte, error) {
	if c.JSON.Marshal != nil {
		return c.JSON.Marshal(obj)
	}
	return c.form().JSON(obj)
}

// encodeWhole encodes an object without a newline, with kind and apiVersion first. It sets both in the object and
// resets them.
func (c *typed[T, V]) encodeWhole(obj V, gvk schema.GroupVersionKind, head string) ([]byte, error) {
	kind := obj.GetObjectKind()
	kind.SetGroupVersionKind(gvk)
	data, err := c.marshal(obj)
	kind.SetGroupVersionKind(schema.GroupVersionKind{})
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data[1:], []byte(head)) {
		return data, nil
	}
	if data, err = c.marshal(obj); err != nil {
		return nil, err
	}
	return append([]byte("{"+head), data[1:]...), nil
}

func (c *typed[T, V]) validate(
	ctx context.Context, op operation.Operation, _ schema.GroupVersionKind, obj T, old *T,
) (field.ErrorList, error) {
	if c.Validate == nil {
		return AddFaults(ctx, nil), nil
	}
	changed, err := c.version(obj)
	if err != nil {
		return nil, err
	}
	var before V
	if old != nil {
		if before, err = c.version(*old); err != nil {
			return nil, err
		}
	}
	form := c.form()
	if form == nil {
		return c.Validate(ctx, op, changed, before), nil
	}
	recount, err := c.recount(changed, before)
	if err != nil {
		return nil, err
	}
	errs := c.Validate(omission.With(recount.context(ctx), form), op, changed, before)
	return c.unchecked(c.withoutDistinct(ctx, errs, changed)), nil
}

func (c *typed[T, V]) view(obj T, gvk schema.GroupVersionKind) (runtime.Object, error) {
	out := c.New()
	switch _, isMap := any(obj).(runtime.Unstructured); {
	case c.FromHub != nil:
		if err := c.FromHub(obj, out); err != nil {
			return nil, err
		}
	case isMap:
		out = obj.DeepCopyObject().(V) // its metadata is in what would be shared
	default:
		reflect.ValueOf(out).Elem().Set(reflect.ValueOf(obj).Elem())
	}
	out.GetObjectKind().SetGroupVersionKind(gvk)
	out.SetManagedFields(nil)
	return out, nil
}

func (c *typed[T, V]) empty(gvk schema.GroupVersionKind) runtime.Object {
	out := c.New()
	out.GetObjectKind().SetGroupVersionKind(gvk)
	return out
}

// adopt converts a decoded JSON object to the hub. A complete one gets defaults, and has no unknown fields.
func (c *typed[T, V]) adopt(object map[string]any, hub T, complete bool) (T, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return hub, err
	}
	obj := c.New()
	unknown, err := c.unmarshal(data, obj, true)
	if err != nil {
		return hub, err
	}
	if complete && len(unknown) > 0 {
		return hub, runtime.NewStrictDecodingError(unknown)
	}
	if err := c.checkNumbers(obj); err != nil {
		return hub, err
	}
	return c.toHub(obj, hub, data, complete)
}

func (c *typed[T, V]) cells(obj T) ([]api.Cell, error) {
	if len(c.Columns) == 0 {
		return nil, nil
	}
	out, err := c.version(obj)
	if err != nil {
		return nil, err
	}
	cells := make([]api.Cell, len(c.Columns))
	for i, column := range c.Columns {
		cells[i] = column(out)
	}
	return cells, nil
}

// Version is one served version of a resource. VersionOf makes it.
type Version[T api.Object] struct {
	Info api.VersionInfo
	binding[T]
}

// HasProtobuf reports whether the version's type has a protobuf encoding.
func (v Version[T]) HasProtobuf() bool { return v.messages != nil }

// Conversion holds the typed functions between a version's type V and the hub type T. They may change the objects that
// they get.
type Conversion[T, V api.Object] struct {
	// New returns an empty object of the version.
	New func() V
	// Default sets the defaults of the version; nil if there are none.
	Default func(V)
	// Validate checks an object by the rules of the version, before the Strategy's Validate. old is nil on a creation;
	// op has the subresource of the write. Validate is nil if there are no rules.
	Validate func(ctx context.Context, op operation.Operation, obj, old V) field.ErrorList
	// ToHub and FromHub convert. Both are nil where V is T: the version is the hub. They need not convert
	// managedFields, which reads convert separately.
	ToHub   func(in V, out T) error
	FromHub func(in T, out V) error
	// Columns has a function for each of Info.Columns, which returns the cell of an object.
	Columns []func(V) api.Cell
	// Proto encodes objects of the version as Kubernetes protobuf: ProtoOf[V](), where V has methods for it.
	Proto Proto[V]
	// Custom: objects are treated as custom resources. Their JSON, and what rules in CEL see, has the zero values that
	// a client sent, and no others, as if the fields were pointers. Without it, objects are treated as Kubernetes' own,
	// whose JSON is what encoding/json writes.
	Custom bool
	// DefaultsIfSent are the paths of structs of a Custom kind that keep what Default sets inside only if the client
	// sent the struct, though it were empty. [*] stands for the elements of a list or map: spec.doors[*].lock. A dot in
	// a name stands behind a backslash.
	DefaultsIfSent []string
	// Nullable are the paths of the fields of a Custom kind that keep null, as +nullable says. [*] stands for the
	// elements of a list or map.
	Nullable []string
	// Schemaless are the paths of the values of a Custom kind that have no schema: null is no fault in them. [*] is as
	// above.
	Schemaless []string
	// DefaultTexts are the defaults of a Custom kind that Go leaves out of JSON, as they are zero, or writes in another
	// form, such as "1h", and those of fields without omitempty. They are in JSON, by the paths of their fields. [*]
	// stands for the elements of a list or map.
	DefaultTexts map[string]string
	// EmptyStructs has structs of a Custom kind that have a default of their own, by their paths: the JSON that they
	// have if a client sends {}, which has the defaults inside, and not that of the struct. [*] is as above.
	EmptyStructs map[string]string
	// Sent returns the rules about the JSON that a client sends; nil if there are none.
	Sent func() *Sent
	// JSON encodes and decodes objects of the version; the zero value leaves that to reflection.
	JSON JSON[V]
}

// JSON are functions that do what encoding/json and sigs.k8s.io/json do by reflection, with the same results.
type JSON[V api.Object] struct {
	Marshal func(obj V) ([]byte, error)
	// Unmarshal decodes into an empty object. Where it is strict, it returns the errors about unknown and duplicate
	// fields.
	Unmarshal func(data []byte, obj V, strictly bool) (strict []error, err error)
}

// WithJSON returns a version with functions for its JSON. V is the Go type that VersionOf got.
func WithJSON[T, V api.Object](version Version[T], functions JSON[V]) Version[T] {
	codec := *version.codec.(*typed[T, V])
	codec.JSON = functions
	return Version[T]{version.Info, bindingOf(&codec)}
}
