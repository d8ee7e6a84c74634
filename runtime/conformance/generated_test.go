package conformance

import (
	"context"
	"testing"

	"apigen.dev/runtime/conformance/apis/wardle/v1alpha1"
	"apigen.dev/runtime/conformance/apis/wardle/v1beta1"
	applyv1alpha1 "apigen.dev/runtime/conformance/client/applyconfiguration/wardle/v1alpha1"
	applyv1beta1 "apigen.dev/runtime/conformance/client/applyconfiguration/wardle/v1beta1"
	"apigen.dev/runtime/conformance/client/clientset/versioned"
	"apigen.dev/runtime/conformance/client/clientset/versioned/fake"
	"apigen.dev/runtime/conformance/client/informers/externalversions"
	informersv1beta1 "apigen.dev/runtime/conformance/client/informers/externalversions/wardle/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// generatedClients are the clients that apigen wrote, for a server, or without one.
func generatedClients(t *testing.T, server *target) versioned.Interface {
	t.Helper()
	clients, err := versioned.NewForConfig(server.config)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

// The clients that apigen wrote do with a server all that their verbs say.
func TestGeneratedClients(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		clients := generatedClients(t, server)
		writesAndReads(t, clients)
		watches(t, clients)
		if version, err := clients.Discovery().ServerVersion(); err != nil || version.GitVersion == "" {
			t.Errorf("the server's version: %v, %v", version, err)
		}
	})
}

// Those without a server do the same.
func TestGeneratedFakes(t *testing.T) {
	writesAndReads(t, fake.NewClientset())
	writesAndReads(t, fake.NewSimpleClientset())
}

func writesAndReads(t *testing.T, clients versioned.Interface) {
	t.Helper()
	ctx, client := t.Context(), clients.WardleV1beta1().Flunders("default")
	created, err := client.Create(ctx, &v1beta1.Flunder{
		ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: "default", Labels: map[string]string{"a": "b"}},
		Spec:       v1beta1.FlunderSpec{FlunderReference: "x"},
	}, metav1.CreateOptions{})
	if err != nil || created.Name != "one" {
		t.Fatalf("created: %+v, %v", created, err)
	}
	created.Spec.FlunderReference = "y"
	if updated, err := client.Update(ctx, created, metav1.UpdateOptions{}); err != nil ||
		updated.Spec.FlunderReference != "y" {
		t.Errorf("updated: %+v, %v", updated, err)
	}
	if patched, err := client.Patch(ctx, "one", types.MergePatchType, []byte(`{"metadata":{"labels":{"c":"d"}}}`),
		metav1.PatchOptions{}); err != nil || patched.Labels["c"] != "d" {
		t.Errorf("patched: %+v, %v", patched, err)
	}
	if got, err := client.Get(ctx, "one", metav1.GetOptions{}); err != nil || got.Spec.FlunderReference != "y" {
		t.Errorf("got: %+v, %v", got, err)
	}
	if list, err := clients.WardleV1beta1().Flunders("").
		List(ctx, metav1.ListOptions{LabelSelector: "a=b"}); err != nil || len(list.Items) != 1 {
		t.Errorf("listed: %+v, %v", list, err)
	}
	fischers := clients.WardleV1alpha1().Fischers()
	if _, err := fischers.Create(ctx, &v1alpha1.Fischer{ObjectMeta: metav1.ObjectMeta{Name: "fritz"}},
		metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if got, err := fischers.Get(ctx, "fritz", metav1.GetOptions{}); err != nil || got.Name != "fritz" {
		t.Errorf("got: %+v, %v", got, err)
	}
	if err := fischers.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	if err := client.Delete(ctx, "one", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := client.Get(ctx, "one", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("of what was deleted: %v", err)
	}
}

func watches(t *testing.T, clients versioned.Interface) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	client := clients.WardleV1alpha1().Flunders("default")
	events, err := client.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=seen"})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if _, err := client.Create(ctx, &v1alpha1.Flunder{ObjectMeta: metav1.ObjectMeta{Name: "seen"}},
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for e := range events.ResultChan() {
		if object, ok := e.Object.(*v1alpha1.Flunder); e.Type == watch.Added && ok && object.Name == "seen" {
			return
		}
		t.Errorf("an event that nobody waits for: %+v", e)
	}
}

// Informers know the type of their objects, and listers find what they hold.
func TestGeneratedInformers(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		informs(t, generatedClients(t, server))
	})
	t.Run("fake", func(t *testing.T) { informs(t, fake.NewClientset()) })
}

func informs(t *testing.T, clients versioned.Interface) {
	t.Helper()
	factory := externalversions.NewSharedInformerFactoryWithOptions(clients, 0,
		externalversions.WithNamespace("default"))
	informer := factory.Wardle().V1beta1().Flunders()
	added := make(chan string, 8)
	if _, err := informer.TypedInformer().AddTypedEventHandler(informersv1beta1.FlunderHandlerFuncs{
		AddFunc: func(flunder *v1beta1.Flunder) { added <- flunder.Name },
	}); err != nil {
		t.Fatal(err)
	}
	generic, err := factory.ForResource(flunders)
	if err != nil || generic.Informer().GetIndexer() != informer.Informer().GetIndexer() {
		t.Errorf("the generic informer is another: %v", err)
	}
	if _, err := factory.ForResource(flunders.GroupResource().WithVersion("v9")); err == nil {
		t.Error("there is an informer of a version that isn't there")
	}
	ctx, stop := context.WithCancel(t.Context())
	factory.StartWithContext(ctx)
	defer func() { stop(); factory.Shutdown() }()
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		t.Fatal(err)
	}
	object := &v1beta1.Flunder{ObjectMeta: metav1.ObjectMeta{Name: "informed", Namespace: "default"}}
	if _, err := clients.WardleV1beta1().Flunders("default").Create(ctx, object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	select {
	case name := <-added:
		if name != "informed" {
			t.Errorf("told of %s", name)
		}
	case <-ctx.Done():
		t.Fatal("the handler was told nothing")
	}
	if got, err := informer.Lister().Flunders("default").Get("informed"); err != nil || got.Name != "informed" {
		t.Errorf("got %+v, %v", got, err)
	}
	if all, err := informer.Lister().List(labels.Everything()); err != nil || len(all) != 1 {
		t.Errorf("listed %d, %v", len(all), err)
	}
	if _, err := informer.Lister().Flunders("other").Get("informed"); !apierrors.IsNotFound(err) {
		t.Errorf("of another namespace: %v", err)
	}
}

// What is applied is owned, and what is owned can be extracted, changed and applied again.
func TestGeneratedApply(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		appliesWith(t, generatedClients(t, server))
	})
	t.Run("fake", func(t *testing.T) { appliesWith(t, fake.NewClientset()) })
}

func appliesWith(t *testing.T, clients versioned.Interface) {
	t.Helper()
	ctx, client := t.Context(), clients.WardleV1beta1().Flunders("default")
	configuration := applyv1beta1.Flunder("applied", "default").WithLabels(map[string]string{"a": "b"}).
		WithSpec(applyv1beta1.FlunderSpec().WithFlunderReference("x"))
	applied, err := client.Apply(ctx, configuration, metav1.ApplyOptions{FieldManager: "one"})
	if err != nil || applied.Spec.FlunderReference != "x" || applied.Labels["a"] != "b" {
		t.Fatalf("applied: %+v, %v", applied, err)
	}
	other := applyv1beta1.Flunder("applied", "default").WithLabels(map[string]string{"c": "d"})
	applied, err = client.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two"})
	if err != nil || applied.Labels["a"] != "b" || applied.Labels["c"] != "d" {
		t.Fatalf("applied by another: %+v, %v", applied, err)
	}
	mine, err := applyv1beta1.ExtractFlunder(applied, "one")
	if err != nil || mine.Labels["a"] != "b" || mine.Labels["c"] != "" || mine.Spec == nil ||
		*mine.Spec.FlunderReference != "x" || *mine.Name != "applied" {
		t.Fatalf("extracted: %+v, %v", mine, err)
	}
	mine.Labels = nil
	applied, err = client.Apply(ctx, mine, metav1.ApplyOptions{FieldManager: "one"})
	if err != nil || applied.Labels["a"] != "" || applied.Labels["c"] != "d" || applied.Spec.FlunderReference != "x" {
		t.Errorf("applied again: %+v, %v", applied, err)
	}
	conflicting := applyv1beta1.Flunder("applied", "default").
		WithSpec(applyv1beta1.FlunderSpec().WithFlunderReference("z"))
	if _, err := client.Apply(ctx, conflicting, metav1.ApplyOptions{FieldManager: "two"}); !apierrors.IsConflict(err) {
		t.Errorf("a field of another's: %v", err)
	}
	if _, err := clients.WardleV1alpha1().Fischers().Apply(ctx, applyv1alpha1.Fischer("frieda").
		WithDisallowedFlunders("x", "y"), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		t.Error(err)
	}
}
