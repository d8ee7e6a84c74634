// Package endpoint is the HTTP of resources: the routes and their verbs, the decoding of bodies and options, the
// answers and the watch streams. It works with resources through verb.Handle, and knows no Go type, no storage and
// no cache. Package filter has what every request passes before it.
//
// A read copies the bytes that a Handle returns. The endpoint decodes and encodes nothing on the way out, except for
// formats that people read (YAML, indented JSON).
//
// It may know packages api, codec, discovery, encoder, negotiation, reach, registry, request, respond, store, trail,
// verb and wire.
package endpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"apigen.dev/runtime/internal/http/discovery"
	"apigen.dev/runtime/internal/http/encoder"
	"apigen.dev/runtime/internal/http/headroom"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is a group whose resources are open.
type Group struct {
	registry.Group
	// Handles are in the order of Group.Resources.
	Handles []verb.Handle
	// Serves reports whether a resource is served in one of its versions; nil serves all.
	Serves func(resource *verb.Info, version string) bool
	// Remotes are the versions that other servers serve, in place of the group's resources.
	Remotes map[string]discovery.Remote
}

// Config configures an API. Only Groups has no default.
type Config struct {
	Groups []Group
	// MaxBodyBytes bounds the body of a request; 0 means 3 MiB, as in kube-apiserver.
	MaxBodyBytes int64
	// MinRequestTimeout is the shortest life, in seconds, of a watch without timeoutSeconds; 0 means 30 min, as in
	// kube-apiserver. A watch lives for a random time between MinRequestTimeout and its double.
	MinRequestTimeout int64
	// WriteTimeout is how long a client may take to read a piece of an answer that has several, or a message of a
	// WebSocket; 0 means a minute. Other writes have the deadlines of the server and its filters.
	WriteTimeout time.Duration
	// User returns the name of the user of a request, whose context it gets. Users share what large bodies may take. If
	// it isn't set, all requests are of one user.
	User func(ctx context.Context) string
	// MayCreate decides whether the user of a request, who may update or patch an object, may create it if it doesn't
	// exist. It returns nil or the error to answer with. If it isn't set, everybody may.
	MayCreate func(r *http.Request) error
	// UnsafeDelete decides whether the user of a request, who may delete an object, may delete it although the server
	// can't read it. It returns nil or the error to answer with. If it isn't set, nobody may.
	UnsafeDelete func(r *http.Request) error
	// Memory refuses large requests when memory is short; nil refuses none.
	Memory *headroom.Account
	// WatchMeter returns what measures the watch that a request begins. If it isn't set, nothing does.
	WatchMeter func(info *request.Info) WatchMeter
	// Log receives the errors whose text the answers leave out; nil means slog.Default().
	Log *slog.Logger
}

// The defaults of Config.
const (
	defaultMaxBodyBytes      = 3 << 20
	defaultMinRequestTimeout = 30 * 60
)

// API is the http.Handler of /api, /apis and /openapi. It is immutable. The caller of New owns the handles, and closes
// them after the last request.
type API struct {
	resources    map[resourceKey]*resource
	documents    *discovery.Documents
	maxBody      int64
	minTimeout   time.Duration
	mayCreate    func(r *http.Request) error // Config.MayCreate
	unsafeDelete func(r *http.Request) error // Config.UnsafeDelete
	// writeTimeout is how long a client may take to read a piece of an answer.
	writeTimeout time.Duration
	// frames are the buffers of answers, streamFrames those of watches.
	frames, streamFrames *encoder.Frames
	// bodies bounds the sum of the sizes of the large bodies that the server works on at once.
	bodies *budget
	user   func(ctx context.Context) string // Config.User
	// converters bounds how many pieces of answers the server converts to YAML at once. A conversion takes forty times
	// the size of its piece in memory, and CPU time: half of the CPUs are left to other requests.
	converters *semaphore.Weighted
	turns      *respond.Turns    // of answers of several pieces, and of the states with which watches begin
	memory     *headroom.Account // Config.Memory
	watchMeter func(info *request.Info) WatchMeter
	log        *slog.Logger
}

// New builds the routes and the documents. It fails if two resources have the same path, or if the description of a
// group is incomplete.
func New(config Config) (*API, error) {
	a := &API{
		maxBody:      cmp.Or(max(config.MaxBodyBytes, 0), defaultMaxBodyBytes),
		minTimeout:   time.Duration(cmp.Or(max(config.MinRequestTimeout, 0), defaultMinRequestTimeout)) * time.Second,
		writeTimeout: cmp.Or(config.WriteTimeout, defaultWriteTimeout),
		mayCreate:    config.MayCreate, unsafeDelete: config.UnsafeDelete,
		frames: encoder.NewFrames(frameSize), streamFrames: encoder.NewFrames(streamFrameSize),
		bodies:     newBudget(maxBodyBytes),
		user:       config.User,
		converters: semaphore.NewWeighted(max(1, int64(runtime.GOMAXPROCS(0)/2))),
		turns:      respond.NewTurns(),
		memory:     config.Memory,
		watchMeter: config.WatchMeter,
		log:        cmp.Or(config.Log, slog.Default()),
	}
	if a.user == nil {
		a.user = func(context.Context) string { return "" }
	}
	if a.watchMeter == nil {
		a.watchMeter = func(*request.Info) WatchMeter { return unmeasured{} }
	}
	if a.unsafeDelete == nil {
		a.unsafeDelete = func(*http.Request) error {
			return apierrors.NewForbidden(schema.GroupResource{}, "",
				errors.New("objects that can't be read are not deleted here"))
		}
	}
	return a, a.route(config.Groups, nil)
}

// LargeAnswers returns how many answers of several pieces are written, and how many wait for their turn.
func (a *API) LargeAnswers() (writing, waiting int) { return a.turns.Count() }

// With returns an API that serves other groups with the buffers and bounds of this one.
func (a *API) With(groups []Group) (*API, error) {
	other := *a
	return &other, other.route(groups, a.resources)
}

// route makes the routes and the documents of groups. Resources that are known already stay what they are: thousands
// are there where a definition adds one.
func (a *API) route(groups []Group, known map[resourceKey]*resource) (err error) {
	a.resources = map[resourceKey]*resource{}
	for _, group := range groups {
		for _, handle := range group.Handles {
			if err := a.add(&group, handle, known); err != nil {
				return err
			}
		}
	}
	a.documents, err = discovery.New(described(groups))
	return err
}

func (a *API) add(group *Group, handle verb.Handle, known map[resourceKey]*resource) error {
	info := handle.Info()
	if info.Group != group.Name {
		return fmt.Errorf("resource %s stands in group %q", info.GroupResource(), group.Name)
	}
	for i := range info.Versions {
		version := &info.Versions[i]
		if version.Unserved || group.Serves != nil && !group.Serves(info, version.Name) {
			continue
		}
		key := resourceKey{info.Group, version.Name, info.Names.Plural}
		if a.resources[key] != nil {
			return fmt.Errorf("resource %s is served twice in version %s", info.GroupResource(), key.version)
		}
		if before := known[key]; before != nil && before.handle == handle && before.version == version {
			a.resources[key] = before
			continue
		}
		a.resources[key] = newResource(handle, version)
	}
	return nil
}

// described returns the groups with the verbs of their resources, which discovery lists.
func described(groups []Group) []discovery.Group {
	out := make([]discovery.Group, len(groups))
	for i := range groups {
		group := &groups[i]
		out[i] = discovery.Group{
			Name: group.Name, Versions: group.Versions, OpenAPI: group.OpenAPI, Swagger: group.Swagger,
			Serves: group.Serves, Remotes: group.Remotes,
		}
		for _, handle := range group.Handles {
			info := handle.Info()
			out[i].Resources = append(out[i].Resources, discovery.Resource{Info: info, Verbs: verbsOf(info)})
		}
	}
	return out
}

// Paths returns the sorted paths of the documents, for an index of the server.
func (a *API) Paths() []string { return a.documents.Paths() }

// ServeHTTP answers a request. It reads the request's Info from its context, and makes one if there is none.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info := request.InfoFrom(r.Context())
	if info == nil {
		var err error
		if info, err = request.New(r, a.LongRunning); err != nil {
			respond.Error(w, r, respond.ErrNotFound)
			return
		}
	}
	var err error
	if info.IsResource {
		err = a.serveResource(w, r, info)
	} else {
		err = a.documents.Serve(w, r, info)
	}
	if err != nil {
		a.writeError(w, r, err)
	}
}

// writeError answers with an error, and logs it if the answer leaves out its text.
func (a *API) writeError(w http.ResponseWriter, r *http.Request, err error) {
	a.logWithheld(r.Context(), err)
	respond.Error(w, r, err)
}

func (a *API) logWithheld(ctx context.Context, err error) {
	if respond.IsWithheld(err) {
		a.log.ErrorContext(ctx, "a request failed", "error", err)
	}
}
