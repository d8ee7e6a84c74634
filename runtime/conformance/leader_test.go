package conformance

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// manageVariable makes the test binary a controller: its value is a kubeconfig. identityVariable names it.
const (
	manageVariable   = "CONFORMANCE_MANAGE"
	identityVariable = "CONFORMANCE_IDENTITY"
)

// detectorVariable makes client-go list again what a watch began with, at the same revision,
// and panic where the two differ.
const detectorVariable = "KUBE_WATCHLIST_INCONSISTENCY_DETECTOR"

// What a controller leaves on an object.
const (
	finalizer    = "conformance.example.com/kept"
	reconciledBy = "conformance.example.com/by"
)

// manage runs a manager that waits to be elected and then reconciles deployments, until it is killed.
func manage(kubeconfig, identity string) {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	if err := runElected(kubeconfig, identity); err != nil {
		fmt.Fprintln(os.Stderr, identity+":", err)
		os.Exit(1)
	}
}

func runElected(kubeconfig, identity string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	scheme, err := clusterScheme()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		LeaderElection: true, LeaderElectionID: "conformance", LeaderElectionNamespace: "default",
		LeaseDuration: new(12 * time.Second), RenewDeadline: new(10 * time.Second),
		RetryPeriod: new(200 * time.Millisecond),
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).For(&appsv1.Deployment{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, settle(ctx, manager.GetClient(), r, identity)
		}))
	if err != nil {
		return err
	}
	return manager.Start(context.Background())
}

// settle gives a deployment a finalizer, and then a status as if its pods ran.
func settle(ctx context.Context, c client.Client, r reconcile.Request, identity string) error {
	var d appsv1.Deployment
	if err := c.Get(ctx, r.NamespacedName, &d); err != nil {
		return client.IgnoreNotFound(err)
	}
	if controllerutil.AddFinalizer(&d, finalizer) {
		d.Annotations = map[string]string{reconciledBy: identity}
		return c.Update(ctx, &d) // the update brings us here again
	}
	if d.Status.ObservedGeneration == d.Generation {
		return nil
	}
	before := d.DeepCopy()
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: *d.Spec.Replicas,
		ReadyReplicas: *d.Spec.Replicas}
	return c.Status().Patch(ctx, &d, client.MergeFrom(before))
}

// startManager starts a controller as a process of its own. The function that is returned kills it as a crash does.
func startManager(t *testing.T, server *target, identity string) (kill func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.Create(filepath.Join(t.TempDir(), identity))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(self)
	command.Env = append(os.Environ(), manageVariable+"="+server.kubeconfig, identityVariable+"="+identity,
		detectorVariable+"=true")
	command.Stdout, command.Stderr = said, said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var dead atomic.Bool
	kill = func() {
		if dead.CompareAndSwap(false, true) {
			_ = command.Process.Kill() // it may have ended
			_ = command.Wait()
		}
	}
	t.Cleanup(func() {
		kill()
		_ = said.Close()
		if text, _ := os.ReadFile(said.Name()); len(text) > 0 {
			t.Errorf("the controller %s says: %s", identity, text)
		}
	})
	return kill
}

// A controller that was elected by a lease on the server itself reconciles a thousand objects, and is killed in the
// middle of it; one that waited takes over, and does the rest.
func TestElectedControllers(t *testing.T) {
	t.Parallel()
	server := embeddedCluster(t)
	c := clusterClient(t, server.config)
	kill := startManager(t, server, "first")
	var lease coordinationv1.Lease
	held := func() bool {
		return c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "conformance"}, &lease) == nil &&
			lease.Spec.HolderIdentity != nil
	}
	eventually(t, held, func() string { return "nobody takes the lease" })
	holder := *lease.Spec.HolderIdentity
	startManager(t, server, "second")

	const n = 1000
	createDeployments(t, c, 0, n/2)
	eventually(t, func() bool { return settled(t, c)["first"] > n/4 }, func() string {
		return fmt.Sprintf("settled: %v", settled(t, c))
	})
	kill()
	if by := settled(t, c); by["second"] > 0 {
		t.Errorf("two controllers at a time: %v", by)
	}
	createDeployments(t, c, n/2, n)
	eventually(t, func() bool { by := settled(t, c); return by["first"]+by["second"] == n }, func() string {
		return fmt.Sprintf("settled in the end: %v", settled(t, c))
	})
	if by := settled(t, c); by["second"] < n/2 {
		t.Errorf("the one that took over settled few: %v", by)
	}
	if !held() || *lease.Spec.HolderIdentity == holder || lease.Spec.LeaseTransitions == nil ||
		*lease.Spec.LeaseTransitions != 1 {
		t.Errorf("the lease: %+v", lease.Spec)
	}
}

func createDeployments(t *testing.T, c client.Client, from, to int) {
	t.Helper()
	const workers = 4
	concurrently(workers, func(worker int) {
		for i := from + worker; i < to; i += workers {
			if err := c.Create(t.Context(), deployment(nth(i))); err != nil {
				t.Error(err)
			}
		}
	})
}

// settled counts the deployments that a controller has done with, by whom it began with.
func settled(t *testing.T, c client.Client) map[string]int {
	t.Helper()
	var list appsv1.DeploymentList
	if err := c.List(t.Context(), &list, client.InNamespace("default")); err != nil {
		t.Fatal(err)
	}
	by := map[string]int{}
	for i := range list.Items {
		d := &list.Items[i]
		if len(d.Finalizers) == 1 && d.Status.ObservedGeneration == d.Generation && d.Status.ReadyReplicas == 3 {
			by[d.Annotations[reconciledBy]]++
		}
	}
	return by
}
