package objects

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"apigen.dev/runtime/reach"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Joined is a reach.Catalog of a server's own resources and of those that other servers serve behind it. It empties
// namespaces of the latter; their objects can't be followed.
type Joined struct {
	reach.Catalog
	// Remote returns the resources of other servers, and Away the versions of servers that don't answer. Client asks
	// the server at Host, which passes requests for them on.
	Remote func() []reach.Resource
	Away   func() []schema.GroupVersion
	Client *http.Client
	Host   string
}

var _ reach.Catalog = Joined{}

// Resources implements reach.Catalog.
func (j Joined) Resources() []reach.Resource { return slices.Concat(j.Catalog.Resources(), j.Remote()) }

// Unknown implements reach.Catalog.
func (j Joined) Unknown() []schema.GroupVersion { return j.Away() }

// remote returns a resource that another server serves.
func (j Joined) remote(gr schema.GroupResource) (reach.Resource, bool) {
	all := j.Remote()
	i := slices.IndexFunc(all, func(r reach.Resource) bool { return r.GroupResource == gr })
	if i < 0 {
		return reach.Resource{}, false
	}
	return all[i], true
}

// Objects implements reach.Catalog.
func (j Joined) Objects(gvr schema.GroupVersionResource) (reach.Objects[*unstructured.Unstructured], error) {
	if r, ok := j.remote(gvr.GroupResource()); ok && slices.Contains(r.Versions, gvr.Version) {
		return nil, fmt.Errorf("the objects of %s are in another server", gvr)
	}
	return j.Catalog.Objects(gvr)
}

// Count implements reach.Catalog.
func (j Joined) Count(ctx context.Context, gr schema.GroupResource, namespace string) (int64, error) {
	r, ok := j.remote(gr)
	if !ok {
		return j.Catalog.Count(ctx, gr, namespace)
	}
	var count int64
	err := j.pages(ctx, r, namespace, func(list *metav1.PartialObjectMetadataList) (more bool) {
		count += int64(len(list.Items))
		if remaining := list.RemainingItemCount; remaining != nil {
			count += *remaining
			return false
		}
		return true
	})
	return count, err
}

// Finalizers implements reach.Catalog.
func (j Joined) Finalizers(
	ctx context.Context, gr schema.GroupResource, namespace string,
) (objects int64, finalizers map[string]int64, err error) {
	r, ok := j.remote(gr)
	if !ok {
		return j.Catalog.Finalizers(ctx, gr, namespace)
	}
	finalizers = map[string]int64{}
	err = j.pages(ctx, r, namespace, func(list *metav1.PartialObjectMetadataList) (more bool) {
		objects += int64(len(list.Items))
		for i := range list.Items {
			for _, finalizer := range list.Items[i].Finalizers {
				finalizers[finalizer]++
			}
		}
		return true
	})
	return objects, finalizers, err
}

// DeleteAll implements reach.Catalog.
func (j Joined) DeleteAll(
	ctx context.Context, gr schema.GroupResource, namespace string, options metav1.DeleteOptions,
) error {
	r, ok := j.remote(gr)
	if !ok {
		return j.Catalog.DeleteAll(ctx, gr, namespace, options)
	}
	options.Kind, options.APIVersion = "DeleteOptions", "v1"
	body, err := json.Marshal(&options)
	if err != nil {
		return err
	}
	if slices.Contains(r.Verbs, "deletecollection") {
		return j.ask(ctx, http.MethodDelete, j.path(r, namespace, ""), nil, body, nil)
	}
	var names []string
	if err := j.pages(ctx, r, namespace, func(list *metav1.PartialObjectMetadataList) (more bool) {
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
		return true
	}); err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		err := j.ask(ctx, http.MethodDelete, j.path(r, namespace, name), nil, body, nil)
		if !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// pages reads the metadata of all objects, a page at a time, while look wants more.
func (j Joined) pages(
	ctx context.Context, r reach.Resource, namespace string,
	look func(list *metav1.PartialObjectMetadataList) (more bool),
) error {
	query := url.Values{"limit": {strconv.Itoa(page)}}
	for {
		var list metav1.PartialObjectMetadataList
		if err := j.ask(ctx, http.MethodGet, j.path(r, namespace, ""), query, nil, &list); err != nil {
			return err
		}
		if !look(&list) || list.Continue == "" {
			return nil
		}
		query.Set("continue", list.Continue)
	}
}

func (j Joined) path(r reach.Resource, namespace, name string) string {
	path := "/apis/" + r.Group + "/" + r.Versions[0]
	if r.Namespaced && namespace != "" {
		path += "/namespaces/" + namespace
	}
	path += "/" + r.Resource
	if name != "" {
		path += "/" + url.PathEscape(name)
	}
	return path
}

// metadataOnly asks for the metadata of objects, from servers that have it, or else for the objects.
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// maxAnswer bounds an answer: a page of large objects of a server that has no metadata alone.
const maxAnswer = 512 << 20

// question is a request to the server at Joined.Host. A body is JSON unless contentType says something else.
type question struct {
	method, path        string
	query               url.Values
	body                []byte
	accept, contentType string
}

// ask sends a request, and reads the answer into out unless that is nil. Its error is an API status.
func (j Joined) ask(ctx context.Context, method, path string, query url.Values, body []byte, out any) error {
	return j.answer(ctx, &question{method: method, path: path, query: query, body: body, accept: metadataOnly}, out)
}

func (j Joined) answer(ctx context.Context, q *question, out any) error {
	response, err := j.open(ctx, q)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was opened for reading
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(out); err != nil {
		return fmt.Errorf("%s %s: %w", q.method, q.path, err)
	}
	return nil
}

// open sends a request, and returns an answer of success, whose body the caller closes. Its error is an API status,
// where the answer is one.
func (j Joined) open(ctx context.Context, q *question) (*http.Response, error) {
	u := j.Host + q.path
	if len(q.query) > 0 {
		u += "?" + q.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, q.method, u, bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", q.accept)
	if q.body != nil {
		request.Header.Set("Content-Type", cmp.Or(q.contentType, "application/json"))
	}
	response, err := j.Client.Do(request)
	if err != nil || response.StatusCode < http.StatusMultipleChoices {
		return response, err
	}
	defer func() { _ = response.Body.Close() }() // it was opened for reading
	status := metav1.Status{}
	decoder := json.NewDecoder(io.LimitReader(response.Body, maxStatus))
	if decoder.Decode(&status) != nil || status.Kind != "Status" {
		return nil, fmt.Errorf("%s %s: %s", q.method, q.path, response.Status)
	}
	return nil, &apierrors.StatusError{ErrStatus: status}
}

// maxStatus bounds an answer that is an error.
const maxStatus = 1 << 20
