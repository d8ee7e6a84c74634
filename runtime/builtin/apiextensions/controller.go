package apiextensions

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	v1 "apigen.dev/runtime/builtin/apiextensions/v1"
	"apigen.dev/runtime/builtin/apiextensions/wiring"
	"apigen.dev/runtime/internal/custom/dynamic"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// definition is the kind that the controller follows.
type definition = apiextensionsv1.CustomResourceDefinition

// manager is the field manager of the controller's writes.
const manager = "kube-apiserver"

// controller serves what definitions define, and keeps their status.
type controller struct {
	apis     *server.DynamicAPIs
	log      *slog.Logger
	services server.Services
	template dynamic.Template
	first    chan struct{} // closed when the definitions that were there at the start are served
	once     sync.Once
	working  sync.WaitGroup
	// again has something when there are unfinished definitions.
	again chan struct{}

	mu sync.Mutex // held while changes are taken over; guards the fields below
	// cleaning are the definitions whose objects are being deleted, by uid.
	cleaning map[types.UID]bool
	known    map[string]*entry   // by name
	served   []registry.Resource // what the server serves of them; nil where that isn't known
	// unfinished are the names of definitions for which something could not be done, which may be possible later.
	unfinished map[string]bool
}

// entry is what the controller keeps of a definition.
type entry struct {
	name, group string
	uid         types.UID
	kind        *dynamic.Kind // nil while it isn't served
	// generation and names are those of the definition that kind was made of.
	generation int64
	names      apiextensionsv1.CustomResourceDefinitionNames
	accepted   apiextensionsv1.CustomResourceDefinitionNames
}

func newController(apis *server.DynamicAPIs, services server.Services, log *slog.Logger) *controller {
	return &controller{
		apis: apis, services: services, template: template(),
		log: cmp.Or(log, slog.Default()), first: make(chan struct{}), again: make(chan struct{}, 1),
		cleaning: map[types.UID]bool{}, known: map[string]*entry{}, unfinished: map[string]bool{},
	}
}

func template() dynamic.Template {
	group := wiring.Group()
	return dynamic.NewTemplate(group.OpenAPI["v1"], group.Swagger)
}

func (c *controller) awaitFirst(ctx context.Context) error {
	select {
	case <-c.first:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run follows definitions until ctx ends.
func (c *controller) run(ctx context.Context) error {
	defer c.working.Wait()
	definitions, err := reach.Of[*definition](ctx)
	if err != nil {
		return err
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	c.working.Go(func() { c.repeat(following, definitions) })
	return definitions.Follow(ctx, "", func(changes reach.Changes[*definition]) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.observe(ctx, definitions, changes)
	})
}

// repeat looks again at unfinished definitions until ctx ends. It waits longer each time, as long as some are left.
func (c *controller) repeat(ctx context.Context, definitions reach.Objects[*definition]) {
	for {
		select {
		case <-c.again:
		case <-ctx.Done():
			return
		}
		for wait, left := pause, true; left; wait = min(2*wait, time.Minute) {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return
			}
			left = c.finish(ctx, definitions)
		}
	}
}

// finish looks again at unfinished definitions, and reports whether some are left.
func (c *controller) finish(ctx context.Context, definitions reach.Objects[*definition]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	unfinished := c.unfinished
	c.unfinished = map[string]bool{}
	var changes reach.Changes[*definition]
	for name := range unfinished {
		crd, err := definitions.Get(ctx, "", name)
		switch {
		case err == nil:
			changes.Put = append(changes.Put, crd)
		case !apierrors.IsNotFound(err):
			c.unfinished[name] = true
		}
	}
	c.observe(ctx, definitions, changes)
	return len(c.unfinished) > 0
}

// observe takes over changes, serves the result, and then writes what changed about the status of definitions. What it
// can't do now makes the definition unfinished.
func (c *controller) observe(
	ctx context.Context, definitions reach.Objects[*definition], changes reach.Changes[*definition],
) {
	if changes.Reset {
		there := map[string]bool{}
		for _, crd := range changes.Put {
			there[crd.Name] = true
		}
		maps.DeleteFunc(c.known, func(name string, _ *entry) bool { return !there[name] })
	}
	freed := map[string]bool{} // groups in which names may be free now
	for _, crd := range changes.Deleted {
		if e := c.known[crd.Name]; e != nil {
			freed[e.group] = true
			delete(c.known, crd.Name)
			delete(c.cleaning, e.uid)
		}
	}
	look := map[string]*definition{}
	for _, crd := range changes.Put {
		look[crd.Name] = crd
		if c.put(crd) {
			freed[crd.Spec.Group] = true
		}
	}
	if len(freed) > 0 {
		c.lookAgain(ctx, definitions, freed, look)
	}
	statuses := map[string]*definition{}
	for _, name := range slices.Sorted(maps.Keys(look)) {
		if next := c.judge(look[name]); next != nil {
			statuses[name] = next
		}
	}
	refused, complete := c.serve(ctx)
	for _, name := range slices.Sorted(maps.Keys(statuses)) {
		c.write(ctx, definitions, statuses[name], refused[name])
	}
	if complete {
		c.once.Do(func() { close(c.first) })
	}
	for _, crd := range look {
		c.clean(ctx, definitions, crd)
	}
	if len(c.unfinished) > 0 {
		select {
		case c.again <- struct{}{}:
		default: // it is known
		}
	}
}

// lookAgain adds the definitions of groups whose names aren't all accepted.
func (c *controller) lookAgain(
	ctx context.Context, definitions reach.Objects[*definition], groups map[string]bool, look map[string]*definition,
) {
	for name, e := range c.known {
		if !groups[e.group] || look[name] != nil {
			continue
		}
		crd, err := definitions.Get(ctx, "", name)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			c.unfinished[name] = true
			continue
		}
		if !v1.IsTrue(crd, apiextensionsv1.NamesAccepted) {
			look[name] = crd
		}
	}
}

// put records a definition under the names that it has, and reports whether it had others before.
func (c *controller) put(crd *definition) (renamed bool) {
	e := c.known[crd.Name]
	if e == nil || e.uid != crd.UID {
		e = &entry{name: crd.Name, group: crd.Spec.Group, uid: crd.UID}
		c.known[crd.Name] = e
	}
	renamed = e.accepted.Kind != "" && !reflect.DeepEqual(e.accepted, crd.Status.AcceptedNames)
	e.accepted = *crd.Status.AcceptedNames.DeepCopy()
	return renamed
}

// judge returns the definition with the status that it should have, or nil if it has that. It makes the kind of what
// is accepted.
func (c *controller) judge(crd *definition) *definition {
	e := c.known[crd.Name]
	next := &definition{TypeMeta: crd.TypeMeta, ObjectMeta: crd.ObjectMeta, Spec: crd.Spec} // Spec is only read
	crd.Status.DeepCopyInto(&next.Status)
	changed := c.acceptNames(next)
	changed = judgeStructure(next) || changed
	changed = judgeApproval(next) || changed
	e.accepted = *next.Status.AcceptedNames.DeepCopy()
	if v1.IsTrue(next, apiextensionsv1.NamesAccepted) && !v1.IsTrue(next, apiextensionsv1.Established) {
		changed = v1.SetCondition(next, establish(next)) || changed
	}
	if v1.IsTrue(next, apiextensionsv1.Established) {
		c.make(e, next)
	}
	if e.kind != nil {
		e.kind.Terminating.Store(next.DeletionTimestamp != nil)
	}
	if !changed {
		return nil
	}
	return next
}

// establish returns the condition Established of a definition whose names are accepted.
func establish(crd *definition) apiextensionsv1.CustomResourceDefinitionCondition {
	condition := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue, Reason: "InitialNamesAccepted",
		Message: "the initial names have been accepted",
	}
	if err := v1.BundleFault(crd); err != nil {
		condition.Status, condition.Reason = apiextensionsv1.ConditionFalse, "InvalidCABundle"
		condition.Message = "The conversion webhook CABundle is invalid: " + err.Error()
	}
	return condition
}

// make makes the kind of a definition, unless it would be the same as before.
func (c *controller) make(e *entry, crd *definition) {
	if e.kind == nil || e.generation != crd.Generation || !reflect.DeepEqual(e.names, crd.Status.AcceptedNames) {
		var convert dynamic.Converter
		if hook := newWebhook(crd, c.services, c.log); hook != nil {
			convert = hook
		}
		kind, err := dynamic.New(crd, convert, c.template)
		if err != nil {
			c.log.Error("a definition can't be served", "name", crd.Name, "error", err)
			return
		}
		e.kind, e.generation, e.names = kind, crd.Generation, *crd.Status.AcceptedNames.DeepCopy()
	}
}

// serve makes the server serve what is known, and returns why it does not serve some, by name, and whether it knows of
// all whether they can be served. It has nothing to do where only the status of definitions changed.
func (c *controller) serve(ctx context.Context) (refused map[string]error, complete bool) {
	var all []server.DynamicResource
	var resources []registry.Resource
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.known)) {
		if kind := c.known[name].kind; kind != nil {
			all = append(all, server.DynamicResource{
				Resource: kind.Resource, OpenAPI: kind.OpenAPI, Swagger: kind.Swagger,
			})
			resources = append(resources, kind.Resource)
			names[kind.Resource.Info().GroupResource().String()] = name
		}
	}
	if slices.Equal(resources, c.served) {
		return nil, true
	}
	left, err := c.apis.Set(ctx, all)
	if c.served = nil; err == nil && len(left) == 0 {
		c.served = resources
	}
	if err != nil {
		c.log.Error("custom resources can't be served", "error", err)
	}
	refused, complete = map[string]error{}, true
	for resource, err := range left {
		name := names[resource.Info().GroupResource().String()]
		refused[name] = err
		if isTransient(err) {
			c.unfinished[name], complete = true, false
		}
		c.log.Error("a custom resource can't be served", "name", name, "error", err)
	}
	return refused, complete
}

// isTransient reports whether an error says nothing of the definition, because storage could not be asked.
func isTransient(err error) bool {
	return errors.Is(err, storage.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// write writes the status of a definition, unless the definition changed since. What can't be served isn't established;
// where nobody knows whether it can, there is nothing to write.
func (c *controller) write(
	ctx context.Context, definitions reach.Objects[*definition], next *definition, refused error,
) {
	if isTransient(refused) {
		return
	}
	if refused != nil {
		v1.SetCondition(next, apiextensionsv1.CustomResourceDefinitionCondition{
			Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse, Reason: "NotServed",
			Message: refused.Error(),
		})
	}
	how := reach.Write{Subresource: "status", Manager: manager}
	_, err := definitions.Update(ctx, "", next.Name, how, func(crd *definition) error {
		if crd.ResourceVersion != next.ResourceVersion {
			return errChanged // it comes again
		}
		crd.Status = next.Status
		return nil
	})
	switch {
	case err == nil, errors.Is(err, errChanged), apierrors.IsNotFound(err), apierrors.IsConflict(err), ctx.Err() != nil:
	default:
		c.unfinished[next.Name] = true
		c.log.Warn("the status of a definition can't be written", "name", next.Name, "error", err)
	}
}

// pause is how long the controller waits between looks at what a deletion left.
const pause = time.Second
