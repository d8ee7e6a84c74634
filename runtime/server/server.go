// Package server makes a process of API groups: it binds resources to a backend, puts the one ordered list of filters
// before the endpoint, serves TLS, tells its health, and ends cleanly. Its command is what a user's main calls. It may
// know everything in the runtime but the embedded etcd, which a main brings along if it wants it.
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
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/collector"
	"apigen.dev/runtime/endpoint"
	"apigen.dev/runtime/filter"
	"apigen.dev/runtime/ownership"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/compactor"
	"apigen.dev/runtime/store"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Config is what a Server is made of. The zero values of durations and limits mean kube-apiserver's defaults.
type Config struct {
	// Groups are the API groups to serve.
	Groups []registry.Group
	// Backend holds the objects. The server does not close it.
	Backend storage.Backend
	// Prefix is the key prefix of all objects; empty is "/registry".
	Prefix string
	// Listener is where connections come from; the server closes it.
	Listener net.Listener
	// Certificate is the server's.
	Certificate tls.Certificate
	// Authenticator and Authorizer decide who may do what; nil authenticates nobody, and lets only system:masters act, and
	// who is authenticated read discovery.
	Authenticator auth.Authenticator
	Authorizer    auth.Authorizer
	// Log is where the server tells what an operator must know; nil is slog.Default().
	Log *slog.Logger

	// RequestTimeout bounds every request but watches (1 min), MinRequestTimeout is how long a watch lives at least (30
	// min), ShutdownTimeout bounds the draining of requests (RequestTimeout).
	RequestTimeout, MinRequestTimeout, ShutdownTimeout time.Duration
	// MaxReads and MaxWrites bound the requests under way, watches aside (400 and 200); negative is no bound.
	MaxReads, MaxWrites int
	// DisableCache sends all reads to the backend.
	DisableCache bool
	// CompactionInterval is how often old revisions are dropped from the backend, by one of all servers that share it,
	// and how much of the history stays; 0 is never.
	CompactionInterval time.Duration
	// CheckCache is how often each cache is compared with the backend, and dropped where they differ; 0 is never.
	CheckCache time.Duration
	// Garbage says what the server does about the dependents of deleted objects.
	Garbage GarbagePolicy
	// Verify turns on expensive checks of invariants, which panic: for tests.
	Verify bool
	// Transformer returns what the values of a resource pass on their way to the backend and back; nil, and where it
	// returns nil, values are stored as they are.
	Transformer func(schema.GroupResource) store.Transformer
	// Profiling serves /debug/pprof.
	Profiling bool
	// RuntimeConfig switches served versions and resources on and off, as kube-apiserver's --runtime-config: group/version
	// or group/version/resource, or api/all, api/ga, api/beta, api/alpha, to true or false. What it doesn't name is on.
	RuntimeConfig map[string]string
}

// Server is an API server. New makes it, Run serves, and closes what New opened.
type Server struct {
	config  Config
	handles []registry.Handle
	drain   *filter.Drain
	http    *http.Server
	// collector is nil where the server doesn't collect garbage.
	collector *collector.Collector
}

// New opens the resources, as long as ctx lasts, and builds the handler; it serves nothing yet. After an error nothing is
// left open but what the config brought.
func New(ctx context.Context, config Config) (*Server, error) {
	config = withDefaults(config)
	s := &Server{config: config, drain: filter.NewDrain()}
	metrics := newMetrics(config)
	groups, err := s.open(ctx, metrics)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	if config.Garbage == CollectGarbage {
		s.collector = collector.New(s.handles, config.Log)
		metrics.registry.MustRegister(garbage{s.collector})
	}
	api, err := endpoint.New(endpoint.Config{
		Groups: groups, MinRequestTimeout: int64(config.MinRequestTimeout / time.Second),
		UnsafeDelete: filter.MayDeleteUnreadable(config.Authorizer), Log: config.Log,
	})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	base := reach.With(context.Background(), registry.Reachable(s.handles))
	s.http = &http.Server{
		BaseContext:       func(net.Listener) context.Context { return base },
		Handler:           s.chain(s.root(api, metrics), metrics, api.LongRunning),
		ConnContext:       auth.ConnContext,
		TLSConfig:         tlsConfig(config.Certificate),
		ReadHeaderTimeout: 32 * time.Second,
		IdleTimeout:       90 * time.Second,
		MaxHeaderBytes:    1 << 20,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 250, MaxReceiveBufferPerStream: 256 << 10},
		ErrorLog:          log.New(complaints{config.Log}, "", 0),
	}
	return s, nil
}

func withDefaults(c Config) Config {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&c.RequestTimeout, time.Minute)
	set(&c.MinRequestTimeout, 30*time.Minute)
	set(&c.ShutdownTimeout, c.RequestTimeout)
	if c.MaxReads == 0 {
		c.MaxReads = 400
	}
	if c.MaxWrites == 0 {
		c.MaxWrites = 200
	}
	if c.Prefix == "" {
		c.Prefix = "/registry"
	}
	if c.Authenticator == nil {
		c.Authenticator = auth.First{}
	}
	if c.Authorizer == nil {
		c.Authorizer = auth.Discovery{Next: auth.MastersOnly{}}
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

// open binds every resource to the backend.
func (s *Server) open(ctx context.Context, metrics *metrics) ([]endpoint.Group, error) {
	enabled, err := newEnablement(s.config.RuntimeConfig, s.config.Groups)
	if err != nil {
		return nil, err
	}
	if err := checkPrefixes(s.config.Groups); err != nil {
		return nil, err
	}
	var groups []endpoint.Group
	for _, group := range s.config.Groups {
		open := enabled.narrow(group)
		if len(open.Versions) == 0 {
			continue
		}
		schemas := ownership.NewSchemas(group.OpenAPI)
		for _, resource := range open.Resources {
			config := registry.Config{
				Backend: metrics.meter(s.config.Backend, resource.Info()), Prefix: s.config.Prefix,
				DisableCache: s.config.DisableCache, CheckCache: s.config.CheckCache, Log: s.config.Log, Verify: s.config.Verify, Schemas: schemas,
				IgnorePropagation: s.config.Garbage == IgnoreGarbage,
			}
			if transformer := s.config.Transformer; transformer != nil {
				config.Transformer = transformer(resource.Info().GroupResource())
			}
			handle, err := resource.Open(ctx, config)
			if err != nil {
				return nil, err
			}
			open.Handles = append(open.Handles, handle)
			metrics.follow(handle)
			s.handles = append(s.handles, handle)
		}
		groups = append(groups, open)
	}
	return groups, nil
}

func (s *Server) close() error {
	var errs []error
	for _, handle := range s.handles {
		errs = append(errs, handle.Close())
	}
	return errors.Join(errs...)
}

// URL is where the server answers.
func (s *Server) URL() string { return "https://" + reachable(s.config.Listener.Addr()) }

// Run serves until ctx ends, or the listener fails, then drains: readiness fails, watches end, requests under way are
// finished within the shutdown timeout, and everything that the server opened is closed before Run returns. It returns nil
// where all ended well.
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
	go func() { failed <- s.http.ServeTLS(gathering{s.config.Listener}, "", "") }()
	var err error
	select {
	case err = <-failed: // connections that were taken are there all the same
		err = errors.Join(err, s.shutdown())
	case <-ctx.Done():
		err = s.shutdown()
		if ended := <-failed; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
	}
	stop()
	working.Wait() // what follows closes what it works with
	return errors.Join(err, s.close())
}

func (s *Server) shutdown() error {
	s.drain.Start()
	ctx, cancel := context.WithTimeout(context.Background(), s.config.ShutdownTimeout)
	defer cancel()
	err := s.drain.Wait(ctx)
	if err != nil {
		err = fmt.Errorf("requests were still under way after %s", s.config.ShutdownTimeout)
	} else if err = s.http.Shutdown(ctx); err == nil {
		return nil
	}
	return errors.Join(err, s.http.Close())
}

// tlsConfig asks for client certificates without requiring them; package auth verifies those that come.
func tlsConfig(certificate tls.Certificate) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{certificate},
		MinVersion:   tls.VersionTLS12,
		ClientAuth:   tls.RequestClientCert,
		NextProtos:   []string{"h2", "http/1.1"},
		// Small records let a browser begin early with what comes first. Clients of an API read whole objects.
		DynamicRecordSizingDisabled: true,
	}
}

// reachable is the address under which a listener's is dialed from this machine.
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

// complaints logs what net/http complains of: at debug level what any stranger can make it complain of, and as a warning
// all else, that no connections can be accepted above all.
type complaints struct{ log *slog.Logger }

// strangers is how complaints begin that need no more than a connection.
var strangers = []string{"http: TLS handshake error", "http2: ", "http: URL query contains semicolon"}

func (c complaints) Write(p []byte) (int, error) {
	level, message := slog.LevelWarn, strings.TrimSpace(string(p))
	if slices.ContainsFunc(strangers, func(begin string) bool { return strings.HasPrefix(message, begin) }) {
		level = slog.LevelDebug
	}
	c.log.Log(context.Background(), level, "http server", "message", message)
	return len(p), nil
}
