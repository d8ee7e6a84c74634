package conformance

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/internal/etcdtest"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// listThenWatch is a client that informers list and then watch with, as before there was WatchList.
type listThenWatch struct{ dynamic.ResourceInterface }

// IsWatchListSemanticsUnSupported is what client-go asks.
func (listThenWatch) IsWatchListSemanticsUnSupported() bool { return true }

func (l listThenWatch) informer() cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return l.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return l.Watch(ctx, o)
		},
	}, l), newUnstructured(corev1.SchemeGroupVersion.WithKind("ConfigMap")), 0, nil)
}

// typedInformer is that of Kubernetes' own clients.
func typedInformer(t *testing.T) func(*rest.Config) cache.SharedIndexInformer {
	return func(config *rest.Config) cache.SharedIndexInformer {
		c, err := typedcore.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		return cache.NewSharedIndexInformer(cache.NewListWatchFromClient(c.RESTClient(), configMaps.Resource, "",
			fields.Everything()), &corev1.ConfigMap{}, 0, nil)
	}
}

// Informers of all sorts, with and without WatchList, end with what storage holds, though objects come, change and go
// while the server is killed and restarted and the history is compacted, again and again.
func TestInformersAcrossHistory(t *testing.T) {
	t.Parallel()
	server := etcdCluster(t)
	older := observe(t, server.config, func(config *rest.Config) cache.SharedIndexInformer {
		return listThenWatch{newDynamic(t, config).Resource(configMaps)}.informer()
	})
	observers := []*observer{
		older,
		observe(t, server.config, dynamicInformer(t, configMaps)),
		observe(t, server.config, metadataInformer(t, configMaps)),
		observe(t, server.config, typedInformer(t)),
	}
	client := newDynamic(t, server.config).Resource(configMaps).Namespace("default")
	const rounds, workers, each = 3, 4, 40
	for round := range rounds {
		var done atomic.Int64
		var churning wait.Group
		for worker := range workers {
			churning.Start(func() {
				for i := range each {
					changeConfig(t, client, worker*each+i, round)
					done.Add(1)
				}
			})
		}
		eventually(t, func() bool { return done.Load() > workers*each/3 },
			func() string { return "nothing is written" })
		server.process.kill()
		compact(t, server.etcd)
		server.process.start()
		churning.Wait()
		compact(t, server.etcd)
		want := kept(t, server.etcd, "/registry/configmaps/")
		if len(want) == 0 || len(want) >= workers*each {
			t.Errorf("%d objects are left: the test does not do what it says", len(want))
		}
		for _, o := range observers {
			o.converges(t, want)
		}
	}
	if older.lists.Load() == 0 {
		t.Error("the informer that was to list did not")
	}
}

// kept is what etcd itself holds under a prefix: the revisions of objects by their names.
func kept(t *testing.T, store *etcdtest.Process, prefix string) map[string]string {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{store.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	got, err := client.Get(t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, kv := range got.Kvs {
		out[strings.TrimPrefix(string(kv.Key), prefix)] = strconv.FormatInt(kv.ModRevision, 10)
	}
	return out
}

// changeConfig creates or changes config map i, or deletes it, in turns.
func changeConfig(t *testing.T, client dynamic.ResourceInterface, i, round int) {
	name := nth(i)
	write := func() error {
		if (i+round)%3 == 0 {
			err := client.Delete(t.Context(), name, metav1.DeleteOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		}
		config := newUnstructured(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		config.SetName(name)
		config.Object["data"] = map[string]any{"round": nth(round)}
		data, err := config.MarshalJSON()
		if err != nil {
			return err
		}
		_, err = client.Patch(t.Context(), name, types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: "churn"})
		return err
	}
	if err := insist(t.Context(), write); err != nil {
		t.Errorf("%s in round %d: %v", name, round, err)
	}
}
