package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func gadget(name string, power int64) *shop.Gadget {
	return &shop.Gadget{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID("uid-" + name)},
		Spec: shop.GadgetSpec{Power: power}}
}

func mustCreate(t *testing.T, s *gadgets, name string, power int64) *shop.Gadget {
	t.Helper()
	g, err := s.Create(t.Context(), "gadgets/ns/"+name, gadget(name, power), 0)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestCreate(t *testing.T) {
	contract(t, func(t *testing.T, s *gadgets, backend storage.Backend) {
		g := mustCreate(t, s, "a", 1)
		kv, _, _ := backend.Get(t.Context(), "/registry/gadgets/ns/a", storage.GetOptions{})
		if kv == nil || strconv.FormatInt(kv.Revision, 10) != g.ResourceVersion || strings.Contains(string(kv.Value),
			"resourceVersion") {
			t.Errorf("%+v is stored as %+v", g, kv)
		}
		if _, err := s.Create(t.Context(), "gadgets/ns/a", gadget("a", 2), 0); !apierrors.IsAlreadyExists(err) {
			t.Error(err)
		}
		if _, err := s.Create(t.Context(), "gadgets/ns/b", g, 0); !apierrors.IsBadRequest(err) {
			t.Error(err)
		}
	})
}

func TestCreateWithTTL(t *testing.T) {
	contract(t, func(t *testing.T, s *gadgets, backend storage.Backend) {
		w, err := s.Watch(t.Context(), "gadgets/", api.WatchOptions{}) // before it: a second is soon over
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if _, err := s.Create(t.Context(), "gadgets/ns/a", gadget("a", 1), time.Second); err != nil {
			t.Fatal(err)
		}
		var seen []string
		for len(seen) < 2 {
			events, err := w.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				seen = append(seen, string(e.Type))
			}
		}
		if strings.Join(seen, " ") != "ADDED DELETED" {
			t.Error(seen)
		}
	})
}

// An update may leave an object the time that it has, give it another, or for ever; one that changes nothing leaves it.
func TestUpdateOfTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, openBackend(t), true, 0)
		for _, name := range []string{"kept", "extended", "freed", "unchanged"} {
			if _, err := s.Create(t.Context(), "gadgets/ns/"+name, gadget(name, 1), time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(30 * time.Minute)
		for name, ttl := range map[string]time.Duration{"kept": storage.KeepTTL, "extended": 2 * time.Hour, "freed": 0,
			"unchanged": 0} {
			_, err := s.Update(t.Context(), "gadgets/ns/"+name, store.CommitOptions[*shop.Gadget]{},
				func(g *shop.Gadget) (*shop.Gadget, time.Duration, error) {
					if name != "unchanged" {
						g.Spec.Power = 2
					}
					return g, ttl, nil
				})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, then := range []struct {
			after time.Duration
			left  string
		}{
			{29 * time.Minute, "extended freed kept unchanged"}, {2 * time.Minute, "extended freed"}, {3 * time.Hour,
				"freed"},
		} {
			time.Sleep(then.after)
			for _, version := range []string{"", "0"} {
				list, err := s.List(t.Context(), "gadgets/", verb.ListOptions{ResourceVersion: version})
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, g := range list.Items {
					names = append(names, g.Name)
				}
				if got := strings.Join(names, " "); got != then.left {
					t.Errorf("left after %s more: %s, want %s", then.after, got, then.left)
				}
			}
		}
	})
}

func TestGet(t *testing.T) {
	contract(t, func(t *testing.T, s *gadgets, backend storage.Backend) {
		g := mustCreate(t, s, "a", 1)
		for _, version := range []string{"", g.ResourceVersion} {
			got, err := s.Get(t.Context(), "/gadgets/ns/a", store.GetOptions{ResourceVersion: version})
			if err != nil || got.Spec.Power != 1 || got.ResourceVersion != g.ResourceVersion {
				t.Errorf("%q: %+v %v", version, got, err)
			}
		}
		if _, err := s.Get(t.Context(), "gadgets/ns/b", store.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Error(err)
		}
		if got, err := s.Get(t.Context(), "gadgets/ns/b", store.GetOptions{IgnoreNotFound: true}); err != nil ||
			got.Name != "" {
			t.Error(got, err)
		}
		for _, key := range []string{"", "gadgets/../secrets/a", "secrets/a", "gadgets/./a", "gadgets//a",
			"gadgetsx/a"} {
			if _, err := s.Get(t.Context(), key, store.GetOptions{}); err == nil || !strings.Contains(err.Error(),
				"invalid key") {
				t.Errorf("%q: %v", key, err)
			}
		}
	})
}

func TestReadsOfTheFuture(t *testing.T) {
	for _, cached := range []bool{true, false} {
		s := openStore(t, openBackend(t), cached, 30*time.Millisecond)
		mustCreate(t, s, "a", 1)
		opts := verb.ListOptions{ResourceVersion: "1000"}
		_, err := s.List(t.Context(), "gadgets/", opts)
		_, err2 := s.Get(t.Context(), "gadgets/ns/a", store.GetOptions{ResourceVersion: "1000"})
		opts.ResourceVersionMatch = metav1.ResourceVersionMatchExact
		_, err3 := s.List(t.Context(), "gadgets/", opts)
		for _, err := range []error{err, err2, err3} {
			status := wantStatus(t, err, 504, metav1.StatusReasonTimeout,
				"Too large resource version: 1000, current: 2")
			d := status.Details
			if d.RetryAfterSeconds != 1 || len(d.Causes) != 1 ||
				d.Causes[0].Type != metav1.CauseTypeResourceVersionTooLarge ||
				d.Causes[0].Message != "Too large resource version" {
				t.Errorf("%+v", d)
			}
		}
	}
}

func TestWaitsForTheNearFuture(t *testing.T) {
	contract(t, func(t *testing.T, s *gadgets, backend storage.Backend) {
		g := mustCreate(t, s, "a", 1)
		next, _ := strconv.Atoi(g.ResourceVersion)
		got := make(chan error, 1)
		go func() {
			_, err := s.Get(t.Context(), "gadgets/ns/a", store.GetOptions{ResourceVersion: strconv.Itoa(next + 1)})
			got <- err
		}()
		mustCreate(t, s, "b", 1)
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}

func TestListBelowANamespace(t *testing.T) {
	contract(t, func(t *testing.T, s *gadgets, backend storage.Backend) {
		list, err := s.List(t.Context(), "gadgets/ns", verb.ListOptions{})
		if err != nil || list.ResourceVersion == "" || list.ResourceVersion == "0" {
			t.Errorf("%+v %v", list, err)
		}
		mustCreate(t, s, "a", 1)
		if _, err := s.Create(t.Context(), "gadgets/nsx/a", gadget("a", 1), 0); err != nil {
			t.Fatal(err)
		}
		if list, err = s.List(t.Context(), "gadgets/ns", verb.ListOptions{}); err != nil || len(list.Items) != 1 {
			t.Errorf("%+v %v", list, err)
		}
	})
}

func TestUpdate(t *testing.T) {
	contract(t, func(t *testing.T, s *gadgets, backend storage.Backend) {
		g := mustCreate(t, s, "a", 1)
		calls := 0
		updated, err := s.Update(t.Context(), "gadgets/ns/a", store.CommitOptions[*shop.Gadget]{},
			func(current *shop.Gadget) (*shop.Gadget, time.Duration, error) {
				if calls++; calls == 1 {
					// Somebody else is faster.
					value := []byte(strings.Replace(mustJSON(gadget("a", 10)), "\n", "", 1))
					if _, err := backend.Put(t.Context(), "/registry/gadgets/ns/a", value,
						mustInt(current.ResourceVersion),
						0); err != nil {
						t.Fatal(err)
					}
				}
				current.Spec.Power++
				return current, 0, nil
			})
		if err != nil || calls != 2 || updated.Spec.Power != 11 || updated.ResourceVersion == g.ResourceVersion {
			t.Errorf("%d calls, %+v, %v", calls, updated, err)
		}
		same, err := s.Update(t.Context(), "gadgets/ns/a", store.CommitOptions[*shop.Gadget]{},
			func(current *shop.Gadget) (*shop.Gadget, time.Duration, error) {
				return current, 0, nil
			})
		if err != nil || same.ResourceVersion != updated.ResourceVersion {
			t.Errorf("nothing changed, and %+v was written, %v", same, err)
		}
		mine := errors.New("mine")
		if _, err = s.Update(t.Context(), "gadgets/ns/a", store.CommitOptions[*shop.Gadget]{},
			func(*shop.Gadget) (*shop.Gadget, time.Duration, error) { return nil, 0, mine }); !errors.Is(err, mine) {
			t.Error(err)
		}
	})
}

func TestUpdateOfAbsent(t *testing.T) {
	contract(t, func(t *testing.T, s *gadgets, backend storage.Backend) {
		set := func(current *shop.Gadget) (*shop.Gadget, time.Duration, error) { return gadget("a", 5), 0, nil }
		if _, err := s.Update(t.Context(), "gadgets/ns/a", store.CommitOptions[*shop.Gadget]{},
			set); !apierrors.IsNotFound(err) {
			t.Error(err)
		}
		if g, err := s.Update(t.Context(), "gadgets/ns/a", store.CommitOptions[*shop.Gadget]{IgnoreNotFound: true},
			set); err != nil || g.Spec.Power != 5 {
			t.Error(g, err)
		}
	})
}

func TestGuessesAreNotTrusted(t *testing.T) {
	contract(t, func(t *testing.T, s *gadgets, backend storage.Backend) {
		old := mustCreate(t, s, "a", 1)
		add := func(current *shop.Gadget) (*shop.Gadget, time.Duration, error) {
			if current.Spec.Power == 1 {
				return nil, 0, errors.New("decided on what is no longer true")
			}
			current.Spec.Power++
			return current, 0, nil
		}
		if _, err := s.Update(t.Context(), "gadgets/ns/a", store.CommitOptions[*shop.Gadget]{},
			func(g *shop.Gadget) (*shop.Gadget, time.Duration, error) {
				g.Spec.Power = 2
				return g, 0, nil
			}); err != nil {
			t.Fatal(err)
		}
		got, err := s.Update(t.Context(), "gadgets/ns/a", store.CommitOptions[*shop.Gadget]{Guess: old}, add)
		if err != nil || got.Spec.Power != 3 || old.Spec.Power != 1 {
			t.Errorf("%+v %v", got, err)
		}
		back := func(*shop.Gadget) (*shop.Gadget, time.Duration, error) { return gadget("a", 1), 0, nil }
		if got, err = s.Update(t.Context(), "gadgets/ns/a", store.CommitOptions[*shop.Gadget]{Guess: old},
			back); err != nil || got.Spec.Power != 1 || got.ResourceVersion == old.ResourceVersion {
			t.Errorf("no change against the guess, but against the truth: %+v %v", got, err)
		}
		wrong := types.UID("x")
		_, err = s.Delete(t.Context(), "gadgets/ns/a", store.CommitOptions[*shop.Gadget]{Guess: old,
			Preconditions: &metav1.Preconditions{UID: &wrong}}, nil)
		wantStatus(t, err, 409, metav1.StatusReasonConflict, "the UID in the precondition (x)")
		deleted, err := s.Delete(t.Context(), "gadgets/ns/a", store.CommitOptions[*shop.Gadget]{Guess: old},
			func(current *shop.Gadget) error { return nil })
		if err != nil || mustInt(deleted.ResourceVersion) <= mustInt(got.ResourceVersion) {
			t.Errorf("%+v %v", deleted, err)
		}
		if _, err = s.Delete(t.Context(), "gadgets/ns/a", store.CommitOptions[*shop.Gadget]{Guess: old},
			nil); !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
}

func TestWatchesOneKey(t *testing.T) {
	contract(t, func(t *testing.T, s *gadgets, backend storage.Backend) {
		mustCreate(t, s, "a", 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w, err := s.Watch(ctx, "gadgets/ns/a", api.WatchOptions{AllowBookmarks: true})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		mustCreate(t, s, "ab", 1)
		if _, err := s.Delete(t.Context(), "gadgets/ns/a", store.CommitOptions[*shop.Gadget]{}, nil); err != nil {
			t.Fatal(err)
		}
		marks := 0
		var seen []string
		for marks < 3 || len(seen) < 2 {
			events, err := w.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.Type == api.Bookmark {
					marks++
					continue
				}
				seen = append(seen, string(e.Type)+" "+e.Object.Name)
			}
		}
		if got := strings.Join(seen, ", "); got != "ADDED a, DELETED a" {
			t.Error(got)
		}
	})
}

func TestCounts(t *testing.T) {
	contract(t, func(t *testing.T, s *gadgets, backend storage.Backend) {
		g := mustCreate(t, s, "a", 1)
		if n, err := s.Stats(t.Context()); err != nil || n.Objects != 1 {
			t.Error(n, err)
		}
		if n, err := s.CurrentRevision(t.Context()); err != nil || n != mustInt(g.ResourceVersion) {
			t.Error(n, err)
		}
		if err := s.RequestProgress(t.Context()); err != nil {
			t.Error(err)
		}
		mustCreate(t, s, "b", 1)
		if err := backend.Compact(t.Context(), mustInt(g.ResourceVersion)+1); err != nil {
			t.Fatal(err)
		}
		list, err := s.List(t.Context(), "gadgets/", verb.ListOptions{ResourceVersion: g.ResourceVersion,
			ResourceVersionMatch: "Exact"})
		if err == nil { // the cache's window still has it
			if len(list.Items) != 1 {
				t.Errorf("%+v", list)
			}
			return
		}
		wantStatus(t, err, 410, metav1.StatusReasonExpired, "The resourceVersion for the provided list is too old.")
		if s.CompactRevision() != mustInt(g.ResourceVersion)+1 {
			t.Errorf("compacted at %d", s.CompactRevision())
		}
	})
}

func TestNeedsAPrefix(t *testing.T) {
	for prefix, want := range map[string]string{
		"": "it would cover", "/": "it would cover", "..": "it would cover",
		"pods": `write "pods/"`, "/pods": `write "pods/"`, "//pods/": `write "pods/"`, "pods//": `write "pods/"`,
		"./pods/": `write "pods/"`, "a/../pods/": `write "pods/"`, "services/specs": `write "services/specs/"`,
		"pods/": "", "/pods/": "", "services/specs/": "",
	} {
		config := gadgetConfig(openBackend(t))
		config.ResourcePrefix = prefix
		s, err := store.New(config)
		if err == nil {
			s.Close()
		}
		seen := fmt.Sprintf("the store's ResourcePrefix is %q: ", prefix)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), seen+want)) {
			t.Errorf("%q: got %v, expected %s", prefix, err, want)
		}
	}
}

func TestWritesBelowItsPrefix(t *testing.T) {
	for _, prefix := range []string{"gadgets/", "/gadgets/"} {
		config := gadgetConfig(openBackend(t))
		config.ResourcePrefix = prefix
		s, err := store.New(config)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Create(t.Context(), prefix+"ns/a", gadget("a", 1), store.CreateOptions{}); err != nil {
			t.Error(err)
		}
		kv, _, err := config.Backend.Get(t.Context(), "/registry/gadgets/ns/a", storage.GetOptions{})
		if err != nil || kv == nil {
			t.Errorf("%s: nothing was written below it: %v", prefix, err)
		}
	}
}

func mustInt(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}
