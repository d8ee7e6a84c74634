package typedclient

import (
	"context"
	"encoding/json"
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/metadata"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// Handle is an open resource of a Catalog: a registry.Handle.
type Handle interface {
	Info() *verb.Info
	Resource
	DeleteCollection(ctx context.Context, namespace string, opts verb.DeleteOptions, list verb.ListOptions) (*verb.Page,
		error)
}

// Catalog is a reach.Catalog of open resources. It is immutable.
type Catalog[H Handle] struct {
	// Handles returns the resources that are served now, and Documents the OpenAPI v3 documents of their versions.
	Handles   func() []H
	Documents func() map[schema.GroupVersion]api.Document
}

// Resources implements reach.Catalog.
func (c Catalog[H]) Resources() []reach.Resource {
	handles := c.Handles()
	all := make([]reach.Resource, len(handles))
	for i, h := range handles {
		all[i] = describe(h.Info())
	}
	return all
}

// Unknown implements reach.Catalog: there are none.
func (c Catalog[H]) Unknown() []schema.GroupVersion { return nil }

// verbs are those of a resource that names none.
var verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

func describe(info *verb.Info) reach.Resource {
	r := reach.Resource{
		GroupResource: info.GroupResource(), Kind: info.Names.Kind, Namespaced: info.Scope == api.Namespaced,
		Verbs: info.Verbs, Stored: info.Stored().Storage != "",
	}
	if r.Verbs == nil {
		r.Verbs = verbs
	}
	if info.SameAs != nil {
		r.SameAs = info.SameAs.GroupResource()
	}
	for _, v := range info.Versions {
		if v.Unserved {
			continue
		}
		r.Versions = append(r.Versions, v.Name)
	}
	return r
}

func (c Catalog[H]) find(gr schema.GroupResource) (none H, _ error) {
	for _, h := range c.Handles() {
		if h.Info().GroupResource() == gr {
			return h, nil
		}
	}
	return none, apierrors.NewNotFound(gr, "")
}

// Objects implements reach.Catalog.
func (c Catalog[H]) Objects(gvr schema.GroupVersionResource) (reach.Objects[*unstructured.Unstructured], error) {
	h, err := c.find(gvr.GroupResource())
	if err != nil {
		return nil, err
	}
	info := h.Info()
	if info.Version(gvr.Version) == nil {
		return nil, fmt.Errorf("the resource %s is not served in version %q", gvr.GroupResource(), gvr.Version)
	}
	return Client[*unstructured.Unstructured]{
		Resource: h, Versions: content{}, Stored: info.Stored().Storage != "",
		New:  func() *unstructured.Unstructured { return new(unstructured.Unstructured) },
		Form: verb.Form{Version: info.Key(gvr.Version), Shape: verb.Whole},
	}, nil
}

// OpenAPI implements reach.Catalog.
func (c Catalog[H]) OpenAPI(version schema.GroupVersion) ([]byte, error) {
	document, ok := c.Documents()[version]
	if !ok {
		return nil, fmt.Errorf("there is no OpenAPI document of %s", version)
	}
	return document.JSON()
}

// Count implements reach.Catalog.
func (c Catalog[H]) Count(ctx context.Context, gr schema.GroupResource, namespace string) (int64, error) {
	h, err := c.find(gr)
	if err != nil {
		return 0, err
	}
	options := verb.ListOptions{Limit: 1}
	var counted int64
	for {
		listed, err := h.List(ctx, namespace, options, formOf(h))
		if err != nil {
			return 0, err
		}
		counted += int64(listed.Len)
		remaining, next := listed.Remaining, listed.Continue
		listed.Close()
		if remaining != nil {
			return counted + *remaining, nil
		}
		if next == "" {
			return counted, nil
		}
		options.Continue, options.Limit = next, page
	}
}

// page is how many objects are in memory at once, where all of a namespace are looked at.
const page = 500

// Finalizers implements reach.Catalog.
func (c Catalog[H]) Finalizers(
	ctx context.Context, gr schema.GroupResource, namespace string,
) (objects int64, finalizers map[string]int64, err error) {
	h, err := c.find(gr)
	if err != nil {
		return 0, nil, err
	}
	finalizers = map[string]int64{}
	form := formOf(h)
	form.Shape = verb.Metadata
	options := verb.ListOptions{Limit: page}
	for {
		listed, err := h.List(ctx, namespace, options, form)
		if err != nil {
			return 0, nil, err
		}
		objects += int64(listed.Len)
		err = countFinalizers(listed, finalizers)
		options.Continue = listed.Continue
		listed.Close()
		if err != nil || options.Continue == "" {
			return objects, finalizers, err
		}
	}
}

func countFinalizers(listed *verb.Page, into map[string]int64) error {
	for r := range listed.Items {
		var object struct {
			Metadata struct {
				Finalizers []string `json:"finalizers"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(rendition.Whole(r), &object); err != nil {
			return apierrors.NewInternalError(err)
		}
		for _, finalizer := range object.Metadata.Finalizers {
			into[finalizer]++
		}
	}
	return nil
}

// DeleteAll implements reach.Catalog.
func (c Catalog[H]) DeleteAll(
	ctx context.Context, gr schema.GroupResource, namespace string, options metav1.DeleteOptions,
) error {
	h, err := c.find(gr)
	if err != nil {
		return err
	}
	var how verb.DeleteOptions
	how.Form, how.DryRun = formOf(h), reach.IsDryRun(ctx) || len(options.DryRun) > 0
	if err := metadata.SetDeleteOptions(&how, &options); err != nil {
		return err
	}
	list := verb.ListOptions{Limit: page}
	for {
		deleted, err := h.DeleteCollection(ctx, namespace, how, list)
		if err != nil {
			return err
		}
		list.Continue = deleted.Continue
		deleted.Close()
		if list.Continue == "" {
			return nil
		}
	}
}

// formOf returns a form of a resource in its preferred version, or in the version in which custom resources are stored:
// no conversion webhook keeps them from being deleted with their definition or their namespace.
func formOf[H Handle](h H) verb.Form {
	info := h.Info()
	preferred := info.Versions[0]
	if preferred.Untyped && info.Storage != "" {
		return verb.Form{Version: info.Key(info.Storage), Shape: verb.Whole}
	}
	return verb.Form{Version: info.Key(preferred.Name), Shape: verb.Whole}
}

// content is the Codec of objects without a Go type.
type content struct{}

// Decode implements Codec.
func (content) Decode(data []byte) (*unstructured.Unstructured, error) {
	obj := new(unstructured.Unstructured)
	err := kjson.UnmarshalCaseSensitivePreserveInts(data, &obj.Object)
	return obj, err
}

// Encode implements Codec.
func (content) Encode(obj *unstructured.Unstructured) ([]byte, error) {
	return json.Marshal(obj.Object)
}
