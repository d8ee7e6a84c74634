package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/reach"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// emptier empties the namespaces that are being deleted. Every replica has one; what another one has done already is no
// error.
type emptier struct {
	log *slog.Logger
	// due is when a namespace is looked at again, and pauses how long after the last look.
	due    map[string]time.Time
	pauses map[string]time.Duration
}

func newEmptier(log *slog.Logger) *emptier {
	return &emptier{log: log, due: map[string]time.Time{}, pauses: map[string]time.Duration{}}
}

// The shortest and the longest time between two looks at a namespace.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 15 * time.Second
)

// all looks at the namespaces that are being deleted and due, and returns when the next one is.
func (e *emptier) all(ctx context.Context, f *Feature) time.Duration {
	names := f.names(false)
	for name := range e.due {
		if !slices.Contains(names, name) {
			delete(e.due, name)
			delete(e.pauses, name)
		}
	}
	next := again
	for _, name := range names {
		if wait := time.Until(e.due[name]); wait > 0 {
			next = min(next, wait)
			continue
		}
		gone, err := e.empty(ctx, name)
		if ctx.Err() != nil {
			return again
		}
		if err != nil {
			e.log.WarnContext(ctx, "a namespace could not be emptied", "namespace", name, "error", err)
		}
		if !gone {
			pause := min(max(2*e.pauses[name], firstPause), lastPause)
			e.pauses[name], e.due[name] = pause, time.Now().Add(pause)
			next = min(next, pause)
		}
	}
	return next
}

// empty deletes the content of a namespace, and lets the namespace go once there is none. It tells whether that was
// done.
func (e *emptier) empty(ctx context.Context, name string) (gone bool, err error) {
	namespaces, err := reach.Of[*core.Namespace](ctx)
	if err != nil {
		return false, err
	}
	namespace, err := namespaces.Get(ctx, "", name)
	if apierrors.IsNotFound(err) || err == nil && (namespace.DeletionTimestamp == nil ||
		!slices.Contains(namespace.Spec.Finalizers, core.FinalizerKubernetes)) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	left, err := deleteContent(ctx, name)
	if err := left.report(ctx, namespaces, namespace); err != nil {
		return false, err
	}
	if err != nil || len(left.objects) > 0 || len(left.failures) > 0 || len(left.unknown) > 0 {
		return false, err
	}
	return true, finalize(ctx, namespaces, namespace)
}

// finalize removes the finalizer of a namespace that is empty.
func finalize(
	ctx context.Context, namespaces reach.Objects[*core.Namespace], namespace *core.Namespace,
) error {
	_, err := namespaces.Update(ctx, "", namespace.Name, reach.Write{Subresource: "finalize"},
		func(now *core.Namespace) error {
			if now.UID != namespace.UID {
				return errAnother
			}
			now.Spec.Finalizers = slices.DeleteFunc(now.Spec.Finalizers, func(finalizer core.FinalizerName) bool {
				return finalizer == core.FinalizerKubernetes
			})
			return nil
		})
	if errors.Is(err, errAnother) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

var errAnother = errors.New("another namespace has the name now")

// content is what is left in a namespace.
type content struct {
	// objects counts those of each resource, finalizers those of them that have a finalizer.
	objects    map[string]int64
	finalizers map[string]int64
	failures   []string
	// unknown are the versions of other servers that can't be asked what they have.
	unknown []string
}

// deleteContent deletes what is in a namespace, and returns what is left.
func deleteContent(ctx context.Context, namespace string) (*content, error) {
	left := &content{objects: map[string]int64{}, finalizers: map[string]int64{}}
	catalog, err := reach.CatalogFrom(ctx)
	if err != nil {
		return left, err
	}
	for _, version := range catalog.Unknown() {
		left.unknown = append(left.unknown, fmt.Sprintf("%s: stale GroupVersion discovery: %[1]s", version))
	}
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &background}
	for _, r := range catalog.Resources() {
		if !r.Namespaced || !r.SameAs.Empty() || !slices.Contains(r.Verbs, "delete") ||
			!slices.Contains(r.Verbs, "list") {
			continue
		}
		if err := left.empty(ctx, catalog, r, namespace, options); err != nil {
			if ctx.Err() != nil {
				return left, ctx.Err()
			}
			left.failures = append(left.failures, err.Error())
		}
	}
	return left, nil
}

// empty deletes the objects of one resource.
func (c *content) empty(
	ctx context.Context, catalog reach.Catalog, r reach.Resource, namespace string, options metav1.DeleteOptions,
) error {
	count, err := catalog.Count(ctx, r.GroupResource, namespace)
	if err != nil || count == 0 {
		return err
	}
	if err := catalog.DeleteAll(ctx, r.GroupResource, namespace, options); err != nil {
		return err
	}
	count, finalizers, err := catalog.Finalizers(ctx, r.GroupResource, namespace)
	if err != nil || count == 0 {
		return err
	}
	c.objects[r.Resource+"."+r.Group] = count
	for name, n := range finalizers {
		c.finalizers[name] += n
	}
	return nil
}

// condition is one that says whether something keeps a namespace.
type condition struct {
	kind                core.NamespaceConditionType
	reason, message     string
	okReason, okMessage string
}

// conditions are those of kube-controller-manager, in its words.
func (c *content) conditions() []condition {
	undiscovered, failed, remaining, finalizers := "", "", "", ""
	if len(c.unknown) > 0 {
		slices.Sort(c.unknown)
		undiscovered = fmt.Sprintf("Discovery failed for some groups, %d failing: unable to retrieve the complete "+
			"list of server APIs: %s", len(c.unknown), strings.Join(c.unknown, ", "))
	}
	if len(c.failures) > 0 {
		slices.Sort(c.failures)
		failed = fmt.Sprintf("Failed to delete all resource types, %d remaining: %v", len(c.failures),
			strings.Join(c.failures, ", "))
	}
	if len(c.objects) > 0 {
		remaining = "Some resources are remaining: " + listed(c.objects, "%s has %d resource instances")
	}
	if len(c.finalizers) > 0 {
		finalizers = "Some content in the namespace has finalizers remaining: " +
			listed(c.finalizers, "%s in %d resource instances")
	}
	return []condition{
		{core.NamespaceDeletionDiscoveryFailure, "DiscoveryFailed", undiscovered, "ResourcesDiscovered",
			"All resources successfully discovered"},
		{core.NamespaceDeletionGVParsingFailure, "GroupVersionParsingFailed", "", "ParsedGroupVersions",
			"All legacy kube types successfully parsed"},
		{core.NamespaceDeletionContentFailure, "ContentDeletionFailed", failed, "ContentDeleted",
			"All content successfully deleted, may be waiting on finalization"},
		{core.NamespaceContentRemaining, "SomeResourcesRemain", remaining, "ContentRemoved",
			"All content successfully removed"},
		{core.NamespaceFinalizersRemaining, "SomeFinalizersRemain", finalizers, "ContentHasNoFinalizers",
			"All content-preserving finalizers finished"},
	}
}

func listed(counts map[string]int64, format string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf(format, name, counts[name]))
	}
	return strings.Join(all, ", ")
}

// report writes what is left into the conditions of a namespace, unless they say it already.
func (c *content) report(
	ctx context.Context, namespaces reach.Objects[*core.Namespace], namespace *core.Namespace,
) error {
	if !c.setConditions(namespace.DeepCopy()) {
		return nil
	}
	_, err := namespaces.Update(ctx, "", namespace.Name, reach.Write{Subresource: "status"},
		func(now *core.Namespace) error {
			if now.UID != namespace.UID {
				return errAnother
			}
			now.Status.Phase = core.NamespaceTerminating
			c.setConditions(now)
			return nil
		})
	if errors.Is(err, errAnother) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// setConditions tells whether it changed a condition.
func (c *content) setConditions(namespace *core.Namespace) (changed bool) {
	for _, is := range c.conditions() {
		next := core.NamespaceCondition{
			Type: is.kind, Status: core.ConditionTrue, Reason: is.reason, Message: is.message,
			LastTransitionTime: metav1.Now(),
		}
		if is.message == "" {
			next.Status, next.Reason, next.Message = core.ConditionFalse, is.okReason, is.okMessage
		}
		all := namespace.Status.Conditions
		i := slices.IndexFunc(all, func(old core.NamespaceCondition) bool { return old.Type == is.kind })
		if i < 0 {
			namespace.Status.Conditions, changed = append(all, next), true
			continue
		}
		if all[i].Status == next.Status {
			next.LastTransitionTime = all[i].LastTransitionTime
		}
		if all[i] != next {
			all[i], changed = next, true
		}
	}
	return changed
}
