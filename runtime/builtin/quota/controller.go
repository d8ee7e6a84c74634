package quota

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/reach"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// quiet is how long nobody has charged a quota before its usage is counted anew: longer than a write may take, so
	// that the count has every object that was charged.
	quiet = 40 * time.Second
	// recount is how often a quota is counted that nobody charges.
	recount = 5 * time.Minute
	// interval is how often the controller looks for quotas to count.
	interval = 5 * time.Second
)

// run follows the quotas and keeps their statuses true, in every replica.
func (f *Feature) run(ctx context.Context) error {
	quotas, err := reach.Of[*core.ResourceQuota](ctx)
	if err != nil {
		return nil // the server has no such kind
	}
	f.ledger.ctx = ctx //nolint:fatcontext // It is that of the hook, which is set once.
	c := counter{quotas: quotas, seen: map[types.UID]sight{}}
	changed := make(chan struct{}, 1)
	followed := make(chan error, 1)
	go func() {
		followed <- quotas.Follow(ctx, "", func(changes reach.Changes[*core.ResourceQuota]) {
			f.known.take(changes)
			select {
			case changed <- struct{}{}:
			default:
			}
		})
	}()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case err := <-followed:
			return err
		case <-changed:
		case <-tick.C:
		}
		c.count(ctx, f.known.all())
	}
}

// counter counts what is in use.
type counter struct {
	quotas reach.Objects[*core.ResourceQuota]
	seen   map[types.UID]sight
}

// sight is since when the server has seen a quota in its present version: when to count it, and what the last count
// gave that differs from its usage.
type sight struct {
	version string
	next    time.Time
	counted core.ResourceList
}

// count counts for the quotas whose statuses lack something, and for those that were quiet long enough.
func (c *counter) count(ctx context.Context, all []*core.ResourceQuota) {
	present := time.Now()
	seen := map[types.UID]sight{}
	for _, quota := range all {
		s := c.seen[quota.UID]
		if s.version != quota.ResourceVersion {
			s = sight{version: quota.ResourceVersion, next: present.Add(quiet)}
		}
		if !equal(quota.Spec.Hard, quota.Status.Hard) || quota.Status.Used == nil {
			c.complete(ctx, quota)
		} else if !present.Before(s.next) {
			c.repair(ctx, quota, &s)
		}
		seen[quota.UID] = s
	}
	c.seen = seen
}

// complete fills in the status of a new quota, or of one whose spec was changed. What was counted before stays, since
// it has the charges of writes that are on their way.
func (c *counter) complete(ctx context.Context, quota *core.ResourceQuota) {
	counted, err := usageIn(ctx, quota)
	if err != nil {
		return // the next round tries again
	}
	next := quota.DeepCopy()
	next.Status.Hard = quota.Spec.Hard.DeepCopy()
	for name := range counted {
		if used, ok := quota.Status.Used[name]; ok {
			counted[name] = used
		}
	}
	next.Status.Used = counted
	c.swap(ctx, next)
}

// repair writes what is in use, if nobody has charged the quota meanwhile. It counts twice: what a deletion frees is
// given back by the server that did it, a moment later, and must not be subtracted from a count that lacks it.
func (c *counter) repair(ctx context.Context, quota *core.ResourceQuota, s *sight) {
	counted, err := usageIn(ctx, quota)
	switch {
	case err != nil:
		return // the next round tries again
	case equal(counted, quota.Status.Used):
		s.next, s.counted = time.Now().Add(recount), nil
	case !equal(counted, s.counted):
		s.counted = counted
	default:
		next := quota.DeepCopy()
		next.Status.Used = counted
		c.swap(ctx, next)
	}
}

func (c *counter) swap(ctx context.Context, quota *core.ResourceQuota) {
	if err := swap(ctx, c.quotas, quota); err != nil && !errors.Is(err, errChanged) {
		return // deleted, or no storage: the next round tries again
	}
}

// usageIn counts what is in use of the resources that a quota names, 0 of those that nothing here uses.
func usageIn(ctx context.Context, quota *core.ResourceQuota) (core.ResourceList, error) {
	used := core.ResourceList{}
	for name := range quota.Spec.Hard {
		used[name] = resource.Quantity{Format: resource.DecimalSI}
	}
	counts := []func(context.Context, *core.ResourceQuota, core.ResourceList) error{
		countTyped[*core.Pod]("pods"), countTyped[*core.Service]("services"),
		countTyped[*core.PersistentVolumeClaim]("persistentvolumeclaims"), countOthers,
	}
	for _, count := range counts {
		if err := count(ctx, quota, used); err != nil {
			return nil, err
		}
	}
	return mask(used, quota.Spec.Hard), nil
}

// countTyped returns the function that adds what the objects of a Go type use.
func countTyped[T any](plural string) func(context.Context, *core.ResourceQuota, core.ResourceList) error {
	gr := schema.GroupResource{Resource: plural}
	return func(ctx context.Context, quota *core.ResourceQuota, used core.ResourceList) error {
		var none T
		d := demand{resource: gr, measure: measureOf(gr, none)}
		tracked := false
		for name := range quota.Spec.Hard {
			tracked = tracked || d.measure.tracks(name)
		}
		objects, err := reach.Of[T](ctx)
		if !tracked || err != nil {
			return nil //nolint:nilerr // The server has no such kind.
		}
		all, err := objects.List(ctx, quota.Namespace, nil)
		if err != nil {
			return err
		}
		specified := quota.DeepCopy()
		specified.Status.Hard = quota.Spec.Hard
		for _, obj := range all {
			names, err := d.concerns(specified, obj)
			if err != nil {
				return err
			}
			if len(names) > 0 {
				add(used, mask(d.measure.usage(obj), quota.Spec.Hard))
			}
		}
		return nil
	}
}

// countOthers adds the numbers of objects of all other resources. No scope has them.
func countOthers(ctx context.Context, quota *core.ResourceQuota, used core.ResourceList) error {
	if len(scopesOf(quota)) > 0 {
		return nil
	}
	catalog, err := reach.CatalogFrom(ctx)
	if err != nil {
		return err
	}
	typed := []string{"pods", "services", "persistentvolumeclaims"}
	for _, r := range catalog.Resources() {
		c := counted(r.GroupResource)
		if !r.Namespaced || !r.Stored || ignored[r.GroupResource] ||
			r.Group == "" && slices.Contains(typed, strings.ToLower(r.Resource)) {
			continue
		}
		for name := range quota.Spec.Hard {
			if !c.tracks(name) {
				continue
			}
			number, err := catalog.Count(ctx, r.GroupResource, quota.Namespace)
			if err != nil {
				return err
			}
			used[name] = *resource.NewQuantity(number, resource.DecimalSI)
		}
	}
	return nil
}
