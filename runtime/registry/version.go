package registry

import (
	"encoding/json"
	"fmt"
	"strconv"

	"apigen.dev/runtime/api"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// version is a served version bound to its group and kind.
type version[T api.Object] struct {
	info  api.VersionInfo // as declared
	gvk   schema.GroupVersionKind
	head  string
	heads [api.Protobuf + 1]string // by encoding
	codec versionCodec[T]
}

// versions are all the forms of a resource: how stored values become hub objects, and hub objects renditions.
type versions[T api.Object] struct {
	newHub  func() T
	served  []version[T]
	storage *version[T]
}

func bindVersions[T api.Object](d *Definition[T]) (*versions[T], error) {
	all := &versions[T]{newHub: d.New, served: make([]version[T], len(d.Versions))}
	for i, v := range d.Versions {
		name := v.Info.Name
		switch {
		case name == "":
			return nil, fmt.Errorf("a version has no name")
		case all.named(name) != nil:
			return nil, fmt.Errorf("version %s stands twice in Versions", name)
		case v.codec.check == nil:
			return nil, fmt.Errorf("version %s was not made by VersionOf", name)
		}
		if err := v.codec.check(len(v.Info.Columns)); err != nil {
			return nil, fmt.Errorf("version %s: %w", name, err)
		}
		gvk := schema.GroupVersionKind{Group: d.Group, Version: name, Kind: d.Names.Kind}
		bound := version[T]{info: v.Info, gvk: gvk, codec: v.codec}
		for e := range bound.heads {
			bound.heads[e] = headAs(api.Encoding(e), gvk.Kind, gvk.GroupVersion().String())
		}
		bound.head = bound.heads[api.JSON]
		all.served[i] = bound
	}
	if all.storage = all.named(d.Storage); all.storage == nil {
		return nil, fmt.Errorf("the storage version %q is not in Versions", d.Storage)
	}
	return all, nil
}

func (a *versions[T]) named(name string) *version[T] {
	for i := range a.served {
		if a.served[i].info.Name == name && name != "" {
			return &a.served[i]
		}
	}
	return nil
}

// names are those of all versions.
func (a *versions[T]) names() []string {
	names := make([]string, len(a.served))
	for i := range a.served {
		names[i] = a.served[i].info.Name
	}
	return names
}

func (a *versions[T]) of(name string) (*version[T], error) {
	if v := a.named(name); v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("version %q is not served", name)
}

// decode reads an object in whichever served version it is, as it would be stored today.
func (a *versions[T]) decode(data []byte) (T, error) {
	var none T
	apiVersion, kind := typeOf(data)
	if apiVersion == "" && kind == "" && !json.Valid(data) {
		return none, fmt.Errorf("it is no JSON: %d bytes, which begin with %q", len(data), data[:min(len(data), 16)])
	}
	v, err := a.called(kind, apiVersion)
	if err != nil {
		return none, err
	}
	d, err := v.codec.decode(data, a.newHub(), false)
	if err != nil || v == a.storage {
		return d.obj, err
	}
	return a.settle(d.obj)
}

// settle gives an object that came in another version what the storage version has by default for what was left out. It
// would be there when it is read from storage in any case: so what is stored is what is read, and what a client writes
// again is what it wrote.
func (a *versions[T]) settle(obj T) (T, error) {
	data, err := a.encode(obj)
	if err != nil {
		return obj, err
	}
	d, err := a.storage.codec.decode(data, a.newHub(), false)
	return d.obj, err
}

// called is the version that a stored object says it is of.
func (a *versions[T]) called(kind, apiVersion string) (*version[T], error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	v := a.named(gv.Version)
	if v == nil || v.gvk.Group != gv.Group || v.gvk.Kind != kind {
		return nil, fmt.Errorf("it says that it is kind %q, apiVersion %q, which is no version of %s.%s",
			kind, apiVersion, a.storage.gvk.Kind, a.storage.gvk.Group)
	}
	return v, nil
}

// encode writes an object in the storage version, as it is: a resourceVersion that it has is written, too.
func (a *versions[T]) encode(obj T) ([]byte, error) {
	return a.storage.encode(obj)
}

func (v *version[T]) encode(obj T) ([]byte, error) {
	return v.codec.encode(obj, v.gvk, v.head)
}

// render makes the other forms.
func (a *versions[T]) render(stored api.Rendition, form api.Form) (api.Rendition, error) {
	v, err := a.of(form.Version)
	if err != nil {
		return api.Rendition{}, err
	}
	if v != a.storage && form.Encoding == api.JSON && form.Shape < api.Row {
		if object, ok := a.convert(v, stored); ok {
			var none T
			return v.shape(none, object, form)
		}
	}
	object := stored
	var hub T
	native := isNative(form)
	if v != a.storage || form.Shape.Plain() >= api.Row || native {
		if hub, err = a.decode(whole(stored)); err != nil {
			return api.Rendition{}, err
		}
	}
	if v != a.storage && !native {
		data, err := v.encode(hub)
		if err != nil {
			return api.Rendition{}, err
		}
		if object, err = newRendition(data, v.head); err != nil {
			return api.Rendition{}, err
		}
	}
	return v.shape(hub, object, form)
}

// isNative tells the forms that are made of the hub object, without the version's in JSON.
func isNative(form api.Form) bool {
	switch form.Shape.Plain() {
	case api.Row:
		return true
	case api.Whole, api.RowWithObject:
		return form.Encoding != api.JSON
	}
	return false
}

// convert makes the object of another version without touching its managedFields. It is false where that can't be done,
// for whatever reason.
func (a *versions[T]) convert(v *version[T], stored api.Rendition) (api.Rendition, bool) {
	data, managed, ok := withoutManaged(stored)
	if !ok {
		return api.Rendition{}, false
	}
	hub, err := a.decode(data)
	if err != nil {
		return api.Rendition{}, false
	}
	if data, err = v.encode(hub); err != nil {
		return api.Rendition{}, false
	}
	object, err := newRendition(data, v.head)
	if err != nil {
		return api.Rendition{}, false
	}
	return withManaged(object, managed)
}

func (v *version[T]) shape(hub T, object api.Rendition, form api.Form) (api.Rendition, error) {
	if form.Encoding != api.JSON {
		return v.shapeAs(hub, object, form)
	}
	switch form.Shape.Plain() {
	case api.Whole:
		return object, nil
	case api.Metadata:
		return metadataIn(object, form.Shape)
	case api.Row, api.RowWithMetadata, api.RowWithObject:
	default:
		return api.Rendition{}, fmt.Errorf("there is no shape %d", form.Shape)
	}
	cells, err := v.cells(hub)
	if err != nil {
		return api.Rendition{}, err
	}
	switch form.Shape.Plain() {
	case api.RowWithObject:
		return rowOf(cells, &object)
	case api.RowWithMetadata:
		m, err := metadataIn(object, form.Shape)
		if err != nil {
			return api.Rendition{}, err
		}
		return rowOf(cells, &m)
	}
	return rowOf(cells, nil)
}

// cells are those of a row, complete.
func (v *version[T]) cells(hub T) ([]api.Cell, error) {
	cells, err := v.codec.cells(hub)
	if err != nil {
		return nil, err
	}
	return cellsOf(hub, v.info.Columns, cells), nil
}

// bookmark is an object that says nothing but how far a watch has come.
func (a *versions[T]) bookmark(revision int64, initialEnd bool, form api.Form) (api.Rendition, error) {
	v, err := a.of(form.Version)
	if err != nil {
		return api.Rendition{}, err
	}
	object := `{` + v.head + `"metadata":{"resourceVersion":"` + strconv.FormatInt(revision, 10) + `"`
	if initialEnd {
		object += `,"annotations":{"` + metav1.InitialEventsAnnotationKey + `":"true"}`
	}
	r, err := newRendition([]byte(object+"}}"), v.head)
	if err != nil {
		return api.Rendition{}, err
	}
	hub := a.newHub()
	if form.Encoding != api.JSON {
		hub = a.bookmarkHub(revision, initialEnd)
	}
	return v.shape(hub, r, form)
}

// typeOf reads kind and apiVersion of an object, wherever they stand.
func typeOf(data []byte) (apiVersion, kind string) {
	at := space(data, 0)
	if at >= len(data) || data[at] != '{' {
		return "", ""
	}
	members(data, at+1, func(key []byte, start, end int) bool {
		if end-start < 2 || data[start] != '"' {
			return true
		}
		switch string(key) {
		case "apiVersion":
			apiVersion = string(data[start+1 : end-1])
		case "kind":
			kind = string(data[start+1 : end-1])
		}
		return apiVersion == "" || kind == ""
	})
	return apiVersion, kind
}
