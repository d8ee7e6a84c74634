package codec

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/omission"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Served is a served version bound to its group and kind.
type Served[T api.Object] struct {
	Info api.VersionInfo // as declared
	GVK  schema.GroupVersionKind
	// Key names the version among all of Versions: v1, or other.example.com/v1 in another group than the stored one.
	Key   string
	Head  string
	heads [verb.Protobuf + 1]string // by encoding
	// lead are kind and apiVersion in JSON, with which what Encode returns begins. It is Head, but for untyped
	// versions: the items of their lists have kind and apiVersion, too, so that these are no Head.
	lead string
	binding[T]
}

// Versions are the served versions of a kind, in all groups that serve its objects. They decode stored values to hub
// objects, and render hub objects in every form that a client may ask for.
type Versions[T api.Object] struct {
	NewHub  func() T
	Served  []Served[T]
	Storage *Served[T]
	// remote reports whether one of Served is Remote.
	remote bool
}

// Bind binds the versions of a kind, one of which is stored. also are the kind in other groups, in which its objects
// are served, too.
func (k Kind[T]) Bind(storage string, also ...Kind[T]) (*Versions[T], error) {
	all := &Versions[T]{NewHub: k.New}
	if err := all.add(k, func(name string) string { return name }); err != nil {
		return nil, err
	}
	for _, other := range also {
		if err := all.add(other, func(name string) string { return verb.ForeignKey(other.Group, name) }); err != nil {
			return nil, fmt.Errorf("group %q: %w", other.Group, err)
		}
	}
	if all.Storage = all.ByKey(storage); all.Storage == nil {
		return nil, fmt.Errorf("the storage version %q is not in Versions", storage)
	}
	return all, nil
}

// add binds the versions of a kind in a group.
func (a *Versions[T]) add(k Kind[T], keyOf func(name string) string) error {
	for _, v := range k.Versions {
		name, key := v.Info.Name, keyOf(v.Info.Name)
		switch {
		case name == "":
			return fmt.Errorf("a version has no name")
		case a.ByKey(key) != nil:
			return fmt.Errorf("version %s is declared twice in Versions", name)
		case v.codec == nil:
			return fmt.Errorf("version %s was not made by VersionOf", name)
		}
		if err := v.codec.check(len(v.Info.Columns)); err != nil {
			return fmt.Errorf("version %s: %w", name, err)
		}
		gvk := schema.GroupVersionKind{Group: k.Group, Version: name, Kind: k.Kind}
		bound := Served[T]{Info: v.Info, GVK: gvk, Key: key, binding: v.binding}
		for e := range bound.heads {
			bound.heads[e] = rendition.Head(verb.Encoding(e), gvk.Kind, gvk.GroupVersion().String())
		}
		bound.lead = bound.heads[verb.JSON]
		if v.Info.Untyped {
			bound.heads[verb.JSON] = ""
		}
		bound.Head = bound.heads[verb.JSON]
		a.Served, a.remote = append(a.Served, bound), a.remote || bound.Remote()
	}
	return nil
}

// ByKey finds a version by its key; nil if there is none.
func (a *Versions[T]) ByKey(key string) *Served[T] {
	for i := range a.Served {
		if a.Served[i].Key == key {
			return &a.Served[i]
		}
	}
	return nil
}

// In finds a version by its group and name; nil if there is none.
func (a *Versions[T]) In(gv schema.GroupVersion) *Served[T] {
	for i := range a.Served {
		if v := &a.Served[i]; v.GVK.Version == gv.Version && v.GVK.Group == gv.Group {
			return v
		}
	}
	return nil
}

// Keys returns the keys of all versions, in their order.
func (a *Versions[T]) Keys() []string {
	keys := make([]string, len(a.Served))
	for i := range a.Served {
		keys[i] = a.Served[i].Key
	}
	return keys
}

// Lookup finds a version by its key, or returns an error that names it.
func (a *Versions[T]) Lookup(key string) (*Served[T], error) {
	if v := a.ByKey(key); v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("version %q is not served", key)
}

func (a *Versions[T]) called(kind, apiVersion string) (*Served[T], error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	v := a.In(gv)
	if v == nil || v.GVK.Kind != kind {
		return nil, fmt.Errorf("it says that it is kind %q, apiVersion %q, which is no version of %s.%s",
			kind, apiVersion, a.Storage.GVK.Kind, a.Storage.GVK.Group)
	}
	return v, nil
}

// Encode encodes an object in the storage version, including its resourceVersion.
func (a *Versions[T]) Encode(obj T) ([]byte, error) {
	return a.Storage.Encode(obj)
}

// Encode encodes an object in the version in JSON, with kind and apiVersion in front.
func (v *Served[T]) Encode(obj T) ([]byte, error) {
	return v.codec.encode(obj, v.GVK, v.lead)
}

// Render renders another form from the whole object in the storage version, in JSON or in protobuf.
func (a *Versions[T]) Render(stored verb.Rendition, form verb.Form) (verb.Rendition, error) {
	v, err := a.Lookup(form.Version)
	if err != nil {
		return verb.Rendition{}, err
	}
	if rendition.IsMessage(stored) {
		return a.renderMessage(v, stored, form)
	}
	if v != a.Storage && form.Encoding == verb.JSON && form.Shape < verb.Row {
		one, err := a.separate(stored, form)
		if err != nil {
			return verb.Rendition{}, err
		}
		if r, ok, err := v.assemble(one, form); ok {
			return r, err
		}
	}
	if v == a.Storage && form.Shape.Plain() < verb.Row && !isNative(form) {
		var none T
		return v.shape(none, stored, form)
	}
	hub, err := a.Decode(rendition.Whole(stored))
	switch {
	case err != nil:
		return verb.Rendition{}, err
	case v == a.Storage:
		return v.shape(hub, stored, form)
	}
	return v.render(hub, form)
}

func (a *Versions[T]) renderMessage(v *Served[T], stored verb.Rendition, form verb.Form) (verb.Rendition, error) {
	if v == a.Storage && form.Shape.Plain() == verb.Metadata {
		return rendition.MetadataIn(form.Encoding, stored, form.Shape)
	}
	d, err := a.Storage.decodeMessage(stored.Payload, a.NewHub())
	if err != nil {
		return verb.Rendition{}, err
	}
	return v.render(d.Object, form)
}

// render renders a form of a hub object.
func (v *Served[T]) render(hub T, form verb.Form) (verb.Rendition, error) {
	if isNative(form) {
		return v.shape(hub, verb.Rendition{}, form)
	}
	data, err := v.Encode(hub)
	if err != nil {
		return verb.Rendition{}, err
	}
	object, err := rendition.New(data, v.Head)
	if err != nil {
		return verb.Rendition{}, err
	}
	return v.shape(hub, object, form)
}

// isNative reports whether a form is rendered from the hub object alone, without the version's JSON.
func isNative(form verb.Form) bool {
	switch form.Shape.Plain() {
	case verb.Row:
		return true
	case verb.Whole, verb.RowWithObject:
		return form.Encoding != verb.JSON
	}
	return false
}

// shape renders a form from the version's object in JSON, and from the hub object where the form is a row or in another
// encoding. The shape Whole in another encoding needs only the hub object.
func (v *Served[T]) shape(hub T, object verb.Rendition, form verb.Form) (verb.Rendition, error) {
	plain := form.Shape.Plain()
	switch {
	case plain == verb.Whole && form.Encoding == verb.JSON:
		return object, nil
	case plain == verb.Whole:
		data, err := v.codec.write(form.Encoding, hub)
		return verb.Rendition{Head: v.heads[form.Encoding], Payload: data}, err
	case plain == verb.Metadata:
		return rendition.MetadataIn(form.Encoding, object, form.Shape)
	case plain > verb.RowWithObject:
		return verb.Rendition{}, fmt.Errorf("there is no shape %d", form.Shape)
	case form.Encoding == verb.Protobuf:
		return verb.Rendition{}, fmt.Errorf("there is no table in %v", form.Encoding)
	}
	cells, err := v.cells(hub)
	if err != nil {
		return verb.Rendition{}, err
	}
	var in *verb.Rendition
	if plain != verb.Row {
		inner := verb.Form{Version: form.Version, Encoding: form.Encoding}
		if plain == verb.RowWithMetadata {
			inner.Shape = verb.Metadata | form.Shape&verb.V1beta1
		}
		object, err := v.shape(hub, object, inner)
		if err != nil {
			return verb.Rendition{}, err
		}
		in = &object
	}
	if form.Encoding == verb.CBOR {
		return rendition.RowCBOR(cells, in)
	}
	return rendition.Row(cells, in)
}

func (v *Served[T]) cells(hub T) ([]api.Cell, error) {
	cells, err := v.codec.cells(hub)
	if err != nil {
		return nil, err
	}
	return rendition.Cells(hub, v.Info.Columns, cells), nil
}

// Bookmark renders the object of a bookmark at a revision.
func (a *Versions[T]) Bookmark(revision int64, initialEnd bool, form verb.Form) (verb.Rendition, error) {
	v, err := a.Lookup(form.Version)
	if err != nil {
		return verb.Rendition{}, err
	}
	object := `{` + v.lead + `"metadata":{"resourceVersion":"` + strconv.FormatInt(revision, 10) + `"`
	if initialEnd {
		object += `,"annotations":{"` + metav1.InitialEventsAnnotationKey + `":"true"}`
	}
	r, err := rendition.New([]byte(object+"}}"), v.Head)
	if err != nil {
		return verb.Rendition{}, err
	}
	hub := a.NewHub()
	if form.Encoding != verb.JSON {
		hub = a.bookmarkHub(revision, initialEnd)
	}
	return v.shape(hub, r, form)
}

// Decode reads an object of the version in JSON, with defaults, into hub.
func (v *Served[T]) Decode(data []byte, hub T, strictly bool) (Decoded[T], error) {
	return v.codec.decode(data, hub, strictly)
}

// Validate checks obj, which replaces old unless that is nil, by the rules of the version. Its error is one of
// conversion.
func (v *Served[T]) Validate(ctx context.Context, op operation.Operation, obj T, old *T) (field.ErrorList, error) {
	return v.codec.validate(ctx, op, v.GVK, obj, old)
}

// View returns obj in the version, with kind and apiVersion and without managedFields. The view shares memory with obj,
// so callers must only read it.
func (v *Served[T]) View(obj T) (runtime.Object, error) { return v.codec.view(obj, v.GVK) }

// Form returns what the JSON of the version has; nil for a version that is treated as those of Kubernetes' own kinds.
func (v *Served[T]) Form() *omission.Form { return v.jsonForm() }

// Empty returns what an object is before a client creates it, with which field ownership compares: its kind and
// apiVersion. A Go struct has the fields without omitempty in it, as Kubernetes' own kinds; what behaves as a custom
// resource has none, so that a client that sends spec owns it, and one that applies no spec has sent none.
func (v *Served[T]) Empty() runtime.Object {
	if v.jsonForm() == nil && v.rules() == nil {
		return v.codec.empty(v.GVK)
	}
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(v.GVK)
	return out
}

// FromMap makes a hub object of a part of an object of the version, without defaults. It ignores unknown fields.
func (v *Served[T]) FromMap(object map[string]any, hub T) (T, error) {
	return v.codec.adopt(object, hub, false)
}

// Kind is a kind with its versions, the preferred one first.
type Kind[T api.Object] struct {
	Group, Kind string
	// New returns an empty hub object.
	New      func() T
	Versions []Version[T]
}

// BindUnstored binds the versions of a kind without storage. Its first version takes the place of the storage version.
func (k Kind[T]) BindUnstored() (*Versions[T], error) {
	if k.New == nil || k.Kind == "" || len(k.Versions) == 0 {
		return nil, fmt.Errorf("the kind %q lacks New, Kind or Versions", k.Kind)
	}
	return k.Bind(k.Versions[0].Info.Name)
}

// DiscoveryKind returns the kind as the discovery document of a group shows it: without a version where the kind has
// the version of the URL.
func (k Kind[T]) DiscoveryKind(group string) schema.GroupVersionKind {
	kind := schema.GroupVersionKind{Group: k.Group, Kind: k.Kind}
	if (k.Group != group || len(k.Versions) == 1) && len(k.Versions) > 0 {
		kind.Version = k.Versions[0].Info.Name
	}
	return kind
}

// HasProtobuf reports whether every version of the kind has a protobuf encoding.
func (k Kind[T]) HasProtobuf() bool {
	return len(k.Versions) > 0 && !slices.ContainsFunc(k.Versions, func(v Version[T]) bool { return !v.HasProtobuf() })
}

// OrStorage finds a version by the key of a version of the same name; without one of that name it returns the storage
// version.
func (a *Versions[T]) OrStorage(key string) *Served[T] {
	if v := a.ByKey(key[strings.LastIndexByte(key, '/')+1:]); v != nil {
		return v
	}
	return a.Storage
}

// DecodeBody decodes a body, whose version may be that of another kind: see OrStorage.
func (a *Versions[T]) DecodeBody(body verb.Body) (obj T, warnings []string, err error) {
	return a.OrStorage(body.Version).DecodeBody(a.NewHub(), body)
}

// RenderObject renders an object in a form, whose version may be that of another kind: see OrStorage.
func (a *Versions[T]) RenderObject(obj T, form verb.Form) (verb.Rendition, error) {
	return a.OrStorage(form.Version).RenderObject(obj, form)
}

// RenderObject renders an object without a stored form. Its errors are API statuses.
func (v *Served[T]) RenderObject(obj T, form verb.Form) (verb.Rendition, error) {
	r, err := v.render(obj, form)
	if err != nil {
		return verb.Rendition{}, apierrors.NewInternalError(err)
	}
	return r, nil
}
