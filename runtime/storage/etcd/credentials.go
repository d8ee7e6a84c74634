package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"

	"apigen.dev/runtime/internal/reload"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// authorities are the authorities of the etcd servers, which are read again for each new connection. (The etcd client
// itself reads the client's certificate again.) A broken file leaves them as they were.
type authorities struct {
	mu   sync.Mutex // guards file
	file *reload.Files[*x509.CertPool]
}

func readAuthorities(path string) (*authorities, error) {
	file, err := reload.New(func(contents [][]byte) (*x509.CertPool, error) {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(contents[0]) {
			return nil, fmt.Errorf("%s holds no PEM certificate", path)
		}
		return pool, nil
	}, path)
	return &authorities{file: file}, err
}

func (a *authorities) current() *x509.CertPool {
	a.mu.Lock()
	defer a.mu.Unlock()
	changed, err := a.file.Reload()
	switch {
	case err != nil:
		slog.Error("the certificate authorities of etcd could not be reloaded, the previous ones stay in use",
			"files", a.file.Paths(), "error", err)
	case changed:
		slog.Info("the certificate authorities of etcd were reloaded", "files", a.file.Paths())
	}
	return a.file.Value()
}

// reloading are the credentials of clients whose authorities are read again for each handshake.
type reloading struct {
	credentials.TransportCredentials
	config      *tls.Config
	authorities *authorities
}

// ClientHandshake implements credentials.TransportCredentials.
func (r reloading) ClientHandshake(
	ctx context.Context, authority string, conn net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	config := r.config.Clone()
	config.RootCAs = r.authorities.current()
	return credentials.NewTLS(config).ClientHandshake(ctx, authority, conn)
}

// Clone implements credentials.TransportCredentials.
func (r reloading) Clone() credentials.TransportCredentials {
	return reloading{r.TransportCredentials.Clone(), r.config.Clone(), r.authorities}
}

// reloadAuthorities returns the options of a client whose authorities are reloaded. They would make a client speak TLS
// to endpoints without, so a client of such endpoints gets none.
func (c Config) reloadAuthorities(config *tls.Config) ([]grpc.DialOption, error) {
	if c.CAFile == "" {
		return nil, nil
	}
	for _, endpoint := range c.Endpoints {
		if !strings.HasPrefix(endpoint, "https://") && !strings.HasPrefix(endpoint, "unixs://") {
			return nil, nil
		}
	}
	a, err := readAuthorities(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	return []grpc.DialOption{
		grpc.WithTransportCredentials(reloading{credentials.NewTLS(config), config, a}),
	}, nil
}
