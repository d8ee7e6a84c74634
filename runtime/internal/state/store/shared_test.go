package store_test

import (
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/store"
)

// TestStoreLeavesObjectsOfItsCallerAlone: a caller may share the objects that it passes with readers. The store never
// writes to them, not even while it encodes them.
func TestStoreLeavesObjectsOfItsCallerAlone(t *testing.T) {
	config := gadgetConfig(openBackend(t))
	config.DisableCache = true // the cache encodes in goroutines of its own
	var shared *shop.Gadget
	var want string
	encode := config.Encode
	config.Encode = func(g *shop.Gadget) ([]byte, error) {
		if got := mustJSON(shared); got != want {
			t.Errorf("while the store encodes, its caller sees %s instead of %s", got, want)
		}
		return encode(g)
	}
	share := func(g *shop.Gadget) *shop.Gadget {
		shared, want = g, mustJSON(g)
		return g
	}
	opened, err := store.New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	s := &gadgets{opened}

	proposal := gadget("a", 1)
	proposal.ResourceVersion, proposal.SelfLink = "0", "/link"
	created, err := s.Create(t.Context(), "gadgets/ns/a", share(proposal), 0)
	if err != nil {
		t.Fatal(err)
	}
	guess := store.CommitOptions[*shop.Gadget]{Guess: share(created)}
	if _, err := s.Update(t.Context(), "gadgets/ns/a", guess, setPower(2)); err != nil {
		t.Error(err)
	}
	_, err = s.Update(t.Context(), "gadgets/ns/a", store.CommitOptions[*shop.Gadget]{},
		func(g *shop.Gadget) (*shop.Gadget, time.Duration, error) {
			g.Spec.Power, g.SelfLink = 3, "/link"
			return share(g), 0, nil
		})
	if err != nil {
		t.Error(err)
	}
	guess.Guess = share(created)
	if _, err := s.Delete(t.Context(), "gadgets/ns/a", guess, nil); err != nil {
		t.Error(err)
	}
}

// TestWritesFromASharedGuess has a data race where a store writes to a guess.
func TestWritesFromASharedGuess(t *testing.T) {
	s := openStore(t, openBackend(t), false, 0)
	created, err := s.Create(t.Context(), "gadgets/ns/a", gadget("a", 1), 0)
	if err != nil {
		t.Fatal(err)
	}
	guess, want := store.CommitOptions[*shop.Gadget]{Guess: created}, mustJSON(created)
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			if _, err := s.Update(t.Context(), "gadgets/ns/a", guess, setPower(int64(i))); err != nil {
				t.Error(err)
			}
			if got := mustJSON(created); got != want {
				t.Errorf("got %s, expected %s", got, want)
			}
		})
	}
	writers.Wait()
}

func setPower(power int64) func(*shop.Gadget) (*shop.Gadget, time.Duration, error) {
	return func(g *shop.Gadget) (*shop.Gadget, time.Duration, error) {
		g.Spec.Power = power
		return g, 0, nil
	}
}
