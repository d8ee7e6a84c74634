package server

import (
	"cmp"
	"crypto/tls"
	"log/slog"
	"net"
	"regexp"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/http/filter"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Config configures a Server. The zero values of durations and limits mean kube-apiserver's defaults.
type Config struct {
	// Groups are the API groups to serve. Those of the same name are parts of one group, which have no resource in
	// common.
	Groups []registry.Group
	// RuntimeConfig switches served versions and resources on and off, as kube-apiserver's --runtime-config:
	// group/version or group/version/resource, or api/all, api/ga, api/beta, api/alpha, to true or false. Everything
	// else is on.
	RuntimeConfig map[string]string
	Serving
	Access
	Limits
	Storage
	// Contribution is what the features and the author add. Use adds that of a feature.
	Contribution
	// Services finds the services that webhooks are behind; nil leaves it to DNS.
	Services Services
	// DataDir is the directory of files that the server makes itself. Features write there when they are configured.
	DataDir string
	// Log receives messages for the operator; nil means slog.Default().
	Log *slog.Logger
	// LogLevel is the level of Log, which /debug/flags/v sets; nil serves no /debug/flags/v.
	LogLevel *slog.LevelVar
	// Flags are the flags of the command, which /flagz shows; nil serves no /flagz.
	Flags map[string]string
	// Profiling serves /debug/pprof and /debug/flags, and lets metrics be reset.
	Profiling bool

	// contributors has who brought each thing of which a server has one.
	contributors map[string]string
	// checks are those of the contributions that Use has added.
	checks []func(*Config) error
}

// Serving says how a server accepts connections, and how it comes and goes.
type Serving struct {
	// Listener accepts the connections; the server closes it.
	Listener net.Listener
	// Certificate is the serving certificate.
	Certificate tls.Certificate
	// TLS has versions, cipher suites, and GetCertificate if there is no Certificate; nil means those of Go, from TLS
	// 1.2 on. The server sets what it needs for HTTP/2 and for client certificates.
	TLS *tls.Config
	// ClientCA returns the authorities of client certificates that are in force, in PEM; nil if there are none. It is
	// for those who publish them, and safe for concurrent use.
	ClientCA func() []byte
	// GoAwayChance is the probability with which a request of HTTP/2 ends its connection, between 0 and 0.02.
	GoAwayChance float64
	// StrictTransport are the directives of Strict-Transport-Security, and AllowedOrigins the origins of CORS.
	StrictTransport []string
	AllowedOrigins  []*regexp.Regexp
	// LivezGracePeriod is how long after the start /livez passes although a hook's PostStart hasn't finished (0).
	LivezGracePeriod time.Duration
	// ShutdownTimeout bounds how long a shutdown waits for each of these: PreShutdown of the hooks, requests, and the
	// end of the hooks (RequestTimeout).
	ShutdownTimeout time.Duration
	// ShutdownDelay is how long the server goes on to serve after it was told to end, while /readyz fails and balancers
	// notice (0). In its second half, answers ask clients to connect anew.
	ShutdownDelay time.Duration
	// Ending says how requests end after that.
	Ending filter.Ending
}

// Access says which of the ways to authorize and to admit requests a server uses. The ways themselves are
// contributions.
type Access struct {
	// AlwaysAllowPaths are the paths that every user may ask for, whatever the Authorizer says. A path that ends in *
	// stands for all that begin so. nil are those of health checks.
	AlwaysAllowPaths []string
	// EnableAdmission and DisableAdmission name the admission plug-ins that run although they are off by default, and
	// those that don't run.
	EnableAdmission, DisableAdmission []string
	// AdmissionConfig is the path of an AdmissionConfiguration, which configures plug-ins; "" configures none.
	AdmissionConfig string
}

// Limits bound the requests of a server.
type Limits struct {
	// RequestTimeout bounds requests except for watches (1 min). MinRequestTimeout is the shortest life of a watch that
	// names none (30 min).
	RequestTimeout, MinRequestTimeout time.Duration
	// MaxStreams bounds the requests at once on a connection of HTTP/2 (250).
	MaxStreams int
	// MaxReads and MaxWrites bound the requests in progress, except for watches (400 and 200). A negative value is no
	// bound.
	MaxReads, MaxWrites int
}

// MaxInFlight returns MaxReads and MaxWrites, or their defaults.
func (l *Limits) MaxInFlight() (reads, writes int) {
	return cmp.Or(l.MaxReads, 400), cmp.Or(l.MaxWrites, 200)
}

// Storage says where and how a server stores objects.
type Storage struct {
	// Backend holds the objects. The server does not close it.
	Backend storage.Backend
	// Prefix is the key prefix of all objects; empty is "/registry".
	Prefix string
	// Transformer returns the transformer of the stored values of a resource, such as their encryption. If it is nil,
	// or returns nil, the server stores values as they are.
	Transformer func(schema.GroupResource) store.Transformer
	// StorageEncoding is that of stored objects whose Go types have it: JSON or Protobuf. Others are stored in JSON.
	StorageEncoding verb.Encoding
	// DisableCache sends all reads to the backend.
	DisableCache bool
	// CompactionInterval is how often one of the servers that share the backend drops old revisions, and how much
	// history it keeps; 0 means never.
	CompactionInterval time.Duration
	// CheckCache is how often the server compares each cache with the backend, and drops it if they differ; 0 means
	// never.
	CheckCache time.Duration
	// CompressCache is after how long the caches keep an object compressed that nobody read, up to twice that; 0 means
	// never.
	CompressCache time.Duration
	// Garbage says what the server does about the dependents of deleted objects.
	Garbage GarbagePolicy
	// Verify turns on expensive checks of invariants, which panic. It is for tests.
	Verify bool
}

// URL returns the address at which the server will listen.
func (s *Serving) URL() string { return "https://" + reachable(s.Listener.Addr()) }

func withDefaults(c Config) Config {
	c.RequestTimeout = cmp.Or(c.RequestTimeout, time.Minute)
	c.MinRequestTimeout = cmp.Or(c.MinRequestTimeout, 30*time.Minute)
	c.ShutdownTimeout = cmp.Or(c.ShutdownTimeout, c.RequestTimeout)
	c.MaxReads, c.MaxWrites = c.MaxInFlight()
	c.MaxStreams = cmp.Or(c.MaxStreams, 250)
	c.Prefix = cmp.Or(c.Prefix, "/registry")
	c.Log = cmp.Or(c.Log, slog.Default())
	if c.Authorizer == nil {
		c.Authorizer = auth.Discovery{}
	}
	if c.AlwaysAllowPaths == nil {
		c.AlwaysAllowPaths = healthPaths
	}
	if c.Authentication.Anonymous == nil {
		c.Authentication.Anonymous = anonymousHealth
	}
	c.Authentication.FrontProxy = c.FrontProxyInForce()
	c.Authorizer = auth.Union{auth.MastersOnly{}, auth.Paths(c.AlwaysAllowPaths), c.Authorizer}
	return c
}
