package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"apigen.dev/runtime/reach"
	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// params are the objects that policies take as parameters: those of the kinds that policies name, which are followed
// as long as a policy names them.
type params struct {
	mu    sync.Mutex
	kinds map[registration.ParamKind]*followed
	// ctx is that of run; nil before.
	ctx context.Context
}

func newParams() *params { return &params{kinds: map[registration.ParamKind]*followed{}} }

// followed are the objects of one kind.
type followed struct {
	stop func()
	// ready is closed once the objects are known.
	ready chan struct{}
	once  sync.Once

	mu         sync.RWMutex
	namespaced bool
	objects    map[objectName]*unstructured.Unstructured
}

type objectName struct{ namespace, name string }

// run begins to follow what is needed.
func (p *params) run(ctx context.Context) error {
	p.mu.Lock()
	p.ctx = ctx
	for kind, f := range p.kinds {
		p.start(kind, f)
	}
	p.mu.Unlock()
	<-ctx.Done()
	return ctx.Err()
}

// need follows these kinds, and no others.
func (p *params) need(kinds map[registration.ParamKind]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for kind, f := range p.kinds {
		if !kinds[kind] {
			f.stop()
			delete(p.kinds, kind)
		}
	}
	for kind := range kinds {
		if p.kinds[kind] == nil {
			f := &followed{stop: func() {}, ready: make(chan struct{})}
			p.kinds[kind] = f
			if p.ctx != nil {
				p.start(kind, f)
			}
		}
	}
}

// retryUnknown is after how long a kind is looked for again that the server doesn't serve.
const retryUnknown = time.Second

func (p *params) start(kind registration.ParamKind, f *followed) {
	ctx, stop := context.WithCancel(p.ctx)
	f.stop = stop
	go func() {
		for ctx.Err() == nil {
			if objects, namespaced, err := find(ctx, kind); err == nil {
				f.mu.Lock()
				f.namespaced = namespaced
				f.mu.Unlock()
				_ = objects.Follow(ctx, "", f.take) // it ends with ctx, or is tried again
			}
			select {
			case <-ctx.Done():
			case <-time.After(retryUnknown):
			}
		}
	}()
}

// find returns the objects of a kind.
func find(
	ctx context.Context, kind registration.ParamKind,
) (objects reach.Objects[*unstructured.Unstructured], namespaced bool, err error) {
	catalog, err := reach.CatalogFrom(ctx)
	if err != nil {
		return nil, false, err
	}
	gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
	resource, ok := reach.FindKind(catalog, gvk)
	if !ok {
		return nil, false, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", gvk)
	}
	objects, err = catalog.Objects(resource.WithVersion(gvk.Version))
	return objects, resource.Namespaced, err
}

func (f *followed) take(changes reach.Changes[*unstructured.Unstructured]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if changes.Reset || f.objects == nil {
		f.objects = map[objectName]*unstructured.Unstructured{}
	}
	for _, o := range changes.Put {
		f.objects[objectName{o.GetNamespace(), o.GetName()}] = o
	}
	for _, o := range changes.Deleted {
		delete(f.objects, objectName{o.GetNamespace(), o.GetName()})
	}
	f.once.Do(func() { close(f.ready) })
}

// readyParams is how long a write waits for parameters of a kind that was not followed before.
const readyParams = time.Second

// none is the one parameter of a binding without parameters.
var none = []*unstructured.Unstructured{nil}

// of returns the parameters of a binding for a write in a namespace. A nil parameter is the value null.
func (p *params) of(
	ctx context.Context, kind *registration.ParamKind, ref *registration.ParamRef, namespace string,
) ([]*unstructured.Unstructured, error) {
	if kind == nil || ref == nil {
		return none, nil
	}
	f, err := p.known(ctx, *kind)
	if err != nil {
		return nil, err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	switch {
	case f.namespaced && ref.Namespace != "":
		namespace = ref.Namespace
	case f.namespaced && namespace == "":
		return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	case !f.namespaced && ref.Namespace != "":
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	case !f.namespaced:
		namespace = ""
	}
	found, err := f.find(ref, namespace)
	if err == nil && len(found) == 0 && ref.ParameterNotFoundAction != nil &&
		*ref.ParameterNotFoundAction == registration.DenyAction {
		err = errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	return found, err
}

// served returns why the server has no parameters of a kind; nil for no kind.
func (p *params) served(ctx context.Context, kind *registration.ParamKind) error {
	if kind == nil {
		return nil
	}
	p.mu.Lock()
	f := p.kinds[*kind]
	p.mu.Unlock()
	if f != nil {
		select {
		case <-f.ready:
			return nil
		default:
		}
	}
	_, _, err := find(ctx, *kind)
	return err
}

// known returns the objects of a kind, once they are known.
func (p *params) known(ctx context.Context, kind registration.ParamKind) (*followed, error) {
	p.mu.Lock()
	f := p.kinds[kind]
	p.mu.Unlock()
	if f == nil {
		return nil, fmt.Errorf("paramKind kind `%v` not known", kind.String())
	}
	select {
	case <-f.ready:
		return f, nil
	default:
	}
	timer := time.NewTimer(readyParams)
	defer timer.Stop()
	select {
	case <-f.ready:
		return f, nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil, fmt.Errorf("paramKind kind `%v` not yet synced to use for admission", kind.String())
}

// find returns the objects that a reference selects, in the order of their names.
func (f *followed) find(ref *registration.ParamRef, namespace string) (found []*unstructured.Unstructured, err error) {
	switch {
	case ref.Name != "" && ref.Selector != nil:
		return nil, errors.New("paramRef.name and paramRef.selector are mutually exclusive")
	case ref.Name != "":
		if o := f.objects[objectName{namespace, ref.Name}]; o != nil {
			found = append(found, o)
		}
		return found, nil
	case ref.Selector == nil:
		return nil, errors.New("one of name or selector must be provided")
	}
	selector, err := metav1.LabelSelectorAsSelector(ref.Selector)
	if err != nil {
		return nil, err
	}
	for name, o := range maps.All(f.objects) {
		if name.namespace == namespace && selector.Matches(labels.Set(o.GetLabels())) {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(a.GetName(), b.GetName())
	})
	return found, nil
}

// contentOf returns a parameter as expressions see it.
func contentOf(param *unstructured.Unstructured) map[string]any {
	if param == nil {
		return nil
	}
	return param.Object
}
