package access

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"apigen.dev/runtime/conformance/apis/wardle/v1beta1"
	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A manager that leads by a Lease has a controller of things, which writes their text into flunders of the same names,
// and a controller of flunders, which writes the text that it finds there into the status of things.
func testControllers(t *testing.T, c *chained) {
	manager := c.manager(t)
	m := &mirror{client: manager.GetClient()}
	same := &handler.EnqueueRequestForObject{}
	thing := &unstructured.Unstructured{}
	thing.SetGroupVersionKind(thingResource.GroupVersion().WithKind("Thing"))
	if err := ctrl.NewControllerManagedBy(manager).Named("things").For(thing).Watches(&v1beta1.Flunder{}, same).
		Complete(reconcile.Func(m.thing)); err != nil {
		t.Fatal(err)
	}
	if err := ctrl.NewControllerManagedBy(manager).Named("flunders").For(&v1beta1.Flunder{}).Watches(thing, same).
		Complete(reconcile.Func(m.flunder)); err != nil {
		t.Fatal(err)
	}
	stop := runManager(t, manager)
	things, flunders := c.dynamic(t).Resource(thingResource).Namespace("shop"),
		c.dynamic(t).Resource(flunderResource).Namespace("shop")
	for i := range 5 {
		name := fmt.Sprintf("m-%d", i)
		if _, err := flunders.Create(t.Context(), newFlunder(name, "old"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := things.Create(t.Context(), newThing(name, "new"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		name := fmt.Sprintf("m-%d", i)
		until(t, func() (bool, string) {
			thing, err := things.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			text, _, _ := unstructured.NestedString(thing.Object, "status", "text")
			return text == "new", fmt.Sprintf("%v; errors: %v", thing.Object, m.errors())
		})
	}
	if c.holder(t) == "" {
		t.Error("nobody leads")
	}
	stop()
	if holder := c.holder(t); holder != "" {
		t.Errorf("%s did not give the lease back", holder)
	}
	if err := m.errors(); len(err) != 0 {
		t.Errorf("errors: %v", err)
	}
	for _, sort := range []objects{{flunders, newFlunder}, {things, newThing}} {
		sort.deleteAll(t)
	}
}

// holder returns who holds the lease of the managers.
func (c *chained) holder(t *testing.T) string {
	t.Helper()
	code, body := c.ask(t, adminToken, "GET", "/apis/coordination.k8s.io/v1/namespaces/shop/leases/chain", "")
	var lease coordinationv1.Lease
	if err := json.Unmarshal([]byte(body), &lease); err != nil || code != 200 {
		t.Fatalf("%d %s: %v", code, body, err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// manager returns a manager that knows the front only.
func (c *chained) manager(t *testing.T) ctrl.Manager {
	t.Helper()
	log.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1beta1.AddToScheme, coordinationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	manager, err := ctrl.NewManager(c.config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Client:         client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		Controller:     config.Controller{SkipNameValidation: new(true)},
		LeaderElection: true, LeaderElectionID: "chain", LeaderElectionNamespace: "shop",
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return manager
}

// runManager runs a manager until stop is called, or the test ends.
func runManager(t *testing.T, manager ctrl.Manager) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// mirror holds what the two controllers do, by the cache of their manager.
type mirror struct {
	client client.Client

	mu     sync.Mutex // guards failed
	failed []error
}

// keep records an error that isn't one of two writers at a time.
func (m *mirror) keep(err error) (reconcile.Result, error) {
	if err = client.IgnoreNotFound(err); err != nil && !apierrors.IsConflict(err) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.failed = append(m.failed, err)
	}
	return reconcile.Result{}, err
}

func (m *mirror) errors() []error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed
}

// both reads the objects of a name.
func (m *mirror) both(ctx context.Context, key client.ObjectKey) (*unstructured.Unstructured, *v1beta1.Flunder, error) {
	thing, flunder := &unstructured.Unstructured{}, &v1beta1.Flunder{}
	thing.SetGroupVersionKind(thingResource.GroupVersion().WithKind("Thing"))
	if err := m.client.Get(ctx, key, thing); err != nil {
		return nil, nil, err
	}
	return thing, flunder, m.client.Get(ctx, key, flunder)
}

// thing writes the text of a thing into its flunder.
func (m *mirror) thing(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	thing, flunder, err := m.both(ctx, r.NamespacedName)
	if err != nil || flunder.Spec.FlunderReference == textOf(thing) {
		return m.keep(err)
	}
	flunder.Spec.FlunderReference = textOf(thing)
	return m.keep(m.client.Update(ctx, flunder))
}

// flunder writes what a flunder refers to into the status of its thing.
func (m *mirror) flunder(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	thing, flunder, err := m.both(ctx, r.NamespacedName)
	if err != nil {
		return m.keep(err)
	}
	text, _, _ := unstructured.NestedString(thing.Object, "status", "text")
	if text == flunder.Spec.FlunderReference {
		return reconcile.Result{}, nil
	}
	before := thing.DeepCopy()
	_ = unstructured.SetNestedField(thing.Object, flunder.Spec.FlunderReference, "status", "text")
	return m.keep(m.client.Status().Patch(ctx, thing, client.MergeFrom(before)))
}
