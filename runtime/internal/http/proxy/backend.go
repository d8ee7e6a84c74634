package proxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/internal/host/certs"
)

// Resolve returns the address, host:port, at which a service is reached. It is called for every request, also
// concurrently, and returns when ctx ends.
type Resolve func(ctx context.Context, namespace, name string, port int32) (address string, err error)

// DNS is the Resolve that leaves a service to DNS: name.namespace.svc:port.
func DNS(_ context.Context, namespace, name string, port int32) (string, error) {
	return net.JoinHostPort(serverName(namespace, name), strconv.Itoa(int(port))), nil
}

func serverName(namespace, name string) string { return name + "." + namespace + ".svc" }

// Config says where another API server is and how to call it.
type Config struct {
	// Namespace and Name are those of the service. The server's certificate must be for name.namespace.svc.
	Namespace, Name string
	// Port is the port of the service; 0 is 443.
	Port int32
	// CABundle has the authorities of the server's certificate, in PEM; without it, the system's authorities count.
	CABundle []byte
	// InsecureSkipTLSVerify accepts every certificate. It excludes CABundle.
	InsecureSkipTLSVerify bool
	// Resolve finds the address of the service; nil is DNS.
	Resolve Resolve
	// Certificate returns the present client certificate of the front proxy; nil, and a nil certificate, are none. It
	// is called for every request, also concurrently. Requests that begin after a change use new connections.
	Certificate func() (*tls.Certificate, error)
	// Flaw is called, concurrently, with each flaw in the certificate of an answer or a refused connection; it may be
	// nil.
	Flaw func(Flaw)
	// Log gets what the clients aren't told, such as why a service has no address; nil is slog.Default().
	Log *slog.Logger
}

// discoveryTimeout bounds requests for the documents of discovery, and attempts of Check. It is kube-aggregator's.
const discoveryTimeout = 5 * time.Second

// defaultPort is the port of a service for which an APIService names none.
const defaultPort = 443

// Backend passes requests on to another API server. It is immutable and safe for concurrent use.
type Backend struct {
	config Config
	tls    *tls.Config // without a client certificate
	log    *slog.Logger
	// discovery is discoveryTimeout, and fetch is fetchTimeout, except in tests.
	discovery, fetch time.Duration

	current atomic.Pointer[transports]
	mu      sync.Mutex // held while current is replaced
}

// New returns a Backend. It opens no connection. The caller closes the Backend.
func New(config Config) (*Backend, error) {
	config.Port = cmp.Or(config.Port, defaultPort)
	switch {
	case config.Namespace == "" || config.Name == "":
		return nil, errors.New("proxy: the service has no namespace or no name")
	case config.Port < 0 || config.Port > maxPort:
		return nil, fmt.Errorf("proxy: service %s/%s: port %d is not between 1 and %d", config.Namespace, config.Name,
			config.Port, maxPort)
	case config.InsecureSkipTLSVerify && len(config.CABundle) > 0:
		return nil, fmt.Errorf("proxy: service %s/%s: insecureSkipTLSVerify and caBundle exclude each other",
			config.Namespace, config.Name)
	}
	if config.Resolve == nil {
		config.Resolve = DNS
	}
	var roots *x509.CertPool
	if len(config.CABundle) > 0 {
		var err error
		if roots, err = certs.ParseAuthorities(config.CABundle); err != nil {
			return nil, fmt.Errorf("proxy: service %s/%s: caBundle: %w", config.Namespace, config.Name, err)
		}
	}
	return &Backend{
		config: config,
		tls: &tls.Config{
			MinVersion: tls.VersionTLS12, ServerName: serverName(config.Namespace, config.Name), RootCAs: roots,
			InsecureSkipVerify: config.InsecureSkipTLSVerify, //nolint:gosec // the APIService asks for it
		},
		log: cmp.Or(config.Log, slog.Default()), discovery: discoveryTimeout, fetch: fetchTimeout,
	}, nil
}

// Close closes idle connections. Requests that are running end as they would; their connections close when they have
// been idle for a while.
func (b *Backend) Close() {
	if t := b.current.Load(); t != nil {
		t.closeIdle()
	}
}

func (b *Backend) resolve(ctx context.Context) (string, error) {
	return b.config.Resolve(ctx, b.config.Namespace, b.config.Name, b.config.Port)
}
