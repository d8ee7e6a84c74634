package conformance

import (
	"context"
	"fmt"
	"testing"

	"apigen.dev/runtime/conformance/apis/wardle/v1alpha1"
	"apigen.dev/runtime/conformance/apis/wardle/v1beta1"
	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// newScheme holds the types by the generated registration.
func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, v1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

func newClient(t *testing.T, server *target) client.Client {
	t.Helper()
	c, err := client.New(server.config, client.Options{Scheme: newScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func typedFlunder(name string) *v1beta1.Flunder {
	return &v1beta1.Flunder{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"name": name}},
		Spec:       v1beta1.FlunderSpec{FlunderReference: "other", ReferenceType: v1beta1.FlunderReferenceType},
	}
}

// The typed client: create, get, conflict, patch, status, delete, in both versions.
func TestTypedClient(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		ctx, c := t.Context(), newClient(t, server)
		f := typedFlunder("a")
		if err := c.Create(ctx, f); err != nil || f.UID == "" || f.ResourceVersion == "" {
			t.Fatalf("created: %+v, %v", f, err)
		}
		old := &v1alpha1.Flunder{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(f), old); err != nil || old.Spec.Reference != "other" ||
			*old.Spec.ReferenceType != "Flunder" {
			t.Errorf("in v1alpha1: %+v, %v", old, err)
		}
		stale := f.DeepCopy()
		f.Spec.FlunderReference = "b"
		if err := c.Update(ctx, f); err != nil || f.Spec.FlunderReference != "b" {
			t.Errorf("updated: %+v, %v", f, err)
		}
		if err := c.Update(ctx, stale); !apierrors.IsConflict(err) {
			t.Errorf("updated with an old resourceVersion: %v", err)
		}
		before := f.DeepCopy()
		f.Annotations = map[string]string{"patched": "yes"}
		if err := c.Patch(ctx, f, client.MergeFrom(before)); err != nil || f.Annotations["patched"] != "yes" ||
			f.Spec.FlunderReference != "b" {
			t.Errorf("patched: %+v, %v", f, err)
		}
		if err := c.Patch(ctx, stale, client.MergeFromWithOptions(&v1beta1.Flunder{ObjectMeta: stale.ObjectMeta},
			client.MergeFromWithOptimisticLock{})); !apierrors.IsConflict(err) {
			t.Errorf("patched with an old resourceVersion: %v", err)
		}
		if err := c.Status().Update(ctx, f); err != nil {
			t.Errorf("status: %v", err)
		}
		if err := c.Status().Patch(ctx, f, client.RawPatch("application/merge-patch+json",
			[]byte(`{"spec":{"flunderReference":"no"}}`))); err != nil || f.Spec.FlunderReference != "b" {
			t.Errorf("a patch of the status: %+v, %v", f.Spec, err)
		}
		if err := c.Delete(ctx, f); err != nil {
			t.Error(err)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(f), f); !apierrors.IsNotFound(err) {
			t.Errorf("deleted: %v", err)
		}
	})
}

// Lists of all three kinds of client, with selectors and pages.
func TestClientLists(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		ctx, c := t.Context(), newClient(t, server)
		const n = 30
		for i := range n {
			f := typedFlunder(nth(i))
			f.Labels["third"] = fmt.Sprint(i % 3)
			if err := c.Create(ctx, f); err != nil {
				t.Fatal(err)
			}
		}
		partial := &metav1.PartialObjectMetadataList{}
		partial.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("FlunderList"))
		untyped := &unstructured.UnstructuredList{}
		untyped.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("FlunderList"))
		for kind, list := range map[string]client.ObjectList{
			"typed":        &v1beta1.FlunderList{},
			"metadata":     partial,
			"unstructured": untyped,
		} {
			if got := pages(t, c, list, client.InNamespace("default"), client.Limit(7)); got != n {
				t.Errorf("%s: %d in all pages, want %d", kind, got, n)
			}
			if got := pages(t, c, list, client.MatchingLabels{"third": "1"}, client.Limit(4)); got != n/3 {
				t.Errorf("%s: %d with the label, want %d", kind, got, n/3)
			}
			if got := pages(t, c, list, client.MatchingFields{"metadata.name": nth(4)}); got != 1 {
				t.Errorf("%s: %d of one name", kind, got)
			}
			if got := pages(t, c, list, client.InNamespace("other")); got != 0 {
				t.Errorf("%s: %d in another namespace", kind, got)
			}
		}
		if err := c.DeleteAllOf(ctx, &v1beta1.Flunder{}, client.InNamespace("default"),
			client.MatchingLabels{"third": "2"}); err != nil {
			t.Error(err)
		}
		if got := pages(t, c, &v1beta1.FlunderList{}); got != n-n/3 {
			t.Errorf("%d are left, want %d", got, n-n/3)
		}
	})
}

// pages lists, page by page, and returns how many objects there are.
func pages(t *testing.T, c client.Client, list client.ObjectList, opts ...client.ListOption) int {
	t.Helper()
	n := 0
	for next := ""; ; {
		if err := c.List(t.Context(), list, append(opts, client.Continue(next))...); err != nil {
			t.Fatal(err)
		}
		n += lengthOf(list)
		if next = list.GetContinue(); next == "" {
			return n
		}
	}
}

func lengthOf(list client.ObjectList) int {
	switch l := list.(type) {
	case *v1beta1.FlunderList:
		return len(l.Items)
	case *appsv1.DeploymentList:
		return len(l.Items)
	case *metav1.PartialObjectMetadataList:
		return len(l.Items)
	case *unstructured.UnstructuredList:
		return len(l.Items)
	}
	return -1
}

const reconciled = "reconciled"

// A manager with its cache: a reconciler labels hundreds of objects, and its cache shows what it wrote.
func TestReconciler(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		log.SetLogger(logr.Discard())
		manager, err := ctrl.NewManager(server.config, ctrl.Options{
			Scheme: newScheme(t), Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
			Controller: config.Controller{SkipNameValidation: new(true)},
		})
		if err != nil {
			t.Fatal(err)
		}
		var unexpected errorLog
		err = ctrl.NewControllerManagedBy(manager).For(&v1beta1.Flunder{}).
			Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, unexpected.keep(label(ctx, manager.GetClient(), r))
			}))
		if err != nil {
			t.Fatal(err)
		}
		runManager(t, manager)

		const n = 200
		c := newClient(t, server)
		concurrently(4, func(worker int) {
			for i := range n / 4 {
				if err := c.Create(t.Context(), typedFlunder(nth(worker*n/4+i))); err != nil {
					t.Error(err)
				}
			}
		})
		count := func(reader client.Reader) int {
			var list v1beta1.FlunderList
			if err := reader.List(t.Context(), &list, client.MatchingLabels{reconciled: "yes"}); err != nil {
				t.Fatal(err)
			}
			return len(list.Items)
		}
		eventually(t, func() bool { return count(c) == n && count(manager.GetCache()) == n }, func() string {
			return fmt.Sprintf("%d of %d are labelled, %d of them in the cache", count(c), n, count(manager.GetCache()))
		})
		if err := c.DeleteAllOf(t.Context(), &v1beta1.Flunder{}, client.InNamespace("default")); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool { return count(manager.GetCache()) == 0 },
			func() string { return "the cache keeps what was deleted" })
		if err := unexpected.first(); err != nil {
			t.Error(err)
		}
	})
}

// label is what the reconciler does. A conflict means that the cache is behind: the controller comes again.
func label(ctx context.Context, c client.Client, r reconcile.Request) error {
	var f v1beta1.Flunder
	if err := c.Get(ctx, r.NamespacedName, &f); err != nil {
		return client.IgnoreNotFound(err)
	}
	if f.Labels[reconciled] == "yes" {
		return nil
	}
	f.Labels[reconciled] = "yes"
	return client.IgnoreNotFound(c.Update(ctx, &f))
}

// runManager runs a manager until the test ends.
func runManager(t *testing.T, manager ctrl.Manager) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running wait.Group
	running.StartWithContext(ctx, func(ctx context.Context) {
		if err := manager.Start(ctx); err != nil {
			t.Errorf("the manager ended: %v", err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	if !manager.GetCache().WaitForCacheSync(t.Context()) {
		t.Fatal("the cache does not sync")
	}
}

// The cache serves unstructured and metadata-only objects, too, and its informers see deletions.
func TestCacheOfOtherForms(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		log.SetLogger(logr.Discard())
		manager, err := ctrl.NewManager(server.config, ctrl.Options{
			Scheme: newScheme(t), Metrics: metricsserver.Options{BindAddress: "0"},
			Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		})
		if err != nil {
			t.Fatal(err)
		}
		runManager(t, manager)
		c := newClient(t, server)
		if err := c.Create(t.Context(), typedFlunder("a")); err != nil {
			t.Fatal(err)
		}
		partial := &metav1.PartialObjectMetadata{}
		partial.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("Flunder"))
		untyped := &unstructured.Unstructured{}
		untyped.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("Flunder"))
		key := client.ObjectKey{Namespace: "default", Name: "a"}
		for kind, object := range map[string]client.Object{
			"metadata":     partial,
			"unstructured": untyped,
			"typed":        &v1beta1.Flunder{},
		} {
			if err := manager.GetClient().Get(t.Context(), key, object); err != nil ||
				object.GetLabels()["name"] != "a" {
				t.Errorf("%s: %v, %v", kind, object, err)
			}
		}
		if err := c.Delete(t.Context(), typedFlunder("a")); err != nil {
			t.Fatal(err)
		}
		for kind, object := range map[string]client.Object{
			"metadata":     partial,
			"unstructured": untyped,
			"typed":        &v1beta1.Flunder{},
		} {
			eventually(t, func() bool {
				return apierrors.IsNotFound(manager.GetClient().Get(t.Context(), key, object))
			},
				func() string { return kind + ": the cache keeps what was deleted" })
		}
	})
}
