package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/collector"
	"apigen.dev/runtime/internal/http/apigroups"
	"apigen.dev/runtime/internal/http/endpoint"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// table is what a server serves at a moment. It is immutable but for its count of requests; the server swaps it whole,
// so that no request sees a part of two.
type table struct {
	api     *endpoint.API
	index   http.Handler
	paths   []string // those of index
	handles []verb.Handle
	// measured are the handles of stored kinds.
	measured map[schema.GroupResource]store.Measured
	// documents are the OpenAPI v3 documents of versions.
	documents map[schema.GroupVersion]api.Document
	// known are the versions of resources, for metrics.
	known map[resourceName]knownVersion
	// remotes serve versions of groups instead of api.
	remotes map[schema.GroupVersion]http.Handler
	// local are the versions that api serves, remoteResources what remotes serve, and unavailable the remotes that
	// don't answer now. unknown are those of unavailable whose resources were never read.
	local                []LocalVersion
	remoteResources      []reach.Resource
	unavailable, unknown []schema.GroupVersion

	// requests counts those that began with this table, but for watches and connections. After the table was retired,
	// idle is closed when there are none.
	requests atomic.Int64
	retired  atomic.Bool
	once     sync.Once
	idle     chan struct{}
}

// enter counts a request. It returns false if the table was retired: another one is in force.
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

// DynamicAPIs are what a server serves beside the resources of its groups, and what changes while it runs: resources of
// definitions, for example, and versions of groups that other servers serve. Features share the one of their Config.
// They need a server that runs.
type DynamicAPIs struct {
	mu      sync.Mutex // guards the fields below; held while the table changes
	server  *Server
	open    []DynamicResource
	remotes []Remote
	order   []schema.GroupVersion
	// localChanged is closed when the versions that the server serves itself change.
	localChanged chan struct{}
	// changing is closed when the handles of earlier tables are closed.
	changing sync.WaitGroup
}

// DynamicResource is a resource with what describes it. Set opens its handle.
type DynamicResource = apigroups.DynamicResource

// Remote is a version of a group that another server serves.
type Remote = apigroups.Remote

// LocalVersion is a version of a group that the server serves itself.
type LocalVersion struct {
	schema.GroupVersion
	// Added reports whether all resources of the group are dynamic.
	Added bool
}

// errTaken is the error for a resource whose path another one has.
var errTaken = errors.New("the server serves another resource there")

// Set makes the server serve all, and nothing else beside its groups. Resources that were there before stay as they
// are; they are the same where Resource is the same value. The requests that are under way end with the resources that
// they began with, and the watches of resources that are gone end. Set returns why it can't serve some; what it served
// before under their names stays, and otherwise nothing is. After an error, the server serves what it served before.
func (a *DynamicAPIs) Set(ctx context.Context, all []DynamicResource) (refused map[registry.Resource]error, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.server == nil {
		return nil, errors.New("there is no server yet")
	}
	refused = map[registry.Resource]error{}
	var next []DynamicResource
	var opened []verb.Handle
	for _, add := range all {
		at := slices.IndexFunc(a.open, func(o DynamicResource) bool { return o.Resource == add.Resource })
		if at >= 0 {
			next = append(next, a.open[at])
			continue
		}
		handle, err := a.server.openDynamic(ctx, add)
		if err != nil {
			refused[add.Resource] = err
			name := add.Resource.Info().GroupResource()
			named := func(open DynamicResource) bool { return open.Resource.Info().GroupResource() == name }
			at := slices.IndexFunc(a.open, named)
			if at >= 0 {
				next = append(next, a.open[at])
			}
			continue
		}
		opened = append(opened, handle)
		add.Handle = handle
		next = append(next, add)
	}
	var gone []verb.Handle
	for _, before := range a.open {
		if !slices.ContainsFunc(next, func(o DynamicResource) bool { return o.Handle == before.Handle }) {
			gone = append(gone, before.Handle)
		}
	}
	retired, err := a.install(next, a.remotes, a.order)
	if err != nil {
		return nil, errors.Join(err, a.server.closeDynamic(opened))
	}
	a.server.replaced(opened, gone)
	server := a.server
	a.changing.Go(func() {
		<-retired.idle
		if err := server.closeDynamic(gone); err != nil {
			server.config.Log.Warn("closing what is no longer served", "error", err)
		}
	})
	return refused, nil
}

// SetRemotes makes other servers serve remotes, and no other versions. Groups and versions stand in discovery as they
// stand in order; those that it leaves out come last. After an error, the server serves what it served before.
func (a *DynamicAPIs) SetRemotes(remotes []Remote, order []schema.GroupVersion) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.server == nil {
		return errors.New("there is no server yet")
	}
	_, err := a.install(a.open, slices.Clone(remotes), slices.Clone(order))
	return err
}

// Local returns the versions that the server serves itself, also those that a Remote replaces, and a channel that is
// closed when they change.
func (a *DynamicAPIs) Local() (versions []LocalVersion, changed <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.localChanged == nil {
		a.localChanged = make(chan struct{})
	}
	if a.server == nil {
		return nil, a.localChanged
	}
	return slices.Clone(a.server.table.Load().local), a.localChanged
}

// install swaps the table for one with other dynamic resources and remotes, and returns the one before.
func (a *DynamicAPIs) install(open []DynamicResource, remotes []Remote, order []schema.GroupVersion) (*table, error) {
	next, err := a.server.newTable(open, remotes, order)
	if err != nil {
		return nil, err
	}
	a.open, a.remotes, a.order = open, remotes, order
	before := a.server.table.Swap(next)
	before.retire()
	if c := a.server.collector; c != nil {
		c.SetRemotes(collector.Remotes(a.server.joined(nil, garbageCollector)), next.unknown)
	}
	if a.localChanged != nil && !slices.Equal(before.local, next.local) {
		close(a.localChanged)
		a.localChanged = nil
	}
	return before, nil
}

// closeDynamic closes what openDynamic opened. No request uses it.
func (s *Server) closeDynamic(handles []verb.Handle) error {
	var errs []error
	for _, handle := range handles {
		errs = append(errs, handle.Close())
		s.metrics.storage.Forget(handle.Info().Stored())
	}
	return errors.Join(errs...)
}

// close closes what is open. Requests have ended.
func (a *DynamicAPIs) close() error {
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

func (s *Server) openDynamic(ctx context.Context, add DynamicResource) (verb.Handle, error) {
	info := add.Resource.Info()
	for _, handle := range s.handles {
		if handle.Info().GroupResource() == info.GroupResource() {
			return nil, fmt.Errorf("%s: %w", info.GroupResource(), errTaken)
		}
	}
	schemas := ownership.NewSchemas(info.Group, add.OpenAPI)
	alone := registry.NewShared([]registry.Resource{add.Resource})
	handle, err := add.Resource.Open(ctx, s.resourceConfig(info, schemas, alone))
	if err != nil {
		s.metrics.storage.Forget(info.Stored())
	}
	return handle, err
}

// newTable makes a table of the server's groups, of dynamic resources and of remotes.
func (s *Server) newTable(apis []DynamicResource, remotes []Remote, order []schema.GroupVersion) (*table, error) {
	t := &table{
		handles: slices.Clone(s.handles), documents: documents(s.config.Groups), known: map[resourceName]knownVersion{},
		idle: make(chan struct{}), remotes: map[schema.GroupVersion]http.Handler{},
		measured: map[schema.GroupResource]store.Measured{},
	}
	groups, err := apigroups.Join(s.groups, apis)
	if err != nil {
		return nil, err
	}
	t.local = localVersions(s.groups, groups)
	for _, remote := range remotes {
		t.remotes[remote.GroupVersion] = remote.Handler
		t.remoteResources = addRemoteResources(t.remoteResources, remote)
		if !remote.Discovery.IsFresh() {
			t.unavailable = append(t.unavailable, remote.GroupVersion)
			if len(remote.Discovery.Resources()) == 0 {
				t.unknown = append(t.unknown, remote.GroupVersion)
			}
		}
	}
	groups = apigroups.JoinRemotes(groups, remotes)
	apigroups.Order(groups, order)
	if t.api, err = s.api.With(groups); err != nil {
		return nil, err
	}
	for _, add := range apis {
		t.handles = append(t.handles, add.Handle)
	}
	for i := range groups {
		for version, document := range groups[i].OpenAPI {
			t.documents[schema.GroupVersion{Group: groups[i].Name, Version: version}] = document
		}
	}
	for _, handle := range t.handles {
		addKnown(t.known, handle.Info())
		if m, ok := handle.(store.Measured); ok {
			t.measured[handle.Info().GroupResource()] = m
		}
		t.remoteResources = slices.DeleteFunc(t.remoteResources, func(r reach.Resource) bool {
			return r.GroupResource == handle.Info().GroupResource()
		})
	}
	paths := index(t.api, s.paths)
	t.index, t.paths = jsonDocument(paths), paths.Paths
	return t, nil
}

// addRemoteResources adds the resources of a remote version, or the version to resources that are known from others.
func addRemoteResources(all []reach.Resource, remote Remote) []reach.Resource {
	for _, r := range remote.Discovery.Resources() {
		gr := schema.GroupResource{Group: remote.Group, Resource: r.Name}
		at := slices.IndexFunc(all, func(known reach.Resource) bool { return known.GroupResource == gr })
		if at < 0 {
			at, all = len(all), append(all, reach.Resource{
				GroupResource: gr, Kind: r.Kind, Namespaced: r.Namespaced, Verbs: r.Verbs, Remote: true,
			})
		}
		all[at].Versions = append(slices.Clone(all[at].Versions), remote.Version)
	}
	return all
}

// localVersions are those of all groups, which have those of own and others.
func localVersions(own, all []endpoint.Group) (versions []LocalVersion) {
	for i := range all {
		isOwn := func(g endpoint.Group) bool { return g.Name == all[i].Name }
		added := !slices.ContainsFunc(own, isOwn)
		for _, version := range all[i].Versions {
			gv := schema.GroupVersion{Group: all[i].Name, Version: version}
			versions = append(versions, LocalVersion{gv, added})
		}
	}
	return versions
}

// serveAPI serves a request of the API with the table that is in force when it arrives.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	info := request.InfoFrom(r.Context())
	complete := s.complete() // asked before the table is loaded
	for {
		t := s.table.Load()
		if !complete && !t.serves(info) {
			respond.Error(w, r, incomplete())
			return
		}
		if info != nil && info.LongRunning {
			defer s.metrics.requests.Begin(r, info)()
			t.handler(info).ServeHTTP(w, r)
			return
		}
		if t.enter() {
			defer t.leave()
			t.handler(info).ServeHTTP(w, r)
			return
		}
	}
}

// complete reports whether the table has all that hooks install at the start: definitions of resources, and versions
// that other servers serve.
func (s *Server) complete() bool {
	if s.config.DynamicAPIs == nil || s.installed.Load() {
		return true
	}
	for _, h := range s.hooks {
		select {
		case <-h.started:
		default:
			return false
		}
	}
	s.installed.Store(true)
	return true
}

// incomplete is the answer, in kube-apiserver's words, to a request for what the server may serve a moment later. A
// client that got 404 would believe that there is no such resource, and might delete what depends on it.
func incomplete() error {
	err := apierrors.NewServiceUnavailable(
		"the request has been made before all known HTTP paths have been installed, please retry")
	err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 5}
	return err
}

// serves reports whether the table has the resource or the path of a request.
func (t *table) serves(info *request.Info) bool {
	if info == nil {
		return true // the API answers that it can't read the path
	}
	if t.remotes[versionOf(info.Path)] != nil {
		return true
	}
	if info.IsResource {
		_, known := t.known[resourceName{info.Group, info.Version, info.Resource}]
		return known
	}
	return slices.Contains(t.paths, strings.TrimSuffix(info.Path, "/"))
}

// handler returns what serves a request. No path that another server could read differently is passed on to it.
func (t *table) handler(info *request.Info) http.Handler {
	if len(t.remotes) == 0 || info == nil || info.Irregular {
		return t.api
	}
	if remote := t.remotes[versionOf(info.Path)]; remote != nil {
		return remote
	}
	return t.api
}

// versionOf returns the version of a group that a path is in, or that it describes in OpenAPI v3.
func versionOf(path string) (gv schema.GroupVersion) {
	below, ok := strings.CutPrefix(strings.TrimPrefix(path, "/openapi/v3"), "/"+request.GroupsRoot+"/")
	if !ok {
		return gv
	}
	gv.Group, below, _ = strings.Cut(below, "/")
	gv.Version, _, _ = strings.Cut(below, "/")
	return gv
}

// longRunning is request.New's function for the table that is in force.
func (s *Server) longRunning(info *request.Info) bool {
	t := s.table.Load()
	if t.remotes[schema.GroupVersion{Group: info.Group, Version: info.Version}] == nil {
		return t.api.LongRunning(info)
	}
	return info.Verb == request.VerbProxy || slices.Contains(connections, info.Subresource)
}

// connections are the subresources of other servers whose requests last as long as their clients want, as in
// kube-apiserver.
var connections = []string{"attach", "exec", "log", "portforward", "proxy"}
