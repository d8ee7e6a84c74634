package apiregistration

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"

	"apigen.dev/runtime/auth"
	v1 "apigen.dev/runtime/builtin/apiregistration/v1"
	"apigen.dev/runtime/internal/http/proxy"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/server"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// manager is the field manager of the controller's writes.
const manager = "kube-apiserver"

// controller serves what APIServices say.
type controller struct {
	apis        *server.DynamicAPIs
	resolve     proxy.Resolve
	certificate getCertificate
	log         *slog.Logger
	metrics     *metrics
	first       chan struct{} // closed when the APIServices that were there at the start are served
	once        sync.Once
	// wake tells the registrar that APIServices have changed.
	wake chan struct{}

	mu    sync.Mutex // guards known, and is held while the table of the server changes
	known map[string]*entry
}

// entry is an APIService. Its object is never changed.
type entry struct {
	object *v1.APIService
	remote *remote // nil for a version that the server serves itself
}

func newController(
	apis *server.DynamicAPIs, resolve proxy.Resolve, certificate getCertificate, log *slog.Logger,
) *controller {
	return &controller{
		apis: apis, resolve: resolve, certificate: certificate, log: log, metrics: newMetrics(),
		first: make(chan struct{}), wake: make(chan struct{}, 1), known: map[string]*entry{},
	}
}

func (c *controller) awaitFirst(ctx context.Context) error {
	select {
	case <-c.first:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run follows APIServices until ctx ends.
func (c *controller) run(ctx context.Context) error {
	objects, err := reach.Of[*v1.APIService](ctx)
	if err != nil {
		return err
	}
	var working sync.WaitGroup
	defer working.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	working.Go(func() { (&registrar{c, objects, map[string]bool{}, false}).run(ctx) })
	err = objects.Follow(ctx, "", func(changes reach.Changes[*v1.APIService]) {
		c.observe(ctx, &working, objects, changes)
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.known {
		e.close()
	}
	return err
}

// observe takes over changes, and serves the result.
func (c *controller) observe(
	ctx context.Context, working *sync.WaitGroup, objects reach.Objects[*v1.APIService],
	changes reach.Changes[*v1.APIService],
) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gone := changes.Deleted
	if changes.Reset {
		for name, e := range c.known {
			if !slices.ContainsFunc(changes.Put, func(s *v1.APIService) bool { return s.Name == name }) {
				gone = append(gone, e.object)
			}
		}
	}
	for _, object := range gone {
		if e := c.known[object.Name]; e != nil {
			e.close()
			delete(c.known, object.Name)
		}
	}
	for _, object := range changes.Put {
		c.put(ctx, working, objects, object)
	}
	c.serve()
	c.once.Do(func() { close(c.first) })
	select {
	case c.wake <- struct{}{}:
	default: // the registrar looks anyway
	}
}

// put takes over an APIService. A server that is called in the same way as before keeps its connections.
func (c *controller) put(
	ctx context.Context, working *sync.WaitGroup, objects reach.Objects[*v1.APIService], object *v1.APIService,
) {
	before := c.known[object.Name]
	if before != nil && before.object.UID == object.UID && reflect.DeepEqual(calls(before.object), calls(object)) {
		c.known[object.Name] = &entry{object, before.remote}
		return
	}
	if before != nil {
		before.close()
	}
	e := &entry{object: object}
	c.known[object.Name] = e
	if object.IsLocal() {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	e.remote = newRemote(c, object, stop)
	if before != nil && before.remote != nil && before.object.UID == object.UID {
		e.remote.documents.Store(before.remote.documents.Load().carried())
	}
	working.Go(func() { e.remote.run(ctx, objects) })
}

// calls is what of an APIService says how its server is called.
func calls(object *v1.APIService) v1.APIServiceSpec {
	spec := object.Spec
	spec.GroupPriorityMinimum, spec.VersionPriority = 0, 0
	return spec
}

func (e *entry) close() {
	if e.remote != nil {
		e.remote.close()
	}
}

// serve makes the server serve what is known. The caller holds mu.
func (c *controller) serve() {
	all := make([]*v1.APIService, 0, len(c.known))
	for _, e := range c.known {
		all = append(all, e.object)
	}
	// kube-aggregator lists its own group first.
	order := []schema.GroupVersion{{Group: v1.GroupName, Version: "v1"}}
	var remotes []server.Remote
	for _, group := range v1.ByPriority(all) {
		for _, object := range group {
			gv := schema.GroupVersion{Group: object.Spec.Group, Version: object.Spec.Version}
			order = append(order, gv)
			if remote := c.known[object.Name].remote; remote != nil && gv.Group != "" && !auth.Governs(gv.Group) {
				documents := remote.documents.Load()
				remotes = append(remotes, server.Remote{
					GroupVersion: gv, Handler: remote, Discovery: documents.discovery, OpenAPI: documents.openAPI,
				})
			}
		}
	}
	if err := c.apis.SetRemotes(remotes, order); err != nil {
		c.log.Error("API services can't be served", "error", err)
	}
}

// refresh serves new documents of a remote.
func (c *controller) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serve()
}
