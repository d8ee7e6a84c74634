package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/tools/record"
	watchtools "k8s.io/client-go/tools/watch"
)

func newClientset(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// The scale client finds by discovery which resources have a scale, and of which kind it is.
func TestScaleClient(t *testing.T) {
	t.Parallel()
	server := memoryCluster(t)
	client := newClientset(t, server.config)
	if _, err := client.AppsV1().Deployments("default").Create(t.Context(), deployment("web"),
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	scales, err := scale.NewForConfig(server.config, mapper, dynamic.LegacyAPIPathResolverFunc,
		scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		t.Fatal(err)
	}
	of := schema.GroupResource{Group: "apps", Resource: "deployments"}
	got, err := scales.Scales("default").Get(t.Context(), of, "web", metav1.GetOptions{})
	if err != nil || got.Spec.Replicas != 3 || got.Status.Selector != "app=web" {
		t.Fatalf("%+v, %v", got, err)
	}
	got.Spec.Replicas = 4
	if got, err = scales.Scales("default").Update(t.Context(), of, got, metav1.UpdateOptions{}); err != nil ||
		got.Spec.Replicas != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = scales.Scales("default").Patch(t.Context(), of.WithVersion("v1"), "web", types.MergePatchType,
		[]byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{}); err != nil || got.Spec.Replicas != 5 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := scales.Scales("default").Get(t.Context(), schema.GroupResource{Resource: "configmaps"}, "web",
		metav1.GetOptions{}); err == nil {
		t.Error("config maps have a scale")
	}
	typed, err := client.AppsV1().Deployments("default").GetScale(t.Context(), "web", metav1.GetOptions{})
	if err != nil || typed.Spec != (autoscalingv1.ScaleSpec{Replicas: 5}) {
		t.Errorf("%+v, %v", typed, err)
	}
}

// Recorders of both sorts write events, and count those that come again.
func TestRecorders(t *testing.T) {
	t.Parallel()
	server := memoryCluster(t)
	client := newClientset(t, server.config)
	d, err := client.AppsV1().Deployments("default").Create(t.Context(), deployment("web"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	old := record.NewBroadcaster(record.WithContext(t.Context()))
	defer old.Shutdown()
	old.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: client.CoreV1().Events("")})
	recorder := old.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "test"})
	for range 3 {
		recorder.Eventf(d, corev1.EventTypeWarning, "Failed", "again and %s", "again")
	}
	var seen []corev1.Event
	eventually(t, func() bool {
		list, err := client.CoreV1().Events("default").List(t.Context(),
			metav1.ListOptions{FieldSelector: "involvedObject.name=web,involvedObject.kind=Deployment,reason=Failed"})
		if err != nil {
			t.Fatal(err)
		}
		seen = list.Items
		return len(seen) == 1 && seen[0].Count == 3
	}, func() string { return fmt.Sprintf("events: %+v", seen) })
	found, err := client.CoreV1().Events("default").SearchWithContext(t.Context(), scheme.Scheme, d)
	if err != nil || len(found.Items) != 1 || found.Items[0].Message != "again and again" {
		t.Errorf("found: %+v, %v", found, err)
	}

	today := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	defer today.Shutdown()
	if err := today.StartRecordingToSinkWithContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	newer := today.NewRecorder(scheme.Scheme, "test")
	for range 3 {
		newer.Eventf(d, nil, corev1.EventTypeNormal, "Scaled", "Scaling", "to %d", 3)
	}
	var noted []eventsv1.Event
	eventually(t, func() bool {
		list, err := client.EventsV1().Events("default").
			List(t.Context(), metav1.ListOptions{FieldSelector: "regarding.name=web,reason=Scaled"})
		if err != nil {
			t.Fatal(err)
		}
		noted = list.Items
		return len(noted) == 1 && noted[0].Note == "to 3"
	}, func() string { return fmt.Sprintf("events: %+v", noted) })
}

// configWatcher lists and watches config maps of a namespace.
func configWatcher(client kubernetes.Interface) *cache.ListWatch {
	maps := client.CoreV1().ConfigMaps("default")
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return maps.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return maps.Watch(ctx, o)
		},
	}
}

// What waits for a change sees it, though the server is killed meanwhile.
func TestWaitingAcrossRestarts(t *testing.T) {
	t.Parallel()
	server := embeddedCluster(t)
	client := newClientset(t, server.config)
	maps := client.CoreV1().ConfigMaps("default")
	first, err := maps.Create(t.Context(), configMap("a", nil), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	says := func(text string) watchtools.ConditionFunc {
		return func(event watch.Event) (bool, error) {
			c, ok := event.Object.(*corev1.ConfigMap)
			return ok && c.Data["says"] == text, nil
		}
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if _, err := watchtools.Until(ctx, first.ResourceVersion, configWatcher(client), says("one"),
			says("two")); err != nil {
			t.Errorf("Until: %v", err)
		}
	})
	waiting.Go(func() {
		there := func(store cache.Store) (bool, error) { return len(store.ListKeys()) > 5, nil }
		if _, err := watchtools.UntilWithSync(ctx, configWatcher(client), &corev1.ConfigMap{}, there,
			says("two")); err != nil {
			t.Errorf("UntilWithSync: %v", err)
		}
	})
	retried, err := watchtools.NewRetryWatcherWithContext(ctx, first.ResourceVersion, configWatcher(client))
	if err != nil {
		t.Fatal(err)
	}
	defer retried.Stop()
	say := func(text string) {
		t.Helper()
		eventually(t, func() bool {
			_, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"says":"`+text+`"}}`),
				metav1.PatchOptions{})
			return err == nil
		}, func() string { return "the server does not come back" })
	}
	say("one")
	server.process.crash()
	say("two")
	waiting.Wait()
	if got := take(t, retried, 2); !slices.Equal(got, []string{"MODIFIED a", "MODIFIED a"}) {
		t.Errorf("retried: %q", got)
	}
}

// A pager whose pages expire asks for all at once, or says so where it must not.
func TestPagerFallsBack(t *testing.T) {
	t.Parallel()
	server := etcdCluster(t)
	maps := newClientset(t, server.config).CoreV1().ConfigMaps("default")
	const n = 25
	for i := range n {
		if _, err := maps.Create(t.Context(), configMap(nth(i), nil), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	pages := func(between func()) *pager.ListPager {
		p := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if o.Continue != "" {
				between()
			}
			return maps.List(ctx, o)
		})
		p.PageSize = 10
		return p
	}
	object, paged, err := pages(func() {}).List(t.Context(), metav1.ListOptions{})
	if err != nil || !paged || meta.LenList(object) != n {
		t.Errorf("%d in pages, %v", meta.LenList(object), err)
	}
	expire := func() { // what the server remembers is gone, and what etcd does, too
		if _, err := maps.Patch(t.Context(), nth(0), types.MergePatchType,
			fmt.Appendf(nil, `{"data":{"at":%q}}`, time.Now()), metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
		compact(t, server.etcd)
		server.process.crash()
	}
	if object, _, err = pages(expire).List(t.Context(), metav1.ListOptions{}); err != nil || meta.LenList(object) != n {
		t.Errorf("%d at once, %v", meta.LenList(object), err)
	}
	strict := pages(expire)
	strict.FullListIfExpired = false
	if _, _, err := strict.List(t.Context(), metav1.ListOptions{}); !apierrors.IsResourceExpired(err) {
		t.Errorf("without a fallback: %v", err)
	}
}

// An informer changes what it keeps, and tells it again after a while.
func TestInformerTransforms(t *testing.T) {
	t.Parallel()
	client := newClientset(t, memoryCluster(t).config)
	informer := cache.NewSharedIndexInformer(configWatcher(client), &corev1.ConfigMap{}, time.Second,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	if err := informer.SetTransform(func(o any) (any, error) {
		o.(*corev1.ConfigMap).ManagedFields = nil
		return o, nil
	}); err != nil {
		t.Fatal(err)
	}
	again := make(chan string, 100)
	if _, err := informer.AddEventHandlerWithResyncPeriod(
		cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
			if o := after.(*corev1.ConfigMap); o.ResourceVersion == before.(*corev1.ConfigMap).ResourceVersion {
				again <- o.Name
			}
		}}, time.Second); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	defer func() { stop(); running.Wait() }()
	if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, configMap("a", nil),
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	select {
	case name := <-again:
		if name != "a" {
			t.Errorf("resynced %s", name)
		}
	case <-patience():
		t.Fatal("nothing is resynced")
	}
	if held := informer.GetStore().List(); len(held) != 1 || held[0].(*corev1.ConfigMap).ManagedFields != nil {
		t.Errorf("%+v", held)
	}
}

// A leader that ends well gives its lease back, and the next one doesn't wait for it to expire.
func TestLeaderHandsOver(t *testing.T) {
	t.Parallel()
	client := newClientset(t, memoryCluster(t).config)
	led := make(chan string, 2)
	elect := func(ctx context.Context, name string) {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: "lead"}, Client: client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name},
			},
			LeaseDuration: bound, RenewDeadline: bound / 2, RetryPeriod: 20 * time.Millisecond, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { led <- name },
				OnStoppedLeading: func() {}},
		})
	}
	next := func(want string) {
		t.Helper()
		select {
		case name := <-led:
			if name != want {
				t.Fatalf("%s leads", name)
			}
		case <-patience():
			t.Fatalf("%s does not lead", want)
		}
	}
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	first, resign := context.WithCancel(ctx)
	defer func() { resign(); stop(); running.Wait() }()
	running.Go(func() { elect(first, "first") })
	next("first")
	running.Go(func() { elect(ctx, "second") })
	resign()
	next("second")
	lease, err := client.CoordinationV1().Leases("default").Get(t.Context(), "lead", metav1.GetOptions{})
	if err != nil || *lease.Spec.HolderIdentity != "second" || *lease.Spec.LeaseTransitions < 1 {
		t.Errorf("%+v, %v", lease, err)
	}
}
