package rules

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/internal/testbed/plot"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/embedded"
)

// The times in the life of a server under load, each of which adds to the one before: a few clients, another user who
// lists everything on many connections, and troubles.
const (
	phase    = 40 * time.Second
	calmers  = 4
	watchers = 20
	listers  = 30
)

// underLoad returns the samples of a server, scraped each second, the time of the first, and its phases: green while
// another user lists, red while it has troubles.
func underLoad(t *testing.T) (d *database, from time.Time, marks []plot.Mark) {
	store, err := embedded.Etcd{}.Open(t.Context(), t.TempDir(), storage.EmbeddedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := startTroubled(t, store, 1<<30)
	d, from = newDatabase(t), time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	for i := range calmers {
		clients.Go(func() { s.keepWorking(ctx, fmt.Sprintf("worker-%d", i)) })
	}
	for range watchers {
		clients.Go(func() { s.watch(ctx) })
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for begun := false; time.Since(from) < 3*phase; <-tick.C {
		if !begun && time.Since(from) > phase {
			begun = true
			for range listers {
				clients.Go(func() { s.keepListing(ctx) })
			}
		}
		if time.Since(from) > 2*phase {
			s.troubles()
		}
		d.scrapeAt(time.Now(), s.metrics()+certificate(from.AddDate(0, 0, 90)))
	}
	return d, from, []plot.Mark{{Begin: phase, End: 2 * phase},
		{Name: "troubles of webhooks, audit, users and another server", Begin: 2 * phase, End: 3 * phase}}
}

// keepWorking writes and reads a Secret of its own.
func (s *served) keepWorking(ctx context.Context, name string) {
	path := secrets + "/" + name
	for version := 0; ctx.Err() == nil; version++ {
		object := fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"version":"%d"}}}`, name, version)
		_, _, _ = s.try(ctx, http.MethodPost, secrets, object, "")
		for range 10 {
			_, _, _ = s.try(ctx, http.MethodGet, path, "", "")
		}
		_, _, _ = s.try(ctx, http.MethodGet, secrets, "", "")
		_, _, _ = s.try(ctx, http.MethodPut, path, object, "")
		_, _, _ = s.try(ctx, http.MethodPatch, path, `{"metadata":{"labels":{"patched":"true"}}}`, "")
		_, _, _ = s.try(ctx, http.MethodDelete, path, "", "")
	}
}

// keepListing lists what many groups have, as another user.
func (s *served) keepListing(ctx context.Context) {
	for ctx.Err() == nil {
		_, _, _ = s.try(ctx, http.MethodGet, "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", "", "bob")
		_, _, _ = s.try(ctx, http.MethodGet, "/apis/rbac.authorization.k8s.io/v1/clusterroles", "", "bob")
	}
}

// watch reads events.
func (s *served) watch(ctx context.Context) {
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+secrets+"?watch=1", nil)
		if err != nil {
			return
		}
		response, err := s.Client.Do(r)
		if err != nil {
			continue
		}
		for events := bufio.NewScanner(response.Body); events.Scan(); {
		}
		response.Body.Close()
	}
}
