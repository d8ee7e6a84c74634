package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// observer is an informer, with what its handlers were told.
type observer struct {
	informer cache.SharedIndexInformer
	// told is the resourceVersion of each object by the calls of the handlers alone.
	told atomic.Pointer[map[string]string]
	// lists counts requests that are no watches.
	lists atomic.Int64
}

// observe runs an informer until the test ends. The function of makes it of a config.
func observe(t *testing.T, config *rest.Config, of func(*rest.Config) cache.SharedIndexInformer) *observer {
	t.Helper()
	o := new(observer)
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("watch") == "" {
				o.lists.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	o.informer = of(config)
	o.told.Store(new(map[string]string))
	if _, err := o.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { o.tell(obj, false) },
		UpdateFunc: func(_, obj any) { o.tell(obj, false) },
		DeleteFunc: func(obj any) { o.tell(obj, true) },
	}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running wait.Group
	running.StartWithContext(ctx, o.informer.RunWithContext)
	t.Cleanup(func() { stop(); running.Wait() })
	return o
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// tell is called by one goroutine, the informer's.
func (o *observer) tell(obj any, gone bool) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	object := obj.(metav1.Object)
	next := maps.Clone(*o.told.Load())
	if next == nil {
		next = map[string]string{}
	}
	if key := object.GetNamespace() + "/" + object.GetName(); gone {
		delete(next, key)
	} else {
		next[key] = object.GetResourceVersion()
	}
	o.told.Store(&next)
}

// holds is what the informer's store holds.
func (o *observer) holds() map[string]string {
	out := map[string]string{}
	for _, obj := range o.informer.GetStore().List() {
		object := obj.(metav1.Object)
		out[object.GetNamespace()+"/"+object.GetName()] = object.GetResourceVersion()
	}
	return out
}

// converges waits until the store holds, and the handlers were told, what storage holds.
func (o *observer) converges(t *testing.T, want map[string]string) {
	t.Helper()
	eventually(t, func() bool { return maps.Equal(o.holds(), want) && maps.Equal(*o.told.Load(), want) },
		func() string {
			return fmt.Sprintf("the informer's store (-want +got):\n%s\nwhat its handlers were told:\n%s",
				cmp.Diff(want, o.holds()), cmp.Diff(want, *o.told.Load()))
		})
}

func dynamicInformer(t *testing.T, resource schema.GroupVersionResource) func(*rest.Config) cache.SharedIndexInformer {
	return func(config *rest.Config) cache.SharedIndexInformer {
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		return dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(resource).Informer()
	}
}

func metadataInformer(t *testing.T, resource schema.GroupVersionResource) func(*rest.Config) cache.SharedIndexInformer {
	return func(config *rest.Config) cache.SharedIndexInformer {
		client, err := metadata.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		return metadatainformer.NewSharedInformerFactory(client, 0).ForResource(resource).Informer()
	}
}

// Informers end with what storage holds, though hundreds of objects come, change and go, and the server is killed and
// restarted in between.
func TestInformerUnderChurn(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		observers := []*observer{
			observe(t, server.config, dynamicInformer(t, flunders)),
			observe(t, server.config, dynamicInformer(t, oldFlunders)),
			observe(t, server.config, metadataInformer(t, flunders)),
		}
		client := newDynamic(t, server.config).Resource(flunders).Namespace("default")
		const workers, each = 5, 100
		var created atomic.Int64
		var churning wait.Group
		for worker := range workers {
			churning.Start(func() {
				for i := range each {
					churn(t, client, worker*each+i, &created)
				}
			})
		}
		if server.process != nil {
			eventually(t, func() bool { return created.Load() > workers*each/3 },
				func() string { return "nothing is created" })
			server.process.crash()
		}
		churning.Wait()

		want := stored(t, server.config, flunders)
		if n := int64(len(want)); n == 0 || n >= created.Load() {
			t.Errorf("%d of %d objects are left: the test does not do what it says", n, created.Load())
		}
		for _, o := range observers {
			o.converges(t, want)
			if server.process == nil && o.lists.Load() > 0 {
				t.Errorf("%d requests were no watches: WatchList is not used", o.lists.Load())
			}
		}
	})
}

// churn makes object i, changes two of three, and deletes one of three.
func churn(t *testing.T, client dynamic.ResourceInterface, i int, created *atomic.Int64) {
	name := nth(i)
	do := func(what string, write func() error) {
		// A write that was under way when the server died may be there, or not.
		if err := insist(t.Context(), write); err != nil {
			t.Errorf("%s %s: %v", what, name, err)
		}
	}
	do("create", func() error {
		_, err := client.Create(t.Context(), flunder(name), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	created.Add(1)
	if i%3 != 0 {
		do("patch", func() error {
			patch := fmt.Appendf(nil, `{"spec":{"flunderReference":"r%d"}}`, i)
			_, err := client.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		})
	}
	if i%3 == 1 {
		do("delete", func() error {
			err := client.Delete(t.Context(), name, metav1.DeleteOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
	}
}

// insist repeats a write while the server is away. What a server answers is final.
func insist(ctx context.Context, write func() error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, bound, true, func(context.Context) (bool, error) {
		last = write()
		var answer apierrors.APIStatus
		answered := last == nil || errors.As(last, &answer)
		// Of a timeout the outcome is unknown, which those who write here can tell.
		return answered && !apierrors.IsServiceUnavailable(last) && !apierrors.IsTimeout(last), nil
	})
	if last != nil {
		return last
	}
	return err
}

// An informer whose revision was compacted away while its server was down lists again, and misses nothing: neither what
// another replica wrote meanwhile, nor what it deleted.
func TestInformerAfterCompaction(t *testing.T) {
	t.Parallel()
	server := startEtcd(t)
	client := newDynamic(t, server.config).Resource(flunders).Namespace("default")
	for i := range 50 {
		if _, err := client.Create(t.Context(), flunder(nth(i)), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	o := observe(t, server.config, dynamicInformer(t, flunders))
	o.converges(t, stored(t, server.config, flunders))

	server.process.kill()
	replica := newTarget(t, startProcess(t, "--etcd-servers="+server.etcd.Endpoint()).kubeconfig())
	other := newDynamic(t, replica.config).Resource(flunders).Namespace("default")
	for i := range 100 {
		var created atomic.Int64
		churn(t, other, i, &created)
	}
	compact(t, server.etcd)
	server.process.start()
	want := stored(t, server.config, flunders)
	o.converges(t, want)
	if diff := cmp.Diff(want, stored(t, replica.config, flunders)); diff != "" {
		t.Errorf("replicas differ: %s", diff)
	}
	if _, err := client.List(t.Context(), metav1.ListOptions{ResourceVersion: "2",
		ResourceVersionMatch: metav1.ResourceVersionMatchExact}); !apierrors.IsResourceExpired(err) {
		t.Errorf("a list of a compacted revision: %v", err)
	}
	// The watch that is under way goes on through a compaction and a crash of etcd.
	if _, err := client.Create(t.Context(), flunder("last"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	compact(t, server.etcd)
	server.etcd.Kill()
	server.etcd.Restart()
	if err := insist(t.Context(), func() error {
		return client.Delete(t.Context(), "last", metav1.DeleteOptions{})
	}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	o.converges(t, stored(t, server.config, flunders))
}

// compact compacts an etcd up to its current revision.
func compact(t *testing.T, store *etcdtest.Process) {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{store.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	got, err := client.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(t.Context(), got.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
}
