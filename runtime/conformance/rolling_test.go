package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// restartLoad is what clients do while replicas restart.
type restartLoad struct {
	rounds            int
	requests, watches int // requests a second
	// least is the part of the requests that must be answered in time, so that the test has the load that it claims.
	least float64
}

const (
	counters   = 50 // objects whose data counts its writes
	connecting = 10 // clients with connections of their own
)

// TestRollingRestart restarts the replicas of a server one after the other, behind a balancer that follows /readyz,
// while clients of client-go read, write and watch. No read fails, no write has an outcome that the client can't know,
// and each watch sees every write of its object.
func TestRollingRestart(t *testing.T) {
	load := restartLoad{rounds: 1, requests: 200, watches: 50}
	if os.Getenv("APIGEN_LONG") != "" {
		load = restartLoad{rounds: 3, requests: 1000, watches: 500, least: 0.9}
	}
	replicas := startReplicas(t, 2)
	var addresses []string
	for _, p := range replicas {
		addresses = append(addresses, p.address(t))
	}
	front := startBalancer(t, addresses...)
	front.awaitReady(t)
	clients := clientsOf(t, replicas[0].kubeconfig(), front.listener.Addr().String())
	traffic := startTraffic(t, clients, load)
	for range load.rounds {
		for _, p := range replicas {
			p.end(t)
			p.start()
			front.awaitReady(t)
		}
	}
	traffic.end(t, load)
}

// startReplicas starts servers on one etcd that share an authority, as the manual says.
func startReplicas(t *testing.T, n int) []*process {
	t.Helper()
	store := etcdtest.Start(t)
	arguments := []string{
		"--etcd-servers=" + store.Endpoint(), "--shutdown-delay-duration=2s",
		"--shutdown-watch-termination-grace-period=1s",
	}
	all := []*process{startServing(t, clusterName, arguments...)}
	for range n - 1 {
		data := filepath.Join(t.TempDir(), "data")
		if err := os.MkdirAll(data, 0o700); err != nil {
			t.Fatal(err)
		}
		first := os.DirFS(filepath.Join(all[0].dir, "data", "pki"))
		if err := os.CopyFS(filepath.Join(data, "pki"), first); err != nil {
			t.Fatal(err)
		}
		all = append(all, startServing(t, clusterName, append(slices.Clone(arguments), "--data-dir="+data)...))
	}
	return all
}

// address is where the process listens, by its arguments.
func (p *process) address(t *testing.T) string {
	t.Helper()
	for _, argument := range p.arguments {
		if port, ok := strings.CutPrefix(argument, "--secure-port="); ok {
			return net.JoinHostPort("127.0.0.1", port)
		}
	}
	t.Fatal("the process has no port")
	return ""
}

// end ends the process as a supervisor does, and wants it to succeed.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.command.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	p.command = nil
}

// clientsOf returns clients of the balancer. Each has connections of its own.
func clientsOf(t *testing.T, kubeconfig, address string) (all []corev1client.ConfigMapInterface) {
	t.Helper()
	for range connecting {
		config := rest.CopyConfig(newTarget(t, kubeconfig).config)
		config.Host = "https://" + address
		config.Dial = new(net.Dialer).DialContext // client-go shares the connections of equal configurations
		set, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, set.CoreV1().ConfigMaps("default"))
	}
	return all
}

// traffic is what clients do, and what went wrong.
type traffic struct {
	clients []corev1client.ConfigMapInterface
	// rest ends the requests, and stop the watches.
	rest, stop        context.CancelFunc
	working, watching sync.WaitGroup
	// done counts the answers, and failures the errors by their text.
	done     atomic.Int64
	mu       sync.Mutex // guards failures
	failures map[string]int
	// written is the last count of each counter, seen that which each watch has seen.
	written []atomic.Int64
	seen    []atomic.Int64
	began   time.Time
}

func (w *traffic) fail(what string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failures[fmt.Sprintf("%s: %T %v", what, err, err)]++
}

func counterName(i int) string { return fmt.Sprint("counter-", i) }

// startTraffic makes the counters, opens the watches and begins to read and write.
func startTraffic(t *testing.T, clients []corev1client.ConfigMapInterface, load restartLoad) *traffic {
	t.Helper()
	w := &traffic{
		clients: clients, failures: map[string]int{}, began: time.Now(),
		written: make([]atomic.Int64, counters), seen: make([]atomic.Int64, load.watches),
	}
	var ctx, working context.Context
	ctx, w.stop = context.WithCancel(context.Background())
	working, w.rest = context.WithCancel(ctx)
	t.Cleanup(func() { w.stop(); w.working.Wait(); w.watching.Wait() })
	versions := make([]string, counters)
	for i := range counters {
		made, err := clients[i%connecting].Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: counterName(i), Labels: map[string]string{"tenth": fmt.Sprint(i % 10)}},
			Data:       map[string]string{"n": "0"},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		versions[i] = made.ResourceVersion
	}
	for i := range load.watches {
		w.watching.Go(func() { w.watch(ctx, i, versions[i%counters]) })
	}
	// Each counter has one writer, so that there are no conflicts. Of ten requests, one is a write.
	pause := time.Second * counters / time.Duration(load.requests)
	for i := range counters {
		w.working.Go(func() { w.work(working, i, pause) })
	}
	return w
}

// work sends a request whenever the pause has passed.
func (w *traffic) work(ctx context.Context, i int, pause time.Duration) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	client := w.clients[i%connecting]
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		switch turn % 10 {
		case 0:
			w.write(client, i)
		case 1, 2:
			_, err := client.List(context.Background(), metav1.ListOptions{LabelSelector: fmt.Sprint("tenth=", i%10)})
			w.read("LIST", err)
		default:
			_, err := client.Get(context.Background(), counterName(i), metav1.GetOptions{})
			w.read("GET", err)
		}
		w.done.Add(1)
	}
}

func (w *traffic) read(what string, err error) {
	if err != nil {
		w.fail(what, err)
	}
}

// write adds one to a counter. The server may refuse it, but the client must know that it did.
func (w *traffic) write(client corev1client.ConfigMapInterface, i int) {
	next := w.written[i].Load() + 1
	_, err := client.Update(context.Background(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: counterName(i), Labels: map[string]string{"tenth": fmt.Sprint(i % 10)}},
		Data:       map[string]string{"n": fmt.Sprint(next)},
	}, metav1.UpdateOptions{})
	switch {
	case err == nil:
		w.written[i].Store(next)
	case !apierrors.IsServiceUnavailable(err) && !apierrors.IsTooManyRequests(err):
		w.fail("a write of unknown outcome", err)
	}
}

// watch follows a counter, from watch to watch, and wants each value after the one before.
func (w *traffic) watch(ctx context.Context, i int, version string) {
	client := w.clients[i%connecting]
	name := fields.OneTermEqualSelector(metav1.ObjectNameField, counterName(i%counters)).String()
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, version, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = name
			return client.Watch(ctx, options)
		},
	})
	if err != nil {
		w.fail("a watch", err)
		return
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		object, ok := event.Object.(*corev1.ConfigMap)
		if !ok {
			w.fail("a watch", fmt.Errorf("%+v", event))
			return
		}
		n, err := strconv.ParseInt(object.Data["n"], 10, 64)
		if before := w.seen[i].Load(); err != nil || n != before+1 {
			w.fail("a watch has a gap", fmt.Errorf("%d follows %d: %w", n, before, errors.Join(err)))
			return
		}
		w.seen[i].Store(n)
	}
}

// end waits until each watch has seen every write, and reports.
func (w *traffic) end(t *testing.T, load restartLoad) {
	t.Helper()
	w.rest()
	w.working.Wait()
	lasted, done := time.Since(w.began), w.done.Load()
	behind := func() (n int) {
		for i := range w.seen {
			if w.seen[i].Load() < w.written[i%counters].Load() {
				n++
			}
		}
		return n
	}
	broken := func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.failures) > 0
	}
	eventually(t, func() bool { return behind() == 0 || broken() }, func() string {
		return fmt.Sprintf("%d watches are behind", behind())
	})
	w.stop()
	w.watching.Wait()
	for what, times := range maps.All(w.failures) {
		t.Errorf("%d times: %s", times, what)
	}
	rate := float64(done) / lasted.Seconds()
	t.Logf("%d requests in %s, %.0f a second, and %d watches", done, lasted.Round(time.Millisecond), rate, load.watches)
	if done == 0 || rate < load.least*float64(load.requests) {
		t.Errorf("%d requests, %.0f a second, want %.0f", done, rate, load.least*float64(load.requests))
	}
}
