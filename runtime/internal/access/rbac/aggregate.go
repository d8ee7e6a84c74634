package rbac

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"apigen.dev/runtime/reach"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// aggregator is the field manager of rules that are gathered from other roles.
const aggregator = "clusterrole-aggregation-controller"

// aggregateRetry is how long Aggregate waits after a write failed.
const aggregateRetry = time.Second

// Aggregate keeps the rules of ClusterRoles with an aggregationRule equal to those of the roles that its selectors
// select, until ctx ends. Several servers may do so at the same time: a role that has its rules isn't written.
func Aggregate(ctx context.Context) error {
	objects, err := reach.Of[*rbacv1.ClusterRole](ctx)
	if err != nil {
		return err
	}
	known := &knownRoles{byName: map[string]*rbacv1.ClusterRole{}}
	changed := make(chan struct{}, 1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var following sync.WaitGroup
	defer following.Wait()
	following.Go(func() {
		cancel(objects.Follow(ctx, "", func(c reach.Changes[*rbacv1.ClusterRole]) {
			known.apply(c)
			notify(changed)
		}))
	})
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if known.write(ctx, objects) != nil {
			time.AfterFunc(aggregateRetry, func() { notify(changed) })
		}
	}
}

// notify tells the reader of a channel that something changed, unless it has been told already.
func notify(changed chan<- struct{}) {
	select {
	case changed <- struct{}{}:
	default:
	}
}

// knownRoles are all ClusterRoles as far as an aggregator knows them.
type knownRoles struct {
	mu     sync.Mutex // guards byName
	byName map[string]*rbacv1.ClusterRole
}

func (k *knownRoles) apply(c reach.Changes[*rbacv1.ClusterRole]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.Reset {
		clear(k.byName)
	}
	for _, r := range c.Put {
		k.byName[r.Name] = r
	}
	for _, r := range c.Deleted {
		delete(k.byName, r.Name)
	}
}

// write writes the rules of all roles that lack some or have others.
func (k *knownRoles) write(ctx context.Context, objects reach.Objects[*rbacv1.ClusterRole]) error {
	k.mu.Lock()
	all := slices.SortedFunc(maps.Values(k.byName), func(a, b *rbacv1.ClusterRole) int {
		return cmp.Compare(a.Name, b.Name)
	})
	k.mu.Unlock()
	return writeAggregated(ctx, objects, all)
}

// aggregatePasses bounds how many roles gather rules from one another in a row.
const aggregatePasses = 8

// writeAggregated writes the aggregated ones of all roles, which are sorted by their names and which it brings up to
// date: again and again, since roles gather the rules of aggregated roles, too. It tries all of them, and returns the
// first error.
func writeAggregated(
	ctx context.Context, objects reach.Objects[*rbacv1.ClusterRole], all []*rbacv1.ClusterRole,
) (failure error) {
	for written, pass := true, 0; written && failure == nil && pass < aggregatePasses; pass++ {
		written = false
		for i, r := range all {
			rules, ok := gather(r, all)
			if !ok || equality.Semantic.DeepEqual(rules, r.Rules) {
				continue
			}
			written = true
			now, err := writeRules(ctx, objects, r, rules)
			if err == nil {
				all[i] = now
			} else if !apierrors.IsNotFound(err) {
				failure = cmp.Or(failure, err)
			}
		}
	}
	return failure
}

// applier applies configurations to roles: an typedclient.Client.
type applier interface {
	Apply(
		ctx context.Context, namespace, name string, how reach.Write, configuration []byte,
	) (*rbacv1.ClusterRole, error)
}

// writeRules writes the rules of a role, unless it gathers others meanwhile. It applies them by server-side apply, as
// kube-controller-manager does, so that managedFields has the same entry. To apply no rules leaves those of other
// managers: an update removes these.
func writeRules(
	ctx context.Context, objects reach.Objects[*rbacv1.ClusterRole], known *rbacv1.ClusterRole,
	rules []rbacv1.PolicyRule,
) (*rbacv1.ClusterRole, error) {
	applied, ok := objects.(applier)
	for now := known; ok && equality.Semantic.DeepEqual(now.AggregationRule, known.AggregationRule); {
		written, err := applyRules(ctx, applied, now, rules)
		if err != nil && !apierrors.IsConflict(err) {
			return nil, err
		}
		if err == nil && equality.Semantic.DeepEqual(written.Rules, rules) {
			return written, nil
		}
		if err == nil {
			break
		}
		if now, err = objects.Get(ctx, "", known.Name); err != nil {
			return nil, err
		}
	}
	return objects.Update(ctx, "", known.Name, reach.Write{Manager: aggregator}, setRules(known, rules))
}

// applyRules applies the rules of a role. It fails with a conflict if the role has changed.
func applyRules(
	ctx context.Context, objects applier, known *rbacv1.ClusterRole, rules []rbacv1.PolicyRule,
) (*rbacv1.ClusterRole, error) {
	configuration := map[string]any{
		"apiVersion": rbacv1.SchemeGroupVersion.String(), "kind": "ClusterRole",
		"metadata": map[string]any{
			"name": known.Name, "uid": known.UID, "resourceVersion": known.ResourceVersion,
		},
	}
	if len(rules) > 0 {
		configuration["rules"] = rules
	}
	data, err := json.Marshal(configuration)
	if err != nil {
		return nil, err
	}
	return objects.Apply(ctx, "", known.Name, reach.Write{Manager: aggregator}, data)
}

// setRules returns a function that sets the rules of a role, unless it gathers others meanwhile.
func setRules(known *rbacv1.ClusterRole, rules []rbacv1.PolicyRule) func(*rbacv1.ClusterRole) error {
	return func(now *rbacv1.ClusterRole) error {
		if equality.Semantic.DeepEqual(now.AggregationRule, known.AggregationRule) {
			now.Rules = rules
		}
		return nil
	}
}

// gather returns the rules of the roles that the selectors of a role select: each rule once, in the order of the
// selectors and of the roles' names. It returns false for a role that gathers none.
func gather(r *rbacv1.ClusterRole, all []*rbacv1.ClusterRole) (rules []rbacv1.PolicyRule, ok bool) {
	if r.AggregationRule == nil {
		return nil, false
	}
	known := map[string]bool{}
	for i := range r.AggregationRule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&r.AggregationRule.ClusterRoleSelectors[i])
		if err != nil {
			return nil, false // validation refuses such a selector
		}
		for _, other := range all {
			if other.Name == r.Name || !selector.Matches(labels.Set(other.Labels)) {
				continue
			}
			for j := range other.Rules {
				if key := describeRule(&other.Rules[j]); !known[key] {
					known[key] = true
					rules = append(rules, other.Rules[j])
				}
			}
		}
	}
	return rules, true
}
