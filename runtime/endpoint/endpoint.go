// Package endpoint is the HTTP of resources: routes and verbs, content negotiation, decoding of bodies, watch streams,
// tables, discovery and OpenAPI. It speaks to resources through registry.Handle and knows no Go type, no storage and no
// cache. What every request passes before it comes here is package filter's.
//
// What is read is written as the bytes that a Handle gives: nothing is decoded or encoded on the way out, but for people
// (YAML, pretty). Which verb a request is stands in two tables: the routes of resources, and the documents of all else.
package endpoint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/registry"
	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is a group whose resources are open.
type Group struct {
	registry.Group
	// Handles are in the order of Group.Resources.
	Handles []registry.Handle
	// Serves tells whether a resource is served in one of its versions; nil serves all.
	Serves func(resource *api.Info, version string) bool
}

// Config is what New needs.
type Config struct {
	Groups []Group
	// MaxBodyBytes bounds a request's body; 0 is 3 MiB, as kube-apiserver's.
	MaxBodyBytes int64
	// MinRequestTimeout bounds how long a watch without timeoutSeconds lives, at least; 0 is 30 min, as
	// kube-apiserver's --min-request-timeout. The actual bound is random between it and its double.
	MinRequestTimeout int64 // seconds
	// UnsafeDelete decides whether the user of a request may delete an object that can't be read, in addition to being
	// allowed to delete it: nil where they may, else the status to answer with. Where it isn't set nobody may.
	UnsafeDelete func(r *http.Request) error
	// Log hears of failures that clients are told no more of than that; nil is slog.Default().
	Log *slog.Logger
}

// The defaults of Config.
const (
	defaultMaxBodyBytes      = 3 << 20
	defaultMinRequestTimeout = 30 * 60
)

// API serves /api, /apis and /openapi/v3: an http.Handler. It is immutable; the handles that it was given stay their
// owner's, who closes them after the last request.
type API struct {
	resources  map[resourceKey]*resource
	documents  map[string]document
	maxBody    int64
	minTimeout time.Duration
	// unsafeDelete is Config.UnsafeDelete.
	unsafeDelete func(r *http.Request) error
	// writeTimeout is how long a client may leave a piece of an answer unread.
	writeTimeout time.Duration
	pools        pools
	// bodies bounds the bytes of large bodies that are worked on at once.
	bodies *semaphore.Weighted
	// converters bounds how many answers are turned into YAML at once.
	converters *semaphore.Weighted
	log        *slog.Logger
}

// New computes routes and documents. It fails where two resources claim one path, or a group's description is
// incomplete.
func New(config Config) (*API, error) {
	a := &API{
		resources:    map[resourceKey]*resource{},
		maxBody:      config.MaxBodyBytes,
		minTimeout:   time.Duration(config.MinRequestTimeout) * time.Second,
		writeTimeout: defaultWriteTimeout,
		unsafeDelete: config.UnsafeDelete,
		pools:        newPools(),
		bodies:       semaphore.NewWeighted(maxBodyBytes),
		converters:   converters(),
		log:          config.Log,
	}
	if a.log == nil {
		a.log = slog.Default()
	}
	if a.maxBody <= 0 {
		a.maxBody = defaultMaxBodyBytes
	}
	if a.unsafeDelete == nil {
		a.unsafeDelete = func(*http.Request) error {
			return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("objects that can't be read are not deleted here"))
		}
	}
	if a.minTimeout <= 0 {
		a.minTimeout = defaultMinRequestTimeout * time.Second
	}
	for _, group := range config.Groups {
		for _, handle := range group.Handles {
			if err := a.add(&group, handle); err != nil {
				return nil, err
			}
		}
	}
	documents, err := documentsOf(config.Groups)
	if err != nil {
		return nil, err
	}
	a.documents = documents
	return a, nil
}

// add makes the routes of one resource.
func (a *API) add(group *Group, handle registry.Handle) error {
	info := handle.Info()
	if info.Group != group.Name {
		return fmt.Errorf("resource %s stands in group %q", info.GroupResource(), group.Name)
	}
	for i := range info.Versions {
		if !group.has(info, info.Versions[i].Name) {
			continue
		}
		key := resourceKey{info.Group, info.Versions[i].Name, info.Names.Plural}
		if a.resources[key] != nil {
			return fmt.Errorf("resource %s is served twice in version %s", info.GroupResource(), key.version)
		}
		a.resources[key] = newResource(handle, &info.Versions[i])
	}
	return nil
}

// has tells whether a resource is served in a version.
func (g *Group) has(info *api.Info, version string) bool {
	return info.Version(version) != nil && (g.Serves == nil || g.Serves(info, version))
}

// ServeHTTP answers requests that carry a RequestInfo. Where there is none it is read from the request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info := RequestInfoFrom(r.Context())
	if info == nil {
		var err error
		if info, err = ParseRequestInfo(r); err != nil {
			WriteStatus(w, r, errNoRoute)
			return
		}
	}
	var err error
	if info.IsResource {
		err = a.serveResource(w, r, info)
	} else {
		err = a.serveDocument(w, r, info)
	}
	if err != nil {
		a.writeError(w, r, err)
	}
}

// writeError answers with an error, and logs what the answer withholds.
func (a *API) writeError(w http.ResponseWriter, r *http.Request, err error) {
	a.tell(r.Context(), err)
	WriteStatus(w, r, err)
}

func (a *API) tell(ctx context.Context, err error) {
	if isWithheld(err) {
		a.log.ErrorContext(ctx, "a request failed", "error", err)
	}
}
