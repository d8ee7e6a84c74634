package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/storage/etcd"
	"apigen.dev/runtime/storage/etcd/etcdtest"
)

// A thousand clients at once, each on a connection of its own, among watchers that don't read what they asked for: all
// are answered, and what the others are told is all and in order.
func TestCrowd(t *testing.T) {
	const crowd, lazy = 1000, 50
	endpoint := etcdtest.Start(t).Endpoint()
	backend, err := etcd.New(t.Context(), etcd.Config{Endpoints: []string{endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { backend.Close() })
	server := startReplica(t, "--etcd-servers="+endpoint, "--etcd-compaction-interval=0")
	server.client.Timeout = startTimeout
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
		all.clients = append(all.clients, c)
		workers.Go(func() {
			name := fmt.Sprintf("crowd-%d", i)
			for n, kind := range []kind{create, get, put, patch, get} {
				o := &operation{client: i, kind: kind, name: name, expect: c.known[name].revision, title: fmt.Sprintf("%d-%d", i, n), genre: "Fiction"}
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
	r.finish(all.watches)
	stop()
	followers.Wait()
	r.check(all)
}
