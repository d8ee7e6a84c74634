package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/storage/etcd"
)

// A thousand clients at once, each on a connection of its own, among watchers that don't read what they asked for: all
// are answered, and what the others are told is all and in order.
func TestThousandClients(t *testing.T) {
	const crowd, lazy = 1000, 50
	endpoint := etcdtest.Start(t).Endpoint()
	backend, err := etcd.New(t.Context(), etcd.Config{Endpoints: []string{endpoint}, DialTimeout: startTimeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	server := startReplica(t, "--etcd-servers="+endpoint, "--etcd-compaction-interval=0",
		"--request-timeout="+startTimeout.String())
	r := &run{
		t: t, backend: backend, truth: observe(t, backend), replicas: []*replica{server}, begin: time.Now(),
		progress: &progress{tick: make(chan struct{}, 1)},
	}
	first := newClient(0, seed, r.replicas, r.begin, r.progress)
	all := &crew{}
	watching, stop := context.WithCancel(context.Background())
	var followers, workers sync.WaitGroup
	t.Cleanup(func() { stop(); followers.Wait() })
	for i := range watchers {
		w := &watcher{id: i, replicas: r.replicas, random: rand.New(rand.NewPCG(seed, uint64(100+i))), now: first.now}
		all.watches = append(all.watches, w)
		followers.Go(func() { w.run(watching) })
	}
	for range lazy {
		request, err := http.NewRequestWithContext(watching, http.MethodGet, server.url+path+"?watch=1", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := server.watcher.Do(request)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("a watch: %v", err)
		}
		defer response.Body.Close() // and nobody reads it
	}
	for i := range crowd {
		c := newClient(i, seed, r.replicas, r.begin, r.progress)
		c.patience = startTimeout
		all.clients = append(all.clients, c)
		workers.Go(func() {
			name := fmt.Sprintf("crowd-%d", i)
			for n, kind := range []kind{create, get, put, patch, get} {
				o := &operation{client: i, kind: kind, name: name, expect: c.known[name].revision,
					title: fmt.Sprintf("%d-%d", i, n), genre: "Fiction"}
				c.carryOut(server, o)
			}
			if i%10 == 0 {
				c.list(server, i%20 == 0)
			}
		})
	}
	workers.Wait()
	for _, c := range all.clients {
		for _, o := range c.operations {
			if !o.succeeded() {
				t.Errorf("not answered well: %s", o)
			}
		}
	}
	checkMetrics(t, server)
	r.finish(all.watches)
	stop()
	followers.Wait()
	r.check(all)
}

// checkMetrics: what is kept of the past, and of other forms, is told with its budget, and the cache has been compared
// with etcd, by itself.
func checkMetrics(t *testing.T, server *replica) {
	t.Helper()
	if code, _, err := server.do(t.Context(), http.MethodGet, strings.Replace(path, "/v1/", "/v1alpha1/", 1), "",
		nil); err != nil || code != http.StatusOK {
		t.Fatalf("a list in another version: %d, %v", code, err)
	}
	all := metrics(t, server)
	of := func(name string) float64 {
		return all["apigen_watch_cache_"+name+`{group="library.example.com",resource="books"}`]
	}
	if of("snapshots") < 40 || of("window_bytes") == 0 || of("window_bytes") > of("window_budget_bytes") {
		t.Errorf("of 3000 changes %v snapshots are kept, %v bytes of %v", of("snapshots"), of("window_bytes"),
			of("window_budget_bytes"))
	}
	if of("rendition_bytes") == 0 || of("rendition_bytes") > of("rendition_budget_bytes") {
		t.Errorf("renditions are %v bytes of %v", of("rendition_bytes"), of("rendition_budget_bytes"))
	}
	wait(t, "the cache was compared with etcd", func() bool {
		return metrics(t, server)[`apiserver_storage_consistency_checks_total{group="library.example.com",`+
			`resource="books",status="success"}`] > 0
	})
}
