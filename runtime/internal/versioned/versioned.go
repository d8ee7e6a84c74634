// Package versioned shows objects of Go types to admission, in the versions that plug-ins ask for.
//
// It may know packages admission, api, codec and verb.
package versioned

import (
	"encoding/json"
	"fmt"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// Object is an admission.Object of a kind whose hub type is T. It remembers its JSON forms until it changes.
type Object[T api.Object] struct {
	versions *codec.Versions[T]
	value    T
	forms    []form
}

// form is an object in one kind.
type form struct {
	gvk     schema.GroupVersionKind
	data    []byte
	content map[string]any
}

// New shows value, which versions encode.
func New[T api.Object](versions *codec.Versions[T], value T) *Object[T] {
	return &Object[T]{versions: versions, value: value}
}

// Hub returns the Go value, after a Replace that of the replacement.
func (o *Object[T]) Hub() T { return o.value }

// Value implements admission.Object.
func (o *Object[T]) Value() any { return o.value }

// Meta implements admission.Object.
func (o *Object[T]) Meta() metav1.Object { return o.value }

// Changed implements admission.Object.
func (o *Object[T]) Changed() { o.forms = nil }

// JSON implements admission.Object.
func (o *Object[T]) JSON(gvk schema.GroupVersionKind) ([]byte, error) {
	f, err := o.form(gvk)
	if err != nil {
		return nil, err
	}
	return f.data, nil
}

// Content implements admission.Object.
func (o *Object[T]) Content(gvk schema.GroupVersionKind) (map[string]any, error) {
	f, err := o.form(gvk)
	if err != nil {
		return nil, err
	}
	if f.content == nil {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(f.data, &f.content); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
	}
	return f.content, nil
}

func (o *Object[T]) form(gvk schema.GroupVersionKind) (*form, error) {
	for i := range o.forms {
		if o.forms[i].gvk == gvk {
			return &o.forms[i], nil
		}
	}
	v, err := o.served(gvk)
	if err != nil {
		return nil, err
	}
	data, err := v.Encode(o.value)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	o.forms = append(o.forms, form{gvk: gvk, data: data})
	return &o.forms[len(o.forms)-1], nil
}

func (o *Object[T]) served(gvk schema.GroupVersionKind) (*codec.Served[T], error) {
	v := o.versions.In(gvk.GroupVersion())
	if v == nil || v.GVK.Kind != gvk.Kind {
		return nil, apierrors.NewInternalError(fmt.Errorf("the object has no form of the kind %v", gvk))
	}
	return v, nil
}

// Replace implements admission.Object.
func (o *Object[T]) Replace(gvk schema.GroupVersionKind, data []byte) error {
	v, err := o.served(gvk)
	if err != nil {
		return err
	}
	value, _, err := v.DecodeBody(o.versions.NewHub(), verb.Body{
		Version: v.Key, Data: data, Validation: metav1.FieldValidationIgnore,
	})
	if err != nil {
		return err
	}
	o.value, o.forms = value, nil
	return nil
}

// Options shows the options of a connection, which have one kind.
type Options struct {
	Of   any
	Kind schema.GroupVersionKind
}

// Value implements admission.Object.
func (o Options) Value() any { return o.Of }

// Meta implements admission.Object.
func (Options) Meta() metav1.Object { return nil }

// Changed implements admission.Object.
func (Options) Changed() {}

// JSON implements admission.Object. It encodes the options under every kind.
func (o Options) JSON(gvk schema.GroupVersionKind) ([]byte, error) {
	content, err := o.Content(gvk)
	if err != nil {
		return nil, err
	}
	return json.Marshal(content)
}

// Content implements admission.Object.
func (o Options) Content(gvk schema.GroupVersionKind) (map[string]any, error) {
	content := map[string]any{}
	data, err := json.Marshal(o.Of)
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, &content)
	}
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	content["apiVersion"], content["kind"] = gvk.GroupVersion().String(), gvk.Kind
	return content, nil
}

// Replace implements admission.Object.
func (o Options) Replace(_ schema.GroupVersionKind, data []byte) error {
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, o.Of); err != nil {
		return apierrors.NewInternalError(err)
	}
	return nil
}

var (
	_ admission.Object = (*Object[api.Object])(nil)
	_ admission.Object = Options{}
)
