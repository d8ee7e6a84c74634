package match

import (
	"context"
	"sync"

	"apigen.dev/runtime/reach"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Followed are the namespaces of a server, as Run follows them. Where the server serves no namespaces, every name is a
// namespace that has the label of its name alone.
type Followed struct {
	mu    sync.RWMutex
	known map[string]*unstructured.Unstructured
	// served is nil until Run has begun.
	served reach.Objects[*unstructured.Unstructured]
}

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// Run follows the namespaces until ctx ends.
func (f *Followed) Run(ctx context.Context) error {
	catalog, err := reach.CatalogFrom(ctx)
	if err != nil {
		return err
	}
	served, err := catalog.Objects(namespaces)
	if err != nil {
		<-ctx.Done() // the server has no namespaces
		return ctx.Err()
	}
	f.mu.Lock()
	f.served = served
	f.mu.Unlock()
	return served.Follow(ctx, "", f.take)
}

func (f *Followed) take(changes reach.Changes[*unstructured.Unstructured]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if changes.Reset || f.known == nil {
		f.known = map[string]*unstructured.Unstructured{}
	}
	for _, namespace := range changes.Put {
		f.known[namespace.GetName()] = namespace
	}
	for _, namespace := range changes.Deleted {
		delete(f.known, namespace.GetName())
	}
}

// find returns a namespace, and asks the server for one that isn't known yet. It is nil if the server has none.
func (f *Followed) find(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	f.mu.RLock()
	namespace, served := f.known[name], f.served
	f.mu.RUnlock()
	if namespace != nil {
		return namespace, nil
	}
	if served == nil {
		catalog, err := reach.CatalogFrom(ctx)
		if err != nil {
			return nil, nil //nolint:nilerr // No server is reached.
		}
		if served, err = catalog.Objects(namespaces); err != nil {
			return nil, nil //nolint:nilerr // The server has no namespaces.
		}
	}
	namespace, err := served.Get(ctx, "", name)
	if apierrors.IsNotFound(err) {
		return nil, noNamespace(name)
	}
	return namespace, err
}

// Labels implements Namespaces.
func (f *Followed) Labels(ctx context.Context, name string) (map[string]string, error) {
	namespace, err := f.find(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case namespace == nil:
		return map[string]string{"kubernetes.io/metadata.name": name}, nil
	}
	return namespace.GetLabels(), nil
}

// visible are the members of a namespace's metadata that expressions see.
var visible = []string{
	"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
	"deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "finalizers",
}

// Content implements Namespaces.
func (f *Followed) Content(ctx context.Context, name string) (map[string]any, error) {
	namespace, err := f.find(ctx, name)
	if err != nil || namespace == nil {
		return nil, err
	}
	metadata := map[string]any{}
	all, _ := namespace.Object["metadata"].(map[string]any)
	for _, member := range visible {
		if value, ok := all[member]; ok {
			metadata[member] = value
		}
	}
	content := map[string]any{"metadata": metadata}
	for _, part := range []string{"spec", "status"} {
		if value, ok := namespace.Object[part]; ok {
			content[part] = value
		}
	}
	return content, nil
}
