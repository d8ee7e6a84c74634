package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"apigen.dev/runtime/reach"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// emptier empties the namespaces that are being deleted, each for itself: none waits for another, or for a server that
// has nothing of it. Every replica has an emptier; what another one has done already is not an error.
type emptier struct {
	log *slog.Logger
	// wake is sent to when a namespace was looked at.
	wake    chan<- struct{}
	working sync.WaitGroup
	// slots bounds the work at once: on what the server itself has, and on each group of other servers.
	slots slots

	mu sync.Mutex // guards the fields below
	// looks has the namespaces that were looked at, or are.
	looks map[string]look
}

// look is the last look at a namespace, which may not have ended.
type look struct {
	running, gone bool
	// due is when the namespace is looked at again, and pause how long after the last look.
	due   time.Time
	pause time.Duration
}

func newEmptier(log *slog.Logger, wake chan<- struct{}) *emptier {
	return &emptier{log: log, wake: wake, looks: map[string]look{}}
}

// The shortest and the longest time between two looks at a namespace.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 15 * time.Second
)

// all begins to look at the namespaces that are being deleted and due, and returns when the next one is.
func (e *emptier) all(ctx context.Context, f *Feature) time.Duration {
	names := f.names(false)
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, last := range e.looks {
		if !last.running && !slices.Contains(names, name) {
			delete(e.looks, name)
		}
	}
	next := again
	for _, name := range names {
		last := e.looks[name]
		if last.running {
			continue // its end wakes
		}
		if wait := time.Until(last.due); wait > 0 {
			next = min(next, wait)
			continue
		}
		e.looks[name] = look{running: true, gone: last.gone, pause: last.pause}
		e.working.Go(func() { e.look(ctx, name) })
	}
	return next
}

// look looks at a namespace.
func (e *emptier) look(ctx context.Context, name string) {
	gone, err := e.empty(ctx, name)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		e.log.WarnContext(ctx, "a namespace could not be emptied", "namespace", name, "error", err)
	}
	e.mu.Lock()
	before := e.looks[name]
	pause := min(max(2*before.pause, firstPause), lastPause)
	if gone && !before.gone { // another namespace of the name may come soon
		pause = firstPause
	}
	e.looks[name] = look{gone: gone, due: time.Now().Add(pause), pause: pause}
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default: // it is awake
	}
}

// empty deletes the content of a namespace, and lets the namespace go once there is none. It reports whether
// that was done.
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
	left, err := e.deleteContent(ctx, name)
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
	mu sync.Mutex // guards the fields below while the content is deleted
	// objects counts those of each resource, finalizers those of them that have a finalizer.
	objects    map[string]int64
	finalizers map[string]int64
	failures   []string
	// unknown are the versions of other servers that can't be asked what they have.
	unknown []string
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
			strings.Join(c.failures[:min(len(c.failures), maxListed)], ", "))
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

// The bounds of what a condition repeats of the words of other servers.
const (
	maxListed = 50
	maxWords  = 500
)

// shortened returns the beginning of a text that is too long for a condition.
func shortened(text string) string {
	if len(text) <= maxWords {
		return text
	}
	return strings.ToValidUTF8(text[:maxWords], "") + "..."
}

func listed(counts map[string]int64, format string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if len(all) == maxListed {
			all = append(all, fmt.Sprintf("and %d more", len(counts)-maxListed))
			break
		}
		all = append(all, fmt.Sprintf(format, shortened(name), counts[name]))
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

// setConditions reports whether it changed a condition.
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
