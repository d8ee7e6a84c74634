package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/reach"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// world is a reach.Catalog of a local kind and of kinds of other servers, one in each group.
type world struct {
	reach.Catalog
	groups []string
	// count answers for the group of another server.
	count func(ctx context.Context, group string) (int64, error)
	asked atomic.Int64 // at once, about the local kind
	most  atomic.Int64
}

// Resources implements reach.Catalog.
func (w *world) Resources() []reach.Resource {
	all := []reach.Resource{{Namespaced: true, Verbs: []string{"delete", "list"}}}
	all[0].Resource = "configmaps"
	for _, group := range w.groups {
		all = append(all, reach.Resource{
			GroupResource: schema.GroupResource{Group: group, Resource: "things"}, Namespaced: true,
			Verbs: []string{"delete", "list"}, Remote: true,
		})
	}
	return all
}

// Unknown implements reach.Catalog.
func (*world) Unknown() []schema.GroupVersion { return nil }

// Count implements reach.Catalog.
func (w *world) Count(ctx context.Context, gr schema.GroupResource, _ string) (int64, error) {
	if gr.Group != "" {
		return w.count(ctx, gr.Group)
	}
	w.most.Store(max(w.most.Load(), w.asked.Add(1)))
	defer w.asked.Add(-1)
	time.Sleep(time.Millisecond) // of the bubble
	return 0, nil
}

// Finalizers implements reach.Catalog.
func (*world) Finalizers(context.Context, schema.GroupResource, string) (int64, map[string]int64, error) {
	return 2, map[string]int64{"example.com/f": 2}, nil
}

// DeleteAll implements reach.Catalog.
func (*world) DeleteAll(context.Context, schema.GroupResource, string, metav1.DeleteOptions) error {
	return nil
}

// TestServersApart: servers that hang, or say nonsense, cost a look at a namespace bounded time, and don't keep it from
// what the others have. The conditions say who it was.
func TestServersApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{groups: []string{"hangs", "endless", "fine", "full"}}
		var mu sync.Mutex
		answered := map[string]time.Duration{}
		began := time.Now()
		w.count = func(ctx context.Context, group string) (int64, error) {
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				answered[group] = time.Since(began)
			}()
			switch group {
			case "hangs":
				<-ctx.Done()
				return 0, ctx.Err()
			case "endless":
				return 0, errors.New("the list has more than 7 pages" + strings.Repeat("!", 10*maxWords))
			case "full":
				return 2, nil
			}
			return 0, nil
		}
		emptier := newEmptier(slog.New(slog.DiscardHandler), nil)
		left, err := emptier.deleteContent(reach.WithCatalog(t.Context(), w), "ns")
		if took := time.Since(began); err != nil || took != patience {
			t.Errorf("a look took %s, error %v", took, err)
		}
		if answered["hangs"] != patience || answered["endless"] != 0 || answered["fine"] != 0 || answered["full"] != 0 {
			t.Errorf("answers after %v", answered)
		}
		var conditions []string
		for _, c := range left.conditions() {
			conditions = append(conditions, string(c.kind)+": "+c.message)
		}
		text := strings.Join(conditions, "\n")
		for _, want := range []string{
			"NamespaceDeletionContentFailure: Failed to delete all resource types, 2 remaining: ",
			"the server of things.hangs: context deadline exceeded", "the server of things.endless: the list has more",
			"NamespaceContentRemaining: Some resources are remaining: things.full has 2 resource instances",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %s", want, text)
			}
		}
		if len(text) > 10*maxWords {
			t.Errorf("the conditions have %d bytes", len(text))
		}
	})
}

// TestNamespacesApart: many namespaces are looked at in the time of one, also while another server hangs, and few of
// them ask at once.
func TestNamespacesApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{groups: []string{"hangs"}}
		var asking, most atomic.Int64
		w.count = func(ctx context.Context, _ string) (int64, error) {
			most.Store(max(most.Load(), asking.Add(1)))
			defer asking.Add(-1)
			<-ctx.Done()
			return 0, ctx.Err()
		}
		e := newEmptier(slog.New(slog.DiscardHandler), nil)
		began := time.Now()
		var working sync.WaitGroup
		var failures sync.Map
		for i := range 100 {
			working.Go(func() {
				left, err := e.deleteContent(reach.WithCatalog(t.Context(), w), fmt.Sprintf("ns%d", i))
				if err != nil || len(left.failures) != 1 {
					t.Errorf("failures %v, error %v", left.failures, err)
					return
				}
				failures.Store(left.failures[0], nil)
			})
		}
		working.Wait()
		if took := time.Since(began); took != patience {
			t.Errorf("looks at 100 namespaces took %s", took)
		}
		if most.Load() != atOnce || w.most.Load() != atOnce {
			t.Errorf("%d and %d asked at once", most.Load(), w.most.Load())
		}
		var texts []string
		failures.Range(func(text, _ any) bool {
			texts = append(texts, text.(string))
			return true
		})
		slices.Sort(texts)
		want := "the server of things.hangs: context deadline exceeded; the server of things.hangs: " + errBusy.Error()
		if got := strings.Join(texts, "; "); got != want {
			t.Errorf("failures %s", got)
		}
	})
}
