package quota

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/typedclient"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func define[T api.Object](kind, plural string, fresh func() T) registry.Definition[T] {
	return registry.Definition[T]{
		Names: api.Names{Kind: kind, Plural: plural}, Scope: api.Namespaced, New: fresh, Storage: "v1",
		Versions: []codec.Version[T]{codec.VersionOf(api.VersionInfo{Name: "v1"}, codec.Conversion[T, T]{New: fresh})},
	}
}

// replica is a server's resources and plug-in over a backend.
type replica struct {
	ctx  context.Context
	maps reach.Objects[*core.ConfigMap]
	pods reach.Objects[*core.Pod]
	reach.Objects[*core.ResourceQuota]
	known *known
}

func startReplica(t *testing.T, backend storage.Backend) *replica {
	t.Helper()
	f := new(Feature)
	var config server.Config
	if err := config.Use(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	quotas := define("ResourceQuota", "resourcequotas", func() *core.ResourceQuota { return new(core.ResourceQuota) })
	quotas.Subresources = []registry.Subresource[*core.ResourceQuota]{{
		Name:  "status",
		Copy:  func(from, to *core.ResourceQuota) { to.Status = from.Status },
		Reset: func(q *core.ResourceQuota) { q.Status = core.ResourceQuotaStatus{} },
	}}
	chain := admission.NewChain(config.Admission, nil)
	var handles []verb.Handle
	for _, r := range []registry.Resource{
		registry.New(quotas),
		registry.New(define("ConfigMap", "configmaps", func() *core.ConfigMap { return new(core.ConfigMap) })),
		registry.New(define("Pod", "pods", func() *core.Pod { return new(core.Pod) })),
	} {
		h, err := r.Open(t.Context(), registry.Config{Backend: backend, Prefix: "/registry", Admission: chain})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		handles = append(handles, h)
	}
	reached, err := typedclient.Reachable(handles)
	if err != nil {
		t.Fatal(err)
	}
	ctx := reach.WithCatalog(reach.With(t.Context(), reached),
		typedclient.Catalog[verb.Handle]{Handles: func() []verb.Handle { return handles }})
	ended := make(chan struct{})
	running, stop := context.WithCancel(ctx)
	go func() { defer close(ended); f.run(running) }()
	t.Cleanup(func() { stop(); <-ended })
	r := &replica{ctx: ctx, known: &f.known}
	if r.Objects, err = reach.Of[*core.ResourceQuota](ctx); err == nil {
		if r.maps, err = reach.Of[*core.ConfigMap](ctx); err == nil {
			r.pods, err = reach.Of[*core.Pod](ctx)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *replica) quota(t *testing.T, hard core.ResourceList, scopes ...core.ResourceQuotaScope) {
	t.Helper()
	_, err := r.Create(r.ctx, &core.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "q"},
		Spec:       core.ResourceQuotaSpec{Hard: hard, Scopes: scopes},
	}, reach.Write{})
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, "the first count", func(q *core.ResourceQuota) bool { return q.Status.Used != nil })
	r.waitKnown(t)
}

func (r *replica) waitFor(t *testing.T, what string, ready func(*core.ResourceQuota) bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		q, err := r.Get(r.ctx, "ns", "q")
		if err != nil {
			t.Fatal(err)
		}
		if ready(q) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %s", what, describe(q.Status.Used))
		}
	}
}

func (r *replica) createMap(name string) error {
	obj := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	_, err := r.maps.Create(r.ctx, obj, reach.Write{})
	return err
}

func uses(name core.ResourceName, quantity string) func(*core.ResourceQuota) bool {
	want := resource.MustParse(quantity)
	return func(q *core.ResourceQuota) bool {
		used, ok := q.Status.Used[name]
		return ok && used.Cmp(want) == 0
	}
}

// Many writers on two replicas never have more than the quota allows, and all that it allows, while others delete.
func TestManyWriters(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	replicas := []*replica{startReplica(t, backend), startReplica(t, backend)}
	const hard = 30
	replicas[0].quota(t, core.ResourceList{"count/configmaps": *resource.NewQuantity(hard, resource.DecimalSI)})
	replicas[1].waitKnown(t)
	var created, refused atomic.Int64
	var writers sync.WaitGroup
	for n := range 50 {
		writers.Go(func() {
			r := replicas[n%2]
			for i := range 4 {
				name := fmt.Sprintf("m-%d-%d", n, i)
				switch err := r.createMap(name); {
				case err == nil:
					created.Add(1)
					if i%2 == 0 {
						if err := r.maps.Delete(r.ctx, "ns", name, metav1.DeleteOptions{}); err != nil {
							t.Error(err)
						}
						created.Add(-1)
					}
				case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota: q"):
					refused.Add(1)
				default:
					t.Error(err)
				}
				if all, err := r.maps.List(r.ctx, "ns", nil); err != nil || len(all) > hard {
					t.Errorf("%d objects, %v", len(all), err)
				}
			}
		})
	}
	writers.Wait()
	t.Logf("%d objects, %d refusals", created.Load(), refused.Load())
	replicas[0].waitFor(t, "the last credit", uses("count/configmaps", fmt.Sprint(created.Load())))
	for i := created.Load(); i < hard; i++ {
		if err := replicas[0].createMap(fmt.Sprintf("rest-%d", i)); err != nil {
			t.Error(err)
		}
	}
	if err := replicas[1].createMap("one-more"); !apierrors.IsForbidden(err) {
		t.Error(err)
	}
}

// waitKnown waits until the replica knows that the namespace has a quota: it charges no write before.
func (r *replica) waitKnown(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(time.Millisecond); !r.known.has("ns"); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("the replica knows of no quota")
		}
	}
}

// A write that comes to nothing is charged nothing in the end.
func TestRefusedWritesAreNotCharged(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	r := startReplica(t, backend)
	r.quota(t, core.ResourceList{
		"count/configmaps": resource.MustParse("2"), core.ResourceConfigMaps: resource.MustParse("5"),
	})
	if err := r.createMap("a"); err != nil {
		t.Fatal(err)
	}
	if err := r.createMap("a"); !apierrors.IsAlreadyExists(err) {
		t.Error(err)
	}
	r.waitFor(t, "the refund", uses("count/configmaps", "1"))
	dry := reach.DryRun(r.ctx)
	if _, err := r.maps.Create(dry, &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "dry"}},
		reach.Write{}); err != nil {
		t.Error(err)
	}
	if err := r.createMap("b"); err != nil {
		t.Error("a dry run was charged: ", err)
	}
	err := r.createMap("c")
	const want = `configmaps "c" is forbidden: exceeded quota: q, requested: count/configmaps=1, ` +
		`used: count/configmaps=2, limited: count/configmaps=2`
	if !apierrors.IsForbidden(err) || err.Error() != want {
		t.Error(err)
	}
	r.waitFor(t, "the other name", uses(core.ResourceConfigMaps, "2"))
}

// Pods are charged for what they request while they run.
func TestPods(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	r := startReplica(t, backend)
	r.quota(t, core.ResourceList{
		"pods": resource.MustParse("5"), "requests.cpu": resource.MustParse("1"),
		"limits.memory": resource.MustParse("1Gi"),
	}, core.ResourceQuotaScopeNotBestEffort)
	pod := func(name, cpu string) *core.Pod {
		p := &core.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
		c := core.Container{Name: "c"}
		if cpu != "" {
			c.Resources.Requests = core.ResourceList{core.ResourceCPU: resource.MustParse(cpu)}
			c.Resources.Limits = core.ResourceList{core.ResourceMemory: resource.MustParse("256Mi")}
		}
		p.Spec.Containers = []core.Container{c}
		return p
	}
	create := func(p *core.Pod) error { _, err := r.pods.Create(r.ctx, p, reach.Write{}); return err }
	if err := create(pod("free", "")); err != nil {
		t.Error("a pod outside the scope: ", err)
	}
	if err := create(pod("a", "600m")); err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, "the charge", uses("requests.cpu", "600m"))
	err := create(pod("b", "500m"))
	if err == nil || !strings.HasSuffix(err.Error(), "exceeded quota: q, requested: requests.cpu=500m, "+
		"used: requests.cpu=600m, limited: requests.cpu=1") {
		t.Error(err)
	}
	half := pod("half", "")
	half.Spec.Containers[0].Resources.Requests = core.ResourceList{core.ResourceCPU: resource.MustParse("1m")}
	if err := create(half); err == nil || !strings.HasSuffix(err.Error(),
		"failed quota: q: must specify limits.memory for: c") {
		t.Error(err)
	}
	_, err = r.pods.Update(r.ctx, "ns", "a", reach.Write{}, func(p *core.Pod) error {
		p.Status.Phase = core.PodSucceeded
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, "the credit for a pod that ended", uses("requests.cpu", "0"))
	r.waitFor(t, "its place", uses("pods", "0"))
	if err := create(pod("b", "500m")); err != nil {
		t.Error(err)
	}
}
