package typedclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"apigen.dev/runtime/reach"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	validate "k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Metadata reads and writes the metadata of the objects of a resource that another server serves: a
// collector.RemoteObjects.
type Metadata struct {
	// Server passes the requests on.
	Server   Joined
	Resource reach.Resource
}

// oneObject asks for the metadata of an object, from servers that have it, or else for the object.
const oneObject = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

func (m Metadata) question(method, namespace, name string, body any) (*question, error) {
	q := &question{method: method, path: m.Server.path(m.Resource, namespace, name), accept: oneObject}
	if body == nil {
		return q, nil
	}
	var err error
	q.body, err = json.Marshal(body)
	return q, err
}

// Get returns an object, or nil if the other server says that the object doesn't exist.
func (m Metadata) Get(ctx context.Context, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	if name == "" || len(validate.IsPathSegmentName(name)) > 0 {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("no object can have the name %q", name))
	}
	q, err := m.question(http.MethodGet, namespace, name, nil)
	if err != nil {
		return nil, err
	}
	object := new(metav1.PartialObjectMetadata)
	absent, err := m.answer(ctx, q, name, object)
	switch {
	case absent || err != nil:
		return nil, err
	case object.Name != name || object.UID == "":
		return nil, fmt.Errorf("%s: the answer is another object", q.path)
	}
	return object, nil
}

// answer asks about an object, and reports whether the other server says that it doesn't exist. Such an answer must
// name the object: otherwise nobody serves the path at the moment, which says nothing about the object.
func (m Metadata) answer(ctx context.Context, q *question, name string, out any) (absent bool, _ error) {
	_, err := m.Server.answer(ctx, q, out)
	var status *apierrors.StatusError
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) {
		return false, err
	}
	details := status.ErrStatus.Details
	if details != nil && details.Name == name && details.Group == m.Resource.Group &&
		(details.Kind == m.Resource.GroupResource.Resource || details.Kind == m.Resource.Kind) {
		return true, nil
	}
	return false, fmt.Errorf("%s: nobody serves it now: %s", q.path, status.ErrStatus.Message)
}

// List calls look with each page of the present objects in a namespace, "" for all, until look returns an error.
func (m Metadata) List(
	ctx context.Context, namespace string, look func(*metav1.PartialObjectMetadataList) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	var failed error
	err := m.Server.pages(ctx, m.Resource, namespace, func(list *metav1.PartialObjectMetadataList) (more bool) {
		failed = look(list)
		return failed == nil
	})
	return errors.Join(err, failed)
}

// watchSeconds is how long a watch is asked to last: as long as client-go's informers ask at least.
const watchSeconds = 300

// Watch calls event with the changes after a resourceVersion, and with bookmarks. It returns nil when the server ends
// the watch, and an error if event does.
func (m Metadata) Watch(
	ctx context.Context, resourceVersion string, event func(watch.EventType, *metav1.PartialObjectMetadata) error,
) error {
	q, err := m.question(http.MethodGet, "", "", nil)
	if err != nil {
		return err
	}
	q.query = url.Values{
		"watch": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {resourceVersion},
		"timeoutSeconds": {strconv.Itoa(watchSeconds)},
	}
	response, err := m.Server.open(ctx, q)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was opened for reading
	events := &allowance{Reader: response.Body, bound: m.Server.bounds.withDefaults().event}
	decoder := json.NewDecoder(events)
	for {
		events.left = events.bound
		var next metav1.WatchEvent
		switch err := decoder.Decode(&next); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the watch of %s: %w", q.path, err)
		}
		object, err := m.eventObject(&next)
		if err != nil {
			return err
		}
		if err := event(watch.EventType(next.Type), object); err != nil {
			return err
		}
	}
}

// eventObject returns the object of an event. It fails for an event that is an error.
func (m Metadata) eventObject(event *metav1.WatchEvent) (*metav1.PartialObjectMetadata, error) {
	switch kind := watch.EventType(event.Type); kind {
	case watch.Added, watch.Modified, watch.Deleted, watch.Bookmark:
		object := new(metav1.PartialObjectMetadata)
		if err := json.Unmarshal(event.Object.Raw, object); err != nil {
			return nil, fmt.Errorf("an event of %s: %w", m.Resource.GroupResource, err)
		}
		if kind != watch.Bookmark && object.UID == "" {
			return nil, fmt.Errorf("an event of %s has an object without uid", m.Resource.GroupResource)
		}
		return object, nil
	case watch.Error:
		var status metav1.Status
		if err := json.Unmarshal(event.Object.Raw, &status); err != nil {
			return nil, fmt.Errorf("an event of %s: %w", m.Resource.GroupResource, err)
		}
		return nil, &apierrors.StatusError{ErrStatus: status}
	}
	return nil, fmt.Errorf("an event of %s has the type %q", m.Resource.GroupResource, event.Type)
}

// Delete deletes an object. It returns nil if the object doesn't exist.
func (m Metadata) Delete(ctx context.Context, namespace, name string, options *metav1.DeleteOptions) error {
	copied := *options
	copied.Kind, copied.APIVersion = "DeleteOptions", "v1"
	q, err := m.question(http.MethodDelete, namespace, name, &copied)
	if err != nil {
		return err
	}
	_, err = m.answer(ctx, q, name, nil)
	return err
}

// Patch applies a merge patch to an object. It returns nil if the object doesn't exist.
func (m Metadata) Patch(ctx context.Context, namespace, name string, patch []byte) error {
	q, err := m.question(http.MethodPatch, namespace, name, json.RawMessage(patch))
	if err != nil {
		return err
	}
	q.contentType = "application/merge-patch+json"
	_, err = m.answer(ctx, q, name, nil)
	return err
}
