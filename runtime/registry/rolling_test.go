package registry_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
)

// Replicas of two releases that store different versions write the same objects, while a migration runs, is interrupted
// and
// is run again: no write is lost, both show the same, and once the older one is gone and a migration has ended, a
// release
// that knows nothing of the older version starts. And all the way back.
func TestRollingUpgradeAndDowngrade(t *testing.T) {
	backend := openBackend(t)
	older, newer := oldShop(), registry.New(shop.Definition())
	only := func(version int) registry.Resource {
		d := shop.Definition()
		d.Versions = d.Versions[version : version+1]
		d.Storage = d.Versions[0].Info.Name
		return registry.New(d)
	}
	opened := func(resource registry.Resource) *bench {
		t.Helper()
		h, err := resource.Open(t.Context(), registry.Config{Backend: backend, Prefix: "/registry", Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{TB: t, backend: backend, Handle: h}
		b.wait()
		return b
	}
	b := opened(older)
	for i := range rollingObjects {
		b.create(fmt.Sprintf(`{"metadata":{"name":"w%d"},"spec":{"color":"red"}}`, i))
	}
	b.Close()
	for _, step := range []struct {
		from, to registry.Resource
		left     string
		after    registry.Resource
	}{
		{older, newer, "[v1]", only(0)},
		{newer, older, "[v1beta1]", only(1)},
	} {
		from, to := opened(step.from), opened(step.to)
		roll(t, from, to, backend, step.to)
		if err := from.Close(); err != nil {
			t.Fatal(err)
		}
		if m := migrate(t, backend, step.to, nil, store.MigrateOptions{}); fmt.Sprint(m.Stored) != step.left ||
			m.Unreadable != 0 {
			t.Errorf("%+v", m)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		last := opened(step.after)
		page, err := last.List(t.Context(), "ns", verb.ListOptions{}, verb.Form{Version: step.after.Info().Storage})
		if err != nil || page.Len != rollingObjects {
			t.Fatalf("%+v %v", page, err)
		}
		page.Close()
		last.Close()
	}
}

const rollingObjects = 4

// roll has both servers write while migrations to one of them come and go.
func roll(t *testing.T, from, to *bench, backend storage.Backend, resource registry.Resource) {
	t.Helper()
	var writers sync.WaitGroup
	const rounds = 60
	for i, b := range []*bench{from, to, from, to} {
		writers.Go(func() {
			for n := range rounds {
				patch := fmt.Sprintf(`{"spec":{"notes":{"writer%d":"%d"}}}`, i, n)
				if _, err := b.patch(fmt.Sprintf("w%d", n%rollingObjects), "", patch); err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
			}
		})
	}
	for i := range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		interrupted := i%2 == 0
		_, err := registry.Migrate(ctx, resource, registry.Config{Backend: backend, Prefix: "/registry"},
			store.MigrateOptions{Report: func(m store.Migration) {
				if interrupted && m.Read == 2 {
					cancel()
				}
			}})
		cancel()
		if interrupted != errors.Is(err, context.Canceled) || !interrupted && err != nil {
			t.Errorf("a migration that is interrupted (%t): %v", interrupted, err)
		}
	}
	writers.Wait()
	for o := range rollingObjects {
		name := fmt.Sprintf("w%d", o)
		one, other := from.get(name), to.get(name)
		for i := range 4 {
			want := fmt.Sprint(rounds - rollingObjects + o)
			if key := fmt.Sprintf("writer%d", i); one.Spec.Notes[key] != want || other.Spec.Notes[key] != want {
				t.Errorf("%s: %s is %s and %s, want %s", name, key, one.Spec.Notes[key], other.Spec.Notes[key], want)
			}
		}
		if one.ResourceVersion != other.ResourceVersion || one.Spec.Color != "red" {
			t.Errorf("%s: %+v and %+v", name, one, other)
		}
	}
}
