// Package server runs API groups as a process: it opens their resources on a backend, puts the filters in front of the
// endpoint, serves TLS, metrics and health checks, and shuts down. Main is what the main of a generated program calls.
//
// It may know all packages of the runtime except the embedded etcd, which a main passes in if it wants it.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/collector"
	"apigen.dev/runtime/internal/http/apigroups"
	"apigen.dev/runtime/internal/http/endpoint"
	"apigen.dev/runtime/internal/http/filter"
	"apigen.dev/runtime/internal/http/gather"
	"apigen.dev/runtime/internal/http/headroom"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/state/compactor"
	"apigen.dev/runtime/internal/state/stats"
	"apigen.dev/runtime/internal/typedclient"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Server is an API server. New opens its resources; Run serves, and closes them.
type Server struct {
	config Config
	// handles are those of the configuration's groups.
	handles []verb.Handle
	// groups are those of the configuration, with handles, and plugins and metrics are for all resources.
	groups  []endpoint.Group
	plugins *admission.Chain
	metrics *metrics
	// table is what the server serves now. api has the groups of the configuration alone.
	table atomic.Pointer[table]
	api   *endpoint.API
	// memory is nil if the process has no memory limit.
	memory *headroom.Account
	// paths are served beside the API.
	paths map[string]http.Handler
	drain *filter.Drain
	http  *http.Server
	// collector is nil if the server doesn't collect garbage.
	collector *collector.Collector
	hooks     []*running
	// installed is set once everything is served that hooks install at the start.
	installed atomic.Bool
	// ending is closed when the server begins to shut down.
	ending chan struct{}
	// base is the context of all requests; it reaches the objects of the server.
	base     context.Context
	loopback *Loopback
}

// New opens the resources and builds the handler. It serves nothing yet. ctx bounds the opening. After an error, New
// leaves open only what config has brought.
func New(ctx context.Context, config Config) (*Server, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	config = withDefaults(config)
	s := &Server{
		config: config, drain: filter.NewDrain(config.Ending), ending: make(chan struct{}), loopback: new(Loopback),
		memory: headroom.New(isMaster),
	}
	metrics := newMetrics(config)
	s.metrics = metrics
	var err error
	if s.config.Groups, err = apigroups.Unite(config.Groups); err != nil {
		return nil, err
	}
	if s.hooks, err = newHooks(config.Hooks); err != nil {
		return nil, err
	}
	if s.groups, err = s.open(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if config.Garbage == CollectGarbage {
		s.collector = collector.New(s.handles, config.Log)
		metrics.registry.MustRegister(collectGarbage(s.collector))
	}
	s.api, err = endpoint.New(endpoint.Config{
		Groups: s.groups, MinRequestTimeout: int64(config.MinRequestTimeout / time.Second),
		MayCreate: filter.MayCreate(config.Authorizer), UnsafeDelete: filter.MayDeleteUnreadable(config.Authorizer),
		Log: config.Log, WriteTimeout: config.RequestTimeout, User: userName,
		Memory:     s.memory,
		WatchMeter: func(info *request.Info) endpoint.WatchMeter { return metrics.requests.Watch(info) },
	})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	metrics.registry.MustRegister(stats.Collect(s.collectLargeAnswers), stats.Collect(s.memory.Collect))
	reached, err := typedclient.Reachable(s.handles)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	inside := reach.WithCatalog(reach.With(context.Background(), reached), s.catalog())
	s.base = auth.WithAccess(inside, &auth.Access{
		Tokens: auth.Bearer(s.authentication().Tokens), Audiences: config.Audiences, Authorizer: config.Authorizer,
		Issuer: config.Issuer,
	})
	root := s.root(metrics)
	first, err := s.newTable(nil, nil, nil)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.table.Store(first)
	metrics.table = s.table.Load
	s.http = &http.Server{
		BaseContext: func(net.Listener) context.Context { return s.base },
		Handler:     s.chain(root, metrics, s.longRunning),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return auth.ConnContext(respond.WithAnnouncer(ctx, gather.Below(c)), c)
		},
		TLSConfig:         tlsConfig(config),
		ReadHeaderTimeout: 32 * time.Second,
		WriteTimeout:      writeTimeout(config.RequestTimeout),
		IdleTimeout:       90 * time.Second,
		MaxHeaderBytes:    1 << 20,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: config.MaxStreams, MaxReceiveBufferPerStream: 256 << 10,
			WriteByteTimeout: writeTimeout(config.RequestTimeout),
		},
		ErrorLog: log.New(httpErrorLog{config.Log}, "", 0),
	}
	s.loopback.connect(s)
	if config.DynamicAPIs != nil {
		config.DynamicAPIs.server = s
	}
	return s, nil
}

// answerTime is how long the client may take to read the answer that its request took too long.
const answerTime = 5 * time.Second

// writeTimeout returns the time from a request's header to the last byte of its answer. It bounds every answer, those
// of requests without credentials, too; answers in pieces and long-running requests replace it by a bound of each
// write.
func writeTimeout(requestTimeout time.Duration) time.Duration {
	return requestTimeout + min(requestTimeout, answerTime)
}

// userName returns the name of the user of a request.
func userName(ctx context.Context) string {
	if user := auth.UserFrom(ctx); user != nil {
		return user.Name
	}
	return ""
}

// isMaster reports whether the user of a request is in system:masters, who must be able to find out what is wrong.
func isMaster(ctx context.Context) bool {
	user := auth.UserFrom(ctx)
	return user != nil && slices.Contains(user.Groups, auth.Masters)
}

// catalog returns what the server serves at the time of a question.
func (s *Server) catalog() reach.Catalog {
	own := typedclient.Catalog[verb.Handle]{
		Handles:   func() []verb.Handle { return s.table.Load().handles },
		Documents: func() map[schema.GroupVersion]api.Document { return s.table.Load().documents },
	}
	if s.config.DynamicAPIs == nil {
		return own
	}
	return s.joined(own, namespaceController)
}

// joined returns a catalog with the resources of other servers at the time of a question. It asks them as a user.
func (s *Server) joined(own reach.Catalog, user *auth.User) typedclient.Joined {
	return typedclient.Joined{
		Catalog: own, Remote: func() []reach.Resource { return s.table.Load().remoteResources }, Host: s.config.URL(),
		Unavailable: func() []schema.GroupVersion { return s.table.Load().unavailable },
		Client:      &http.Client{Transport: acting{s, user}},
	}
}

// documents returns the OpenAPI v3 documents of groups.
func documents(groups []registry.Group) map[schema.GroupVersion]api.Document {
	all := map[schema.GroupVersion]api.Document{}
	for _, group := range groups {
		for version, document := range group.OpenAPI {
			all[schema.GroupVersion{Group: group.Name, Version: version}] = document
		}
	}
	return all
}

// open binds every resource to the backend.
func (s *Server) open(ctx context.Context) ([]endpoint.Group, error) {
	enabled, err := apigroups.NewSwitches(s.config.RuntimeConfig, s.config.Groups)
	if err != nil {
		return nil, err
	}
	if err := checkPrefixes(s.config.Groups); err != nil {
		return nil, err
	}
	var groups []endpoint.Group
	var all []registry.Resource
	schemas := &ownership.Schemas{}
	for _, group := range s.config.Groups {
		schemas.Add(group.Name, group.OpenAPI)
		all = append(all, group.Resources...)
		if open := enabled.Narrow(group); len(open.Versions) > 0 {
			groups = append(groups, open)
		}
	}
	if s.plugins, err = s.config.plugins(s.metrics); err != nil {
		return nil, err
	}
	shared := registry.NewShared(all)
	for i := range groups {
		open := &groups[i]
		for _, resource := range open.Resources {
			handle, err := resource.Open(ctx, s.resourceConfig(resource.Info(), schemas, shared))
			if err != nil {
				return nil, err
			}
			open.Handles = append(open.Handles, handle)
			s.handles = append(s.handles, handle)
		}
	}
	return groups, nil
}

// resourceConfig is the configuration of a resource.
func (s *Server) resourceConfig(
	info *verb.Info, schemas *ownership.Schemas, shared *registry.Shared,
) registry.Config {
	stored := info.Stored()
	config := registry.Config{
		Backend: s.metrics.storage.Backend(s.config.Backend, stored), Prefix: s.config.Prefix,
		DisableCache: s.config.DisableCache, CheckCache: s.config.CheckCache, CompressCache: s.config.CompressCache,
		Log: s.config.Log, Verify: s.config.Verify, Schemas: schemas, Shared: shared,
		IgnorePropagation: s.config.Garbage == IgnoreGarbage, Encoding: s.config.StorageEncoding,
		AfterWrite: s.config.AfterWrite[info.GroupResource()], Admission: s.plugins,
	}
	if life, ok := s.config.TimeToLive[info.GroupResource()]; ok {
		config.TimeToLive = &life
	}
	if transformer := s.config.Transformer; transformer != nil {
		config.Transformer = transformer(stored.GroupResource())
	}
	return config
}

// replaced tells those that follow resources which ones are new, and which are gone.
func (s *Server) replaced(opened, gone []verb.Handle) {
	if s.collector != nil {
		s.collector.Replace(opened, gone)
	}
	for _, handle := range gone {
		s.metrics.forget(handle.Info())
	}
}

// checkPrefixes refuses resources whose storage prefixes contain one another, unless they are the same objects.
func checkPrefixes(groups []registry.Group) error {
	var stored []*verb.Info
	var errs []error
	for _, group := range groups {
		for _, resource := range group.Resources {
			info := resource.Info().Stored()
			if info.Storage == "" {
				continue
			}
			for _, other := range stored {
				if other.GroupResource() == info.GroupResource() {
					continue
				}
				keys, taken := info.StoragePrefix+"/", other.StoragePrefix+"/"
				if strings.HasPrefix(keys, taken) || strings.HasPrefix(taken, keys) {
					errs = append(errs, fmt.Errorf("the keys of %s, below %s, would be among those of %s, below %s: "+
						"give one another +apigen:storagePrefix",
						info.GroupResource(), keys, other.GroupResource(), taken))
				}
			}
			stored = append(stored, info)
		}
	}
	return errors.Join(errs...)
}

func (s *Server) close() error {
	var errs []error
	if s.config.DynamicAPIs != nil {
		errs = append(errs, s.config.DynamicAPIs.close())
	}
	for _, handle := range s.handles {
		errs = append(errs, handle.Close())
	}
	return errors.Join(errs...)
}

// URL returns the address of the server.
func (s *Server) URL() string { return s.config.URL() }

// Run serves until ctx ends, the listener fails or a hook fails, and then shuts down, each step within ShutdownTimeout:
// readiness fails, hooks prepare, and ShutdownDelay passes; watches end, and the server waits for requests in progress;
// the context of the hooks ends, and the server waits for them. Run closes everything that the server opened before it
// returns. It returns nil after a shutdown without errors.
func (s *Server) Run(ctx context.Context) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var working sync.WaitGroup
	defer working.Wait()
	defer stop()
	if s.collector != nil {
		working.Go(func() { s.collector.Run(background) })
	}
	if s.config.CompactionInterval > 0 {
		c := compactor.Compactor{Backend: s.config.Backend, Interval: s.config.CompactionInterval, Log: s.config.Log}
		working.Go(func() { c.Run(background) })
	}
	failed := make(chan error, 1)
	go func() { failed <- s.http.ServeTLS(gather.Listener{Listener: s.config.Listener}, "", "") }()
	hooks, endHooks := context.WithCancel(s.hookContext())
	defer endHooks()
	broken := make(chan struct{})
	s.startHooks(hooks, sync.OnceFunc(func() { close(broken) }))
	var err error
	delay := s.config.ShutdownDelay
	select {
	case err = <-failed: // accepted connections are still open
		failed <- http.ErrServerClosed
		delay = 0
	case <-broken: // awaitHooks returns the error
	case <-ctx.Done():
	}
	close(s.ending)
	s.leave(hooks, delay)
	err = errors.Join(err, s.shutdown())
	if ended := <-failed; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	endHooks()
	err = errors.Join(s.awaitHooks(), err)
	stop()
	working.Wait() // close ends what the goroutines use
	return errors.Join(err, s.close())
}

// leave serves on until hooks have prepared for the shutdown and the delay has passed.
func (s *Server) leave(hooks context.Context, delay time.Duration) {
	passed := time.NewTimer(delay)
	half := time.AfterFunc(delay/2, s.drain.Leave)
	defer half.Stop()
	s.preShutdown(hooks)
	<-passed.C
}

func (s *Server) shutdown() error {
	s.drain.Start()
	patience := s.config.ShutdownTimeout + s.config.Ending.Spread
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := s.drain.Wait(ctx)
	if err != nil {
		err = fmt.Errorf("requests were still under way after %s", patience)
	} else if err = s.http.Shutdown(ctx); err == nil {
		return nil
	}
	return errors.Join(err, s.http.Close())
}

// tlsConfig asks for client certificates without requiring them. Package auth verifies them.
func tlsConfig(config Config) *tls.Config {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if config.TLS != nil {
		t = config.TLS.Clone()
	}
	if len(config.Certificate.Certificate) > 0 {
		t.Certificates = []tls.Certificate{config.Certificate}
	}
	t.ClientAuth, t.NextProtos = tls.RequestClientCert, []string{"h2", "http/1.1"}
	// Small records help browsers, which use the beginning of a page early. Clients of an API read whole objects.
	t.DynamicRecordSizingDisabled = true
	return t
}

// reachable returns an address at which this machine reaches a listener.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return addr.String()
	}
	ip := tcp.IP
	if ip.IsUnspecified() {
		ip = net.IPv4(127, 0, 0, 1)
	}
	return net.JoinHostPort(ip.String(), fmt.Sprint(tcp.Port))
}

// httpErrorLog logs net/http's errors: warnings, but at debug level those that any client can cause.
type httpErrorLog struct{ log *slog.Logger }

// causedByClients are the beginnings of errors that any client can cause.
var causedByClients = []string{"http: TLS handshake error", "http2: ", "http: URL query contains semicolon"}

func (l httpErrorLog) Write(p []byte) (int, error) {
	level, message := slog.LevelWarn, strings.TrimSpace(string(p))
	if slices.ContainsFunc(causedByClients, func(begin string) bool { return strings.HasPrefix(message, begin) }) {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, "http server", "message", message)
	return len(p), nil
}
