package flowcontrol

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"apigen.dev/runtime/builtin/flowcontrol/preset"
	"apigen.dev/runtime/internal/flow"
	"apigen.dev/runtime/internal/flow/class"
	"apigen.dev/runtime/reach"
	"golang.org/x/sync/errgroup"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// consumer is the field manager of the status of schemas.
const consumer = "api-priority-and-fairness-config-consumer-v1"

// statusRetry is how long the follower waits after it failed to write a status.
const statusRetry = time.Second

// follower puts the objects of the group in force, and writes into the status of each schema whether its level exists.
// It runs in every server; a status that is right isn't written.
type follower struct {
	controller *flow.Controller

	mu      sync.Mutex // guards the fields below
	levels  map[string]*flowcontrolv1.PriorityLevelConfiguration
	schemas map[string]*flowcontrolv1.FlowSchema
	// complete has which kinds were read in full. The first configuration has all objects.
	complete struct{ levels, schemas bool }
	// begun: all suggested objects have been there.
	begun bool
}

// objects are schemas and the levels that they name.
type objects struct {
	levels  []*flowcontrolv1.PriorityLevelConfiguration
	schemas []*flowcontrolv1.FlowSchema
}

// suggested is what kube-apiserver would begin with. Each of them holds until all are there, which the first server
// creates, and where the group isn't served.
func suggested() objects { return objects{preset.SuggestedLevels(), preset.SuggestedSchemas()} }

// use puts objects in force.
func (f *follower) use(all objects) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.levels, f.schemas = byName(all.levels), byName(all.schemas)
	return f.configure(objects{})
}

func byName[T metav1.Object](objects []T) map[string]T {
	named := make(map[string]T, len(objects))
	for _, object := range objects {
		named[object.GetName()] = object
	}
	return named
}

// configure puts the known objects in force, and those of others that aren't known. Where a mandatory one is missing,
// it is as if it were there.
func (f *follower) configure(others objects) error {
	levels, schemas := byName(others.levels), byName(others.schemas)
	maps.Copy(levels, f.levels)
	maps.Copy(schemas, f.schemas)
	for _, level := range preset.MandatoryLevels() {
		if _, usable := f.level(level.Name); !usable {
			levels[level.Name] = level
		}
	}
	for _, schema := range preset.MandatorySchemas() {
		if schemas[schema.Name] == nil {
			schemas[schema.Name] = schema
		}
	}
	var all []flow.Level
	for _, object := range levels {
		if l, usable := levelOf(object); usable {
			all = append(all, l)
		}
	}
	var rules []*class.Schema
	for _, object := range schemas {
		rules = append(rules, schemaOf(object))
	}
	return f.controller.Configure(all, rules)
}

// level returns a level if it exists and can be used.
func (f *follower) level(name string) (flow.Level, bool) {
	object := f.levels[name]
	if object == nil {
		return flow.Level{}, false
	}
	return levelOf(object)
}

// run follows the objects until ctx ends.
func (f *follower) run(ctx context.Context) error {
	levels, schemas, served := kindsOf(ctx)
	if !served {
		return nil // the suggested objects stay
	}
	changed := make(chan struct{}, 1)
	var working errgroup.Group
	working.Go(func() error {
		return levels.Follow(ctx, "", func(c reach.Changes[*flowcontrolv1.PriorityLevelConfiguration]) {
			f.mu.Lock()
			defer f.mu.Unlock()
			take(f.levels, c)
			f.complete.levels = true
			signal(changed)
		})
	})
	working.Go(func() error {
		return schemas.Follow(ctx, "", func(c reach.Changes[*flowcontrolv1.FlowSchema]) {
			f.mu.Lock()
			defer f.mu.Unlock()
			take(f.schemas, c)
			f.complete.schemas = true
			signal(changed)
		})
	})
	working.Go(func() error { return f.settle(ctx, schemas, changed) })
	return working.Wait()
}

// take brings objects by their names up to date.
func take[T metav1.Object](objects map[string]T, c reach.Changes[T]) {
	if c.Reset {
		clear(objects)
	}
	for _, object := range c.Deleted {
		delete(objects, object.GetName())
	}
	for _, object := range c.Put {
		objects[object.GetName()] = object
	}
}

func signal(changed chan<- struct{}) {
	select {
	case changed <- struct{}{}:
	default: // one is on the way
	}
}

// settle puts the objects in force after each change, and writes statuses, until ctx ends.
func (f *follower) settle(
	ctx context.Context, schemas reach.Objects[*flowcontrolv1.FlowSchema], changed chan struct{},
) error {
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
		wrong, err := f.apply()
		if err != nil {
			return err
		}
		for name, condition := range wrong {
			if writeStatus(ctx, schemas, name, condition) != nil {
				time.AfterFunc(statusRetry, func() { signal(changed) })
				break
			}
		}
	}
}

// apply puts the objects in force. It returns the conditions that schemas should have, and don't.
func (f *follower) apply() (map[string]flowcontrolv1.FlowSchemaCondition, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.complete.levels || !f.complete.schemas {
		return nil, nil
	}
	if err := f.configure(f.awaited()); err != nil {
		return nil, err
	}
	wrong := map[string]flowcontrolv1.FlowSchemaCondition{}
	for name, schema := range f.schemas {
		level := schema.Spec.PriorityLevelConfiguration.Name
		_, exists := f.level(level)
		if want := dangling(level, exists); !hasCondition(schema, want) {
			wrong[name] = want
		}
	}
	return wrong, nil
}

// awaited returns the suggested objects until all of them have been there once: without them, requests that arrive
// while a new store is filled would be of the level catch-all, which refuses them.
func (f *follower) awaited() objects {
	all := suggested()
	f.begun = f.begun || knows(f.levels, all.levels) && knows(f.schemas, all.schemas)
	if f.begun {
		return objects{}
	}
	return all
}

// knows reports whether there are objects of all these names.
func knows[T metav1.Object](known map[string]T, wanted []T) bool {
	return !slices.ContainsFunc(wanted, func(object T) bool {
		_, there := known[object.GetName()]
		return !there
	})
}

// dangling returns the condition of a schema whose level exists or doesn't, in the words of kube-apiserver.
func dangling(level string, exists bool) flowcontrolv1.FlowSchemaCondition {
	const text = "This FlowSchema references the PriorityLevelConfiguration object named %q "
	c := flowcontrolv1.FlowSchemaCondition{Type: flowcontrolv1.FlowSchemaConditionDangling}
	if exists {
		c.Status, c.Reason = flowcontrolv1.ConditionFalse, "Found"
		c.Message = fmt.Sprintf(text+"and it exists", level)
	} else {
		c.Status, c.Reason = flowcontrolv1.ConditionTrue, "NotFound"
		c.Message = fmt.Sprintf(text+"but there is no such object", level)
	}
	return c
}

func hasCondition(schema *flowcontrolv1.FlowSchema, want flowcontrolv1.FlowSchemaCondition) bool {
	return slices.ContainsFunc(schema.Status.Conditions, func(c flowcontrolv1.FlowSchemaCondition) bool {
		c.LastTransitionTime = metav1.Time{}
		return c == want
	})
}

// writeStatus puts a condition into the status of a schema.
func writeStatus(
	ctx context.Context, schemas reach.Objects[*flowcontrolv1.FlowSchema], name string,
	want flowcontrolv1.FlowSchemaCondition,
) error {
	how := reach.Write{Subresource: "status", Manager: consumer}
	_, err := schemas.Update(ctx, "", name, how, func(schema *flowcontrolv1.FlowSchema) error {
		if hasCondition(schema, want) {
			return nil
		}
		want.LastTransitionTime = metav1.Now()
		conditions := schema.Status.Conditions
		same := func(c flowcontrolv1.FlowSchemaCondition) bool { return c.Type == want.Type }
		at := slices.IndexFunc(conditions, same)
		if at < 0 {
			schema.Status.Conditions = append(conditions, want)
		} else {
			conditions[at] = want
		}
		return nil
	})
	if apierrors.IsNotFound(err) {
		return nil // its deletion is on the way
	}
	return err
}
