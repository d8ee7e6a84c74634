package typedclient

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
	// Remote returns the resources of other servers, and Unavailable the versions of servers that don't answer. Client
	// asks the server at Host, which passes requests for them on.
	Remote      func() []reach.Resource
	Unavailable func() []schema.GroupVersion
	Client      *http.Client
	Host        string

	bounds bounds
}

var _ reach.Catalog = Joined{}

// Resources implements reach.Catalog.
func (j Joined) Resources() []reach.Resource { return slices.Concat(j.Catalog.Resources(), j.Remote()) }

// Unknown implements reach.Catalog.
func (j Joined) Unknown() []schema.GroupVersion { return j.Unavailable() }

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
	ctx, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
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
	ctx, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
	finalizers = map[string]int64{}
	err = j.pages(ctx, r, namespace, func(list *metav1.PartialObjectMetadataList) (more bool) {
		objects += int64(len(list.Items))
		for i := range list.Items {
			for _, finalizer := range list.Items[i].Finalizers {
				if _, known := finalizers[finalizer]; known || len(finalizers) < maxFinalizers {
					finalizers[finalizer]++
				}
			}
		}
		return true
	})
	return objects, finalizers, err
}

// maxFinalizers bounds the names of finalizers that are counted.
const maxFinalizers = 1000

// DeleteAll implements reach.Catalog.
func (j Joined) DeleteAll(
	ctx context.Context, gr schema.GroupResource, namespace string, options metav1.DeleteOptions,
) error {
	r, ok := j.remote(gr)
	if !ok {
		return j.Catalog.DeleteAll(ctx, gr, namespace, options)
	}
	ctx, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
	options.Kind, options.APIVersion = "DeleteOptions", "v1"
	body, err := json.Marshal(&options)
	if err != nil {
		return err
	}
	if slices.Contains(r.Verbs, "deletecollection") {
		return j.delete(ctx, j.path(r, namespace, ""), body)
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
		if err := j.delete(ctx, j.path(r, namespace, name), body); err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
		if ctx.Err() != nil || len(errs) == maxErrors {
			break
		}
	}
	return errors.Join(errs...)
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

// question is a request to the server at Joined.Host. A body is JSON unless contentType says something else.
type question struct {
	method, path        string
	query               url.Values
	body                []byte
	accept, contentType string
}

// delete sends a DELETE. Its error is an API status where the answer is one.
func (j Joined) delete(ctx context.Context, path string, body []byte) error {
	_, err := j.answer(ctx, &question{method: http.MethodDelete, path: path, body: body, accept: metadataOnly}, nil)
	return err
}

// answer sends a request, and reads the answer into out unless that is nil. It returns how many bytes it has read.
func (j Joined) answer(ctx context.Context, q *question, out any) (size int64, err error) {
	response, err := j.open(ctx, q)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }() // it was opened for reading
	if out == nil {
		return 0, nil
	}
	if size, err = read(response.Body, j.bounds.withDefaults().page, out); err != nil && !errors.Is(err, errLarge) {
		err = fmt.Errorf("%s %s: %w", q.method, q.path, err)
	}
	return size, err
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
	if err != nil {
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err // its text has the query, which may be long, and is another one each time
		}
		return nil, fmt.Errorf("%s %s: %w", q.method, q.path, err)
	}
	if response.StatusCode < http.StatusMultipleChoices {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }() // it was opened for reading
	status := metav1.Status{}
	decoder := json.NewDecoder(io.LimitReader(response.Body, maxStatus))
	if decoder.Decode(&status) != nil || status.Kind != "Status" {
		return nil, fmt.Errorf("%s %s: %s", q.method, q.path, response.Status)
	}
	return nil, &apierrors.StatusError{ErrStatus: status}
}

// maxErrors is how many deletions may fail before the others aren't tried.
const maxErrors = 10

// maxStatus bounds an answer that is an error.
const maxStatus = 1 << 20
