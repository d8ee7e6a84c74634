package conformance

import (
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")

func newUnstructured(kind schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u
}

// form is what an object is to a client: typed, unstructured, or its metadata alone.
type form struct {
	name string
	// empty is one to read into, list one for lists.
	empty func() client.Object
	list  func() client.ObjectList
	// whole reports whether the form can be created and updated.
	whole bool
}

var forms = []form{
	{"typed", func() client.Object { return &appsv1.Deployment{} }, func() client.ObjectList {
		return &appsv1.DeploymentList{}
	}, true},
	{"unstructured", func() client.Object { return newUnstructured(deploymentKind) }, func() client.ObjectList {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DeploymentList"))
		return l
	}, true},
	{"metadata", func() client.Object {
		p := &metav1.PartialObjectMetadata{}
		p.SetGroupVersionKind(deploymentKind)
		return p
	}, func() client.ObjectList {
		l := &metav1.PartialObjectMetadataList{}
		l.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DeploymentList"))
		return l
	}, false},
}

// life is one object's, as seen through a form.
type life struct {
	*testing.T
	form
	client client.WithWatch
	key    client.ObjectKey
	cache  cache.Cache
}

// The three forms of controller-runtime's clients and caches go through all that can be done with an object.
func TestForms(t *testing.T) {
	onEachCluster(t, func(t *testing.T, server *target) {
		log.SetLogger(logr.Discard())
		c := clusterClient(t, server.config)
		manager, err := ctrl.NewManager(server.config,
			ctrl.Options{Scheme: c.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}})
		if err != nil {
			t.Fatal(err)
		}
		runManager(t, manager)
		for _, f := range forms {
			t.Run(f.name, func(t *testing.T) {
				l := &life{T: t, form: f, client: c, key: client.ObjectKey{Namespace: "default", Name: "of-" + f.name},
					cache: manager.GetCache()}
				if err := c.Create(t.Context(), deployment("another-"+f.name)); err != nil {
					t.Fatal(err)
				}
				l.create()
				l.update()
				l.patch()
				l.status()
				l.apply()
				l.lists()
				l.watchAndDelete()
			})
		}
	})
}

// get reads the object in its form.
func (l *life) get() client.Object {
	l.Helper()
	out := l.empty()
	if err := l.client.Get(l.Context(), l.key, out); err != nil {
		l.Fatal(err)
	}
	return out
}

// typed reads all of the object.
func (l *life) typed() *appsv1.Deployment {
	l.Helper()
	out := &appsv1.Deployment{}
	if err := l.client.Get(l.Context(), l.key, out); err != nil {
		l.Fatal(err)
	}
	return out
}

func (l *life) create() {
	var object client.Object = deployment(l.key.Name)
	if l.form.name == "unstructured" {
		u := newUnstructured(deploymentKind)
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			l.Fatal(err)
		}
		u.Object = content
		u.SetGroupVersionKind(deploymentKind)
		object = u
	}
	if err := l.client.Create(l.Context(), object); err != nil || object.GetUID() == "" || object.GetGeneration() != 1 {
		l.Fatalf("created: %+v, %v", object, err)
	}
	if got := l.get(); got.GetUID() != object.GetUID() || got.GetLabels()["tier"] != "web" {
		l.Errorf("read: %+v", got)
	}
	cached := l.empty()
	eventually(l.T, func() bool { return l.cache.Get(l.Context(), l.key, cached) == nil },
		func() string { return "the cache does not have it" })
	if cached.GetUID() != object.GetUID() {
		l.Errorf("cached: %+v", cached)
	}
}

func (l *life) update() {
	if !l.whole {
		return
	}
	object, stale := l.get(), l.get()
	object.SetAnnotations(map[string]string{"updated": "yes"})
	if err := l.client.Update(l.Context(), object); err != nil ||
		object.GetResourceVersion() == stale.GetResourceVersion() || object.GetGeneration() != 1 {
		l.Errorf("updated: %+v, %v", object, err)
	}
	if err := l.client.Update(l.Context(), stale); !apierrors.IsConflict(err) {
		l.Errorf("updated with an old resourceVersion: %v", err)
	}
}

func (l *life) patch() {
	before := l.get()
	merged := before.DeepCopyObject().(client.Object)
	merged.SetLabels(map[string]string{"app": l.key.Name, "tier": "back"})
	if err := l.client.Patch(l.Context(), merged, client.MergeFrom(before)); err != nil ||
		merged.GetLabels()["tier"] != "back" {
		l.Errorf("merge patch: %+v, %v", merged, err)
	}
	for kind, data := range map[types.PatchType]string{
		types.JSONPatchType: `[{"op":"add","path":"/metadata/annotations","value":{"json":"patch"}}]`,
		types.StrategicMergePatchType: `{"spec":{"template":{"spec":{"containers":[{"name":"side",` +
			`"image":"side:1"}]}}}}`,
	} {
		if err := l.client.Patch(l.Context(), l.get(), client.RawPatch(kind, []byte(data))); err != nil {
			l.Errorf("%s: %v", kind, err)
		}
	}
	got := l.typed()
	if got.Annotations["json"] != "patch" || len(got.Spec.Template.Spec.Containers) != 2 || got.Generation != 2 {
		l.Errorf("patched: %+v", got)
	}
	stale := before.DeepCopyObject().(client.Object)
	stale.SetLabels(nil)
	if err := l.client.Patch(l.Context(), stale,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); !apierrors.IsConflict(err) {
		l.Errorf("patched with an old resourceVersion: %v", err)
	}
}

func (l *life) status() {
	patch := client.RawPatch(types.MergePatchType,
		[]byte(`{"status":{"replicas":3,"readyReplicas":2},"spec":{"replicas":9}}`))
	if err := l.client.Status().Patch(l.Context(), l.get(), patch); err != nil {
		l.Error(err)
	}
	if got := l.typed(); got.Status.ReadyReplicas != 2 || *got.Spec.Replicas != 3 || got.Generation != 2 {
		l.Errorf("a patch of the status: %+v, %+v", got.Spec.Replicas, got.Status)
	}
	if !l.whole {
		return
	}
	object := l.get()
	switch o := object.(type) {
	case *appsv1.Deployment:
		o.Status.ReadyReplicas, o.Spec.Replicas = 3, nil
	case *unstructured.Unstructured:
		if err := unstructured.SetNestedField(o.Object, int64(3), "status", "readyReplicas"); err != nil {
			l.Fatal(err)
		}
	}
	if err := l.client.Status().Update(l.Context(), object); err != nil {
		l.Error(err)
	}
	if got := l.typed(); got.Status.ReadyReplicas != 3 || *got.Spec.Replicas != 3 {
		l.Errorf("an update of the status: %+v, %+v", got.Spec.Replicas, got.Status)
	}
}

func (l *life) apply() {
	apply := func(owner, label string) error {
		u := newUnstructured(deploymentKind)
		u.SetNamespace(l.key.Namespace)
		u.SetName(l.key.Name)
		u.SetLabels(map[string]string{"applied": label})
		return l.client.Apply(l.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(owner))
	}
	if err := apply("applier", l.form.name); err != nil {
		l.Fatal(err)
	}
	if err := apply("another", "by another"); !apierrors.IsConflict(err) {
		l.Errorf("what another one owns: %v", err)
	}
	got := l.get()
	if got.GetLabels()["applied"] != l.form.name || got.GetLabels()["tier"] != "back" {
		l.Errorf("applied: %v", got.GetLabels())
	}
	owns := false
	for _, m := range got.GetManagedFields() {
		owns = owns || m.Manager == "applier" && m.Operation == metav1.ManagedFieldsOperationApply
	}
	if !owns {
		l.Errorf("owners: %+v", got.GetManagedFields())
	}
}

// lists selects the object, and not the other one, from the server and from the cache.
func (l *life) lists() {
	for what, selector := range map[string]client.ListOption{
		"a label":             client.MatchingLabels{"applied": l.form.name},
		"a set of labels":     matching(l.T, "applied in ("+l.form.name+"),tier notin (web)"),
		"the absence of some": matching(l.T, "applied="+l.form.name+",!none"),
		"its name":            client.MatchingFields{"metadata.name": l.key.Name},
	} {
		list := l.list()
		if err := l.client.List(l.Context(), list, client.InNamespace("default"), selector); err != nil ||
			lengthOf(list) != 1 || list.GetResourceVersion() == "" {
			l.Errorf("selected by %s: %+v, %v", what, list, err)
		}
		if _, fields := selector.(client.MatchingFields); fields {
			continue // a cache selects by fields that it was told to index
		}
		eventually(l.T, func() bool {
			list := l.list()
			return l.cache.List(l.Context(), list, client.InNamespace("default"), selector) == nil &&
				lengthOf(list) == 1
		}, func() string { return "the cache does not select by " + what })
	}
}

func matching(t *testing.T, text string) client.ListOption {
	t.Helper()
	selector, err := metav1.ParseToLabelSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return client.MatchingLabelsSelector{Selector: parsed}
}

// watchAndDelete watches what a selector takes, from a list on.
func (l *life) watchAndDelete() {
	list := l.list()
	selector := client.MatchingLabels{"applied": l.form.name}
	if err := l.client.List(l.Context(), list, selector); err != nil {
		l.Fatal(err)
	}
	watcher, err := l.client.Watch(l.Context(), l.list(), selector, client.InNamespace("default"),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
	if err != nil {
		l.Fatal(err)
	}
	defer watcher.Stop()
	if err := l.client.Patch(l.Context(), l.get(),
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"seen":"yes"}}}`))); err != nil {
		l.Fatal(err)
	}
	if err := l.client.Delete(l.Context(), l.get(), client.Preconditions{UID: new(l.get().GetUID())}); err != nil {
		l.Fatal(err)
	}
	for _, want := range []watch.EventType{watch.Modified, watch.Deleted} {
		select {
		case event := <-watcher.ResultChan():
			object, ok := event.Object.(client.Object)
			if !ok || event.Type != want || object.GetName() != l.key.Name || object.GetAnnotations()["seen"] != "yes" {
				l.Errorf("%s is seen: %+v", event.Type, event.Object)
			}
		case <-patience():
			l.Fatalf("no event %s", want)
		}
	}
	eventually(l.T, func() bool { return apierrors.IsNotFound(l.cache.Get(l.Context(), l.key, l.empty())) },
		func() string { return "the cache keeps what was deleted" })
}
