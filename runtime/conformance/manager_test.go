package conformance

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// newManager is a manager of controllers whose names other tests may have taken, too.
func newManager(t *testing.T, server *target, options ctrl.Options) ctrl.Manager {
	t.Helper()
	log.SetLogger(logr.Discard())
	scheme, err := clusterScheme()
	if err != nil {
		t.Fatal(err)
	}
	options.Scheme, options.Metrics = scheme, metricsserver.Options{BindAddress: "0"}
	options.Controller = config.Controller{SkipNameValidation: new(true)}
	manager, err := ctrl.NewManager(server.config, options)
	if err != nil {
		t.Fatal(err)
	}
	return manager
}

// configuredBy is the index of deployments by the config map that they are made of.
const configuredBy = "configured-by"

// A manager with two controllers, as an operator has them: one makes a config map of each deployment and keeps it so,
// the other gives deployments the text of a config map that they name.
func TestControllersOfAManager(t *testing.T) {
	onEachCluster(t, func(t *testing.T, server *target) {
		manager := newManager(t, server, ctrl.Options{})
		var unexpected errorLog
		c := manager.GetClient()
		err := ctrl.NewControllerManagedBy(manager).Named("owner").
			For(&appsv1.Deployment{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
			Owns(&corev1.ConfigMap{}).
			Owns(&corev1.Secret{}, builder.OnlyMetadata).
			Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, unexpected.keep(keepConfig(ctx, c, r))
			}))
		if err != nil {
			t.Fatal(err)
		}
		err = manager.GetFieldIndexer().IndexField(t.Context(), &appsv1.Deployment{}, configuredBy,
			func(o client.Object) []string {
				return []string{o.GetAnnotations()[configuredBy]}
			})
		if err != nil {
			t.Fatal(err)
		}
		err = ctrl.NewControllerManagedBy(manager).Named("texts").
			For(&appsv1.Deployment{}, builder.WithPredicates(predicate.Or(predicate.AnnotationChangedPredicate{},
				predicate.LabelChangedPredicate{}))).
			Watches(&corev1.ConfigMap{},
				handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
					var users appsv1.DeploymentList
					if err := c.List(ctx, &users, client.InNamespace(o.GetNamespace()),
						client.MatchingFields{configuredBy: o.GetName()}); err != nil {
						return nil
					}
					var requests []reconcile.Request
					for i := range users.Items {
						requests = append(requests,
							reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&users.Items[i])})
					}
					return requests
				}), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
			Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, unexpected.keep(tell(ctx, c, r))
			}))
		if err != nil {
			t.Fatal(err)
		}
		runManager(t, manager)
		direct := clusterClient(t, server.config)
		const n = 20
		for i := range n {
			d := deployment(nth(i))
			d.Annotations = map[string]string{configuredBy: "shared"}
			if err := direct.Create(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		shared := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shared"},
			Data: map[string]string{"text": "hello"}}
		if err := direct.Create(t.Context(), shared); err != nil {
			t.Fatal(err)
		}
		told := func(text string) func() bool {
			return func() bool {
				var all appsv1.DeploymentList
				if err := direct.List(t.Context(), &all); err != nil {
					t.Fatal(err)
				}
				return len(all.Items) == n && !slices.ContainsFunc(all.Items, func(d appsv1.Deployment) bool {
					return d.Annotations["text"] != text
				})
			}
		}
		say := func(what string) func() string { return func() string { return what } }
		eventually(t, told("hello"), say("not all were told the first text"))
		shared.Data["text"] = "bye"
		if err := direct.Update(t.Context(), shared); err != nil {
			t.Fatal(err)
		}
		eventually(t, told("bye"), say("not all were told the second text"))
		made := func() int {
			var maps corev1.ConfigMapList
			if err := direct.List(t.Context(), &maps, client.MatchingLabels{"made": "yes"}); err != nil {
				t.Fatal(err)
			}
			return len(maps.Items)
		}
		eventually(t, func() bool { return made() == n }, say("not all have their config map"))
		// What is owned and taken away comes back, and goes with its owner.
		if err := direct.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace("default"),
			client.MatchingLabels{"made": "yes"}); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool { return made() == n }, say("the config maps do not come back"))
		if err := direct.DeleteAllOf(t.Context(), &appsv1.Deployment{}, client.InNamespace("default"),
			client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool { return made() == 0 }, say("the config maps stay without their owners"))
		if err := unexpected.first(); err != nil {
			t.Error(err)
		}
	})
}

// keepConfig makes the config map of a deployment what it should be.
func keepConfig(ctx context.Context, c client.Client, r reconcile.Request) error {
	var d appsv1.Deployment
	if err := c.Get(ctx, r.NamespacedName, &d); err != nil || d.DeletionTimestamp != nil {
		return client.IgnoreNotFound(err)
	}
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "of-" + d.Name}}
	_, err := controllerutil.CreateOrPatch(ctx, c, made, func() error {
		made.Labels = map[string]string{"made": "yes"}
		made.Data = map[string]string{"image": d.Spec.Template.Spec.Containers[0].Image}
		return controllerutil.SetControllerReference(&d, made, c.Scheme())
	})
	return client.IgnoreAlreadyExists(err) // the cache is behind: its event brings us here again
}

// tell copies the text of the config map that a deployment names.
func tell(ctx context.Context, c client.Client, r reconcile.Request) error {
	var d appsv1.Deployment
	if err := c.Get(ctx, r.NamespacedName, &d); err != nil {
		return client.IgnoreNotFound(err)
	}
	var from corev1.ConfigMap
	if err := c.Get(ctx, types.NamespacedName{Namespace: d.Namespace, Name: d.Annotations[configuredBy]},
		&from); err != nil {
		return client.IgnoreNotFound(err)
	}
	if d.Annotations["text"] == from.Data["text"] {
		return nil
	}
	before := d.DeepCopy()
	d.Annotations["text"] = from.Data["text"]
	return client.IgnoreNotFound(
		c.Patch(ctx, &d, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// Caches hold what they were told to, of some namespaces, labels or fields, and as transformed.
func TestSelectiveCaches(t *testing.T) {
	t.Parallel()
	server := memoryCluster(t)
	manager := newManager(t, server, ctrl.Options{Cache: cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: {Namespaces: map[string]cache.Config{
				"one": {LabelSelector: labels.SelectorFromSet(labels.Set{"keep": "yes"})},
				"two": {FieldSelector: fields.OneTermEqualSelector("metadata.name", "b")},
			}},
			&corev1.Secret{}: {Field: fields.ParseSelectorOrDie("type=example.com/a"),
				Label: labels.SelectorFromSet(labels.Set{"keep": "yes"})},
		},
	}})
	runManager(t, manager)
	c := clusterClient(t, server.config)
	for _, namespace := range []string{"one", "two", "three"} {
		for _, name := range []string{"a", "b"} {
			named := metav1.ObjectMeta{Namespace: namespace, Name: name,
				Labels: map[string]string{"keep": map[string]string{"a": "yes", "b": "no"}[name]}}
			if err := c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named}); err != nil {
				t.Fatal(err)
			}
			if err := c.Create(t.Context(),
				&corev1.Secret{ObjectMeta: named, Type: corev1.SecretType("example.com/" + name)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	held := func(list client.ObjectList) []string {
		if err := manager.GetCache().List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		var names []string
		err := meta.EachListItem(list, func(item runtime.Object) error {
			o := item.(client.Object)
			if len(o.GetManagedFields()) > 0 {
				t.Errorf("not transformed: %+v", o)
			}
			names = append(names, o.GetNamespace()+"/"+o.GetName())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		return names
	}
	for _, want := range []struct {
		list client.ObjectList
		held []string
	}{
		{&corev1.ConfigMapList{}, []string{"one/a", "two/b"}},
		{&corev1.SecretList{}, []string{"one/a", "three/a", "two/a"}},
	} {
		eventually(t, func() bool { return slices.Equal(held(want.list), want.held) },
			func() string { return fmt.Sprintf("cached: %q", held(want.list)) })
	}
	// What no longer matches leaves the cache.
	relabel := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"keep":"no"}}}`))
	if err := c.Patch(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "a"}},
		relabel); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return slices.Equal(held(&corev1.ConfigMapList{}), []string{"two/b"}) },
		func() string { return "the cache keeps what is not selected" })
}

// A client that reads its writes from a cache waits until they have come there, in every form of objects.
func TestReadYourWrites(t *testing.T) {
	onEachCluster(t, func(t *testing.T, server *target) {
		manager := newManager(t, server,
			ctrl.Options{Client: client.Options{Cache: &client.CacheOptions{Unstructured: true,
				EnableReadYourWritesConsistency: new(true)}}})
		runManager(t, manager)
		c := manager.GetClient()
		for i := range 20 {
			d := deployment(nth(i))
			key := client.ObjectKeyFromObject(d)
			if err := c.Create(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			got := &appsv1.Deployment{}
			if err := c.Get(t.Context(), key, got); err != nil || got.ResourceVersion != d.ResourceVersion {
				t.Fatalf("created %s, and read %s: %v", d.ResourceVersion, got.ResourceVersion, err)
			}
			got.Status.Replicas = int32(i)
			if err := c.Status().Update(t.Context(), got); err != nil {
				t.Fatal(err)
			}
			got.Labels["i"] = nth(i)
			if err := c.Update(t.Context(), got); err != nil {
				t.Fatal(err)
			}
			var list appsv1.DeploymentList
			if err := c.List(t.Context(), &list, client.MatchingLabels{"i": nth(i)}); err != nil ||
				len(list.Items) != 1 {
				t.Fatalf("%d listed, %v", len(list.Items), err)
			}
			if i%2 == 0 {
				if controllerutil.AddFinalizer(got, finalizer); c.Update(t.Context(), got) != nil {
					t.Fatal("no finalizer")
				}
			}
			if err := c.Delete(t.Context(), got); err != nil {
				t.Fatal(err)
			}
			err := c.Get(t.Context(), key, got)
			if i%2 == 0 {
				if err != nil || got.DeletionTimestamp == nil {
					t.Fatalf("deleted with a finalizer: %+v, %v", got, err)
				}
				if controllerutil.RemoveFinalizer(got, finalizer); c.Update(t.Context(), got) != nil {
					t.Fatal("the finalizer stays")
				}
				eventually(t, func() bool { return apierrors.IsNotFound(c.Get(t.Context(), key, got)) },
					func() string { return "the cache keeps what was deleted" })
			} else if !apierrors.IsNotFound(err) {
				t.Fatalf("deleted, and read %v", err)
			}
		}
	})
}
