package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/apigroups"
	"apigen.dev/runtime/endpoint"
	"apigen.dev/runtime/ownership"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// table is what a server serves at a moment. It is immutable but for its count of requests; the server swaps it whole,
// so that no request sees a part of two.
type table struct {
	api     *endpoint.API
	index   http.Handler
	handles []registry.Handle
	// documents are the OpenAPI v3 documents of versions.
	documents map[schema.GroupVersion]api.Document
	// known are the subresources of each resource.
	known map[resourceName][]string

	// requests counts those that began with this table, but for watches and connections. After the table was retired,
	// idle is closed when there are none.
	requests atomic.Int64
	retired  atomic.Bool
	once     sync.Once
	idle     chan struct{}
}

// enter counts a request. It returns false where the table was retired: another one is in force.
func (t *table) enter() bool {
	t.requests.Add(1)
	if t.retired.Load() {
		t.leave()
		return false
	}
	return true
}

func (t *table) leave() {
	if t.requests.Add(-1) == 0 && t.retired.Load() {
		t.once.Do(func() { close(t.idle) })
	}
}

func (t *table) retire() {
	t.retired.Store(true)
	if t.requests.Load() == 0 {
		t.once.Do(func() { close(t.idle) })
	}
}

// Additions are resources that a server serves beside those of its groups, and that change while it runs: of
// definitions, for example. A feature puts one into its Config. Set needs a server that runs.
type Additions struct {
	mu     sync.Mutex // guards the fields below; held while the table changes
	server *Server
	open   []Addition
	// changing is closed when the handles of earlier tables are closed.
	changing sync.WaitGroup
}

// Addition is a resource with what describes it. Set opens its handle.
type Addition = apigroups.Addition

// ErrTaken is the error for a resource whose path another one has.
var ErrTaken = errors.New("the server serves another resource there")

// Set makes the server serve all, and nothing else beside its groups. Resources that were there before stay as they
// are; they are the same where Resource is the same value. The requests that are under way end with the resources that
// they began with, and the watches of resources that are gone end. Set leaves out what it can't serve, and returns why.
// After an error, the server serves what it served before.
func (a *Additions) Set(ctx context.Context, all []Addition) (refused map[registry.Resource]error, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.server == nil {
		return nil, errors.New("there is no server yet")
	}
	refused = map[registry.Resource]error{}
	var next []Addition
	var opened []registry.Handle
	for _, add := range all {
		at := slices.IndexFunc(a.open, func(o Addition) bool { return o.Resource == add.Resource })
		if at >= 0 {
			next = append(next, a.open[at])
			continue
		}
		handle, err := a.server.openAddition(ctx, add)
		if err != nil {
			refused[add.Resource] = err
			continue
		}
		opened = append(opened, handle)
		add.Handle = handle
		next = append(next, add)
	}
	var gone []registry.Handle
	for _, before := range a.open {
		if !slices.ContainsFunc(next, func(o Addition) bool { return o.Handle == before.Handle }) {
			gone = append(gone, before.Handle)
		}
	}
	retired, err := a.server.install(next)
	if err != nil {
		return nil, errors.Join(err, closeAll(opened))
	}
	a.open = next
	a.server.replaced(opened, gone)
	log := a.server.config.Log
	a.changing.Go(func() {
		<-retired.idle
		if err := closeAll(gone); err != nil {
			log.Warn("closing what is no longer served", "error", err)
		}
	})
	return refused, nil
}

func closeAll(handles []registry.Handle) error {
	var errs []error
	for _, handle := range handles {
		errs = append(errs, handle.Close())
	}
	return errors.Join(errs...)
}

// close closes what is open. Requests have ended.
func (a *Additions) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changing.Wait()
	var errs []error
	for _, o := range a.open {
		errs = append(errs, o.Handle.Close())
	}
	a.open, a.server = nil, nil
	return errors.Join(errs...)
}

func (s *Server) openAddition(ctx context.Context, add Addition) (registry.Handle, error) {
	info := add.Resource.Info()
	for _, handle := range s.handles {
		if handle.Info().GroupResource() == info.GroupResource() {
			return nil, fmt.Errorf("%s: %w", info.GroupResource(), ErrTaken)
		}
	}
	schemas := ownership.NewSchemas(info.Group, add.OpenAPI)
	alone := registry.NewShared([]registry.Resource{add.Resource})
	return add.Resource.Open(ctx, s.resourceConfig(info, schemas, alone))
}

// install swaps the table for one with additions, and returns the one before.
func (s *Server) install(additions []Addition) (*table, error) {
	next, err := s.newTable(additions)
	if err != nil {
		return nil, err
	}
	before := s.table.Swap(next)
	before.retire()
	return before, nil
}

// newTable makes a table of the server's groups and of additions.
func (s *Server) newTable(additions []Addition) (*table, error) {
	t := &table{
		handles: slices.Clone(s.handles), documents: documents(s.config.Groups), known: map[resourceName][]string{},
		idle: make(chan struct{}),
	}
	groups, err := apigroups.Join(s.groups, additions)
	if err != nil {
		return nil, err
	}
	if t.api, err = s.api.With(groups); err != nil {
		return nil, err
	}
	for _, add := range additions {
		t.handles = append(t.handles, add.Handle)
	}
	for i := range groups {
		for version, document := range groups[i].OpenAPI {
			t.documents[schema.GroupVersion{Group: groups[i].Name, Version: version}] = document
		}
	}
	for _, handle := range t.handles {
		addKnown(t.known, handle.Info())
	}
	t.index = jsonDocument(index(t.api, s.paths))
	return t, nil
}

// ServeHTTP serves a request of the API with the table that is in force when it arrives.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	for {
		t := s.table.Load()
		if info := request.InfoFrom(r.Context()); info != nil && info.LongRunning {
			t.api.ServeHTTP(w, r)
			return
		}
		if t.enter() {
			defer t.leave()
			t.api.ServeHTTP(w, r)
			return
		}
	}
}

// longRunning is request.New's function for the table that is in force.
func (s *Server) longRunning(info *request.Info) bool { return s.table.Load().api.LongRunning(info) }
