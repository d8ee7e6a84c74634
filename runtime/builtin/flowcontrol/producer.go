package flowcontrol

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/builtin/flowcontrol/preset"
	"apigen.dev/runtime/reach"
	"golang.org/x/sync/errgroup"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// producer is the field manager of the objects that the server keeps.
	producer = "api-priority-and-fairness-config-producer-v1"
	// maintenance is how often the objects are looked after.
	maintenance = time.Minute
	// ensureRetry and ensureTime are how often and how long storage is tried before a server gives up.
	ensureRetry = time.Second
	ensureTime  = 5 * time.Minute
)

// ensure makes the objects that a server begins with. It does nothing where the group isn't served.
func ensure(ctx context.Context) error {
	bound, cancel := context.WithTimeout(ctx, ensureTime)
	defer cancel()
	for {
		err := keepAll(bound)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(ensureRetry):
		case <-bound.Done():
			return fmt.Errorf("unable to initialize flow schemas and priority levels: %w", err)
		}
	}
}

// maintain looks after the objects in every minute in which one has changed, until ctx ends. An error is mended a
// minute later.
func maintain(ctx context.Context) error {
	levels, schemas, served := kindsOf(ctx)
	if !served {
		return nil
	}
	var changed atomic.Bool
	working, ctx := errgroup.WithContext(ctx)
	working.Go(func() error {
		return levels.Follow(ctx, "", func(reach.Changes[*flowcontrolv1.PriorityLevelConfiguration]) {
			changed.Store(true)
		})
	})
	working.Go(func() error {
		return schemas.Follow(ctx, "", func(reach.Changes[*flowcontrolv1.FlowSchema]) { changed.Store(true) })
	})
	working.Go(func() error {
		tick := time.NewTicker(maintenance)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if changed.Swap(false) && keepAll(ctx) != nil {
					changed.Store(true)
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	return working.Wait()
}

// kindsOf returns the objects of both kinds, and whether they are served.
func kindsOf(ctx context.Context) (
	levels reach.Objects[*flowcontrolv1.PriorityLevelConfiguration], schemas reach.Objects[*flowcontrolv1.FlowSchema],
	served bool,
) {
	levels, errLevels := reach.Of[*flowcontrolv1.PriorityLevelConfiguration](ctx)
	schemas, errSchemas := reach.Of[*flowcontrolv1.FlowSchema](ctx)
	return levels, schemas, errLevels == nil && errSchemas == nil
}

// keepAll brings the objects up to date: first the suggested ones, then the mandatory ones, and then it deletes those
// that earlier servers kept and that are no more.
func keepAll(ctx context.Context) error {
	levels, schemas, served := kindsOf(ctx)
	if !served {
		return nil
	}
	return errors.Join(
		keep(ctx, levels, preset.SuggestedLevels(), false, adjustLevel),
		keep(ctx, schemas, preset.SuggestedSchemas(), false, adjustSchema),
		keep(ctx, levels, preset.MandatoryLevels(), true, adjustLevel),
		keep(ctx, schemas, preset.MandatorySchemas(), true, adjustSchema),
		drop(ctx, schemas, append(preset.MandatorySchemas(), preset.SuggestedSchemas()...)),
		drop(ctx, levels, append(preset.MandatoryLevels(), preset.SuggestedLevels()...)),
	)
}

// errUpToDate is how an object tells that it needs no update.
var errUpToDate = errors.New("the object is as it should be")

// keep creates the objects that are missing, and adjusts those that the server keeps.
func keep[T metav1.Object](
	ctx context.Context, objects reach.Objects[T], wanted []T, mandatory bool,
	adjust func(now, wanted T) (changed bool),
) error {
	how := reach.Write{Manager: producer}
	for _, object := range wanted {
		_, err := objects.Update(ctx, "", object.GetName(), how, func(now T) error {
			mine := mandatory || isKept(now)
			marked := mark(now, mine)
			if changed := mine && adjust(now, object); !changed && !marked {
				return errUpToDate
			}
			return nil
		})
		if apierrors.IsNotFound(err) {
			_, err = objects.Create(ctx, object, how)
		}
		if err != nil && !errors.Is(err, errUpToDate) && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("%s: %w", object.GetName(), err)
		}
	}
	return nil
}

// isKept reports whether the server keeps the spec of an object: its annotation says so, or it has none that says
// something, and nobody has changed the spec.
func isKept(object metav1.Object) bool {
	kept, err := strconv.ParseBool(object.GetAnnotations()[flowcontrolv1.AutoUpdateAnnotationKey])
	if err != nil {
		return object.GetGeneration() == 1
	}
	return kept
}

// mark annotates an object with whether the server keeps its spec, and reports whether it didn't have that annotation.
func mark(object metav1.Object, kept bool) (changed bool) {
	annotations := object.GetAnnotations()
	known, err := strconv.ParseBool(annotations[flowcontrolv1.AutoUpdateAnnotationKey])
	if err == nil && known == kept {
		return false
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[flowcontrolv1.AutoUpdateAnnotationKey] = strconv.FormatBool(kept)
	object.SetAnnotations(annotations)
	return true
}

func adjustSchema(now, wanted *flowcontrolv1.FlowSchema) (changed bool) {
	if equality.Semantic.DeepEqual(now.Spec, wanted.Spec) {
		return false
	}
	wanted.Spec.DeepCopyInto(&now.Spec)
	return true
}

// adjustLevel leaves the seats of the exempt level to administrators.
func adjustLevel(now, wanted *flowcontrolv1.PriorityLevelConfiguration) (changed bool) {
	spec := wanted.Spec.DeepCopy()
	if spec.Exempt != nil && now.Spec.Exempt != nil {
		spec.Exempt = now.Spec.Exempt.DeepCopy()
	}
	if equality.Semantic.DeepEqual(now.Spec, *spec) {
		return false
	}
	now.Spec = *spec
	return true
}

// drop deletes objects that a server kept, and that are not wanted.
func drop[T metav1.Object](ctx context.Context, objects reach.Objects[T], wanted []T) error {
	names := map[string]bool{}
	for _, object := range wanted {
		names[object.GetName()] = true
	}
	all, err := objects.List(ctx, "", nil)
	if err != nil {
		return err
	}
	for _, object := range all {
		kept, err := strconv.ParseBool(object.GetAnnotations()[flowcontrolv1.AutoUpdateAnnotationKey])
		if names[object.GetName()] || err != nil || !kept {
			continue
		}
		uid := object.GetUID()
		same := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}
		if err := objects.Delete(ctx, "", object.GetName(), same); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
