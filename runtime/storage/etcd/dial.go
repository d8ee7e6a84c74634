package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/storage"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"golang.org/x/mod/semver"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Config says how to connect to an etcd cluster.
type Config struct {
	// Endpoints are URLs or host:port; at least one.
	Endpoints []string
	// CAFile has the CAs that verify the servers; CertFile and KeyFile are the client's. Where they are empty, the
	// system's CAs verify the servers, and the client has no certificate. The files are read again for new connections.
	CAFile, CertFile, KeyFile string
	// Username and Password are the client's where etcd's authentication is on.
	Username, Password string
	// Prefix is the prefix of all keys, for users that may read nothing else; "" is "/".
	Prefix string
	// DialTimeout bounds New; 0 is 5 seconds.
	DialTimeout time.Duration
}

const (
	defaultDialTimeout = 5 * time.Second
	// The client closes a connection on which a server doesn't answer a ping within keepAliveTimeout. etcd accepts a
	// ping every 5 s at most.
	keepAliveTime    = 10 * time.Second
	keepAliveTimeout = 5 * time.Second
	// The pauses between attempts to reach a server: gRPC's own grow to two minutes.
	firstPause, longestPause = 50 * time.Millisecond, 2 * time.Second
	// stragglerTimeout is the time that the other endpoints have to return their version once one has done so.
	stragglerTimeout = 500 * time.Millisecond
)

// dial returns a client of a cluster that answers and whose etcd is new enough.
func dial(ctx context.Context, config Config) (*clientv3.Client, error) {
	if len(config.Endpoints) == 0 {
		return nil, errors.New("etcd: no endpoints are configured")
	}
	tlsConfig, err := config.tls()
	if err != nil {
		return nil, err
	}
	options, err := config.reloadAuthorities(tlsConfig)
	if err != nil {
		return nil, err
	}
	if config.DialTimeout <= 0 {
		config.DialTimeout = defaultDialTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, config.DialTimeout)
	defer cancel()
	settings := clientv3.Config{
		Endpoints: config.Endpoints, TLS: tlsConfig, DialTimeout: config.DialTimeout,
		DialKeepAliveTime: keepAliveTime, DialKeepAliveTimeout: keepAliveTimeout,
		DialOptions: append(options, grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: firstPause, Multiplier: 1.6, Jitter: 0.2,
				MaxDelay: longestPause},
			MinConnectTimeout: config.DialTimeout,
		})),
		Logger: zap.NewNop(), // the backend returns every error, so the client needn't log it
	}
	client, err := probed(ctx, config, settings)
	if err != nil || config.Username == "" {
		return client, err
	}
	// A client with a user logs in as it is made, and would not say why no endpoint answers.
	if err := client.Close(); err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	settings.Username, settings.Password = config.Username, config.Password
	return probed(ctx, config, settings)
}

func probed(ctx context.Context, config Config, settings clientv3.Config) (*clientv3.Client, error) {
	client, err := clientv3.New(settings)
	if err != nil {
		if settings.Username != "" {
			return nil, fmt.Errorf("etcd: logging in as %s: %w", settings.Username, err)
		}
		return nil, fmt.Errorf("etcd: %w", err)
	}
	if err := config.probe(ctx, client); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

// tls reads the files once, so that New reports a wrong one, and not the first handshake.
func (c Config) tls() (*tls.Config, error) {
	if c.CAFile == "" && c.CertFile == "" && c.KeyFile == "" {
		return nil, nil
	}
	files := slices.DeleteFunc([]string{c.CAFile, c.CertFile, c.KeyFile}, func(name string) bool { return name == "" })
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("etcd: %w", err)
		}
		if file == c.CAFile && !x509.NewCertPool().AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("etcd: %s holds no PEM certificate", file)
		}
	}
	info := transport.TLSInfo{CertFile: c.CertFile, KeyFile: c.KeyFile, TrustedCAFile: c.CAFile, Logger: zap.NewNop()}
	config, err := info.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("etcd: reading the certificates in %s: %w", strings.Join(files, ", "), err)
	}
	return config, nil
}

// probe asks the endpoints for their versions. It waits for one answer, and then a moment for the others.
func (c Config) probe(ctx context.Context, client *clientv3.Client) error {
	type answer struct {
		endpoint, version string
		err               error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer, len(c.Endpoints))
	for _, endpoint := range c.Endpoints {
		go func() {
			version, err := ask(ctx, client, endpoint)
			answers <- answer{endpoint, version, err}
		}()
	}
	var late <-chan time.Time
	var failure error
	for range c.Endpoints {
		select {
		case a := <-answers:
			if a.err != nil {
				failure = a.err
				continue
			}
			if err := c.check(client, a.endpoint, a.version); err != nil {
				return err
			}
			if late == nil {
				late = time.After(stragglerTimeout)
			}
		case <-late:
			return nil
		}
	}
	if late != nil {
		return nil
	}
	reason := failure.Error()
	if s, ok := status.FromError(failure); ok {
		reason = s.Message()
	}
	return fmt.Errorf("etcd: no answer from %s within %s (%s): %w", strings.Join(c.Endpoints, ", "), c.DialTimeout,
		reason, storage.ErrUnavailable)
}

// locked stands for the version of an endpoint that returns it to authenticated users alone.
const locked = "locked"

// ask returns the version of one endpoint. It tries again until ctx ends, and fails with the attempts' error.
func ask(ctx context.Context, client *clientv3.Client, endpoint string) (string, error) {
	connection, err := client.Dial(endpoint)
	if err != nil {
		return "", err
	}
	defer func() { _ = connection.Close() }() // no call is under way
	maintenance := etcdserverpb.NewMaintenanceClient(connection)
	var failure error
	for {
		// Without waiting for a connection, gRPC says why there is none.
		response, err := maintenance.Status(ctx, &etcdserverpb.StatusRequest{}, grpc.WaitForReady(false))
		switch {
		case err == nil:
			return response.Version, nil
		case rejected(err) && code(err) != codes.Unavailable:
			return locked, nil
		case failure == nil || code(err) == codes.Unavailable: // which says more than that the time is over
			failure = err
		}
		select {
		case <-ctx.Done():
			return "", failure
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// oldest is the first usable patch release of each minor version that has unusable ones.
var oldest = map[string]string{"v3.4": "v3.4.31", "v3.5": "v3.5.13"}

func (c Config) check(client *clientv3.Client, endpoint, version string) error {
	switch {
	case version == locked && c.Username == "":
		return fmt.Errorf("etcd: %s requires a user: a client certificate whose common name is one, or a user "+
			"name and a password", endpoint)
	case version == locked && client.Username == "":
		return nil // the client with the user asks again
	case version == locked:
		return fmt.Errorf("etcd: %s does not report its version to %s", endpoint, c.Username)
	}
	v := "v" + version
	first, ok := oldest[semver.MajorMinor(v)]
	if !ok {
		first = "v3.4.31"
	}
	if !semver.IsValid(v) {
		return fmt.Errorf("etcd: %s reports the version %q, which is no semantic version", endpoint, version)
	}
	if semver.Compare(v, first) < 0 {
		return fmt.Errorf("etcd: %s has version %s, but watches are only reliable from 3.4.31, 3.5.13 and 3.6.0 on: "+
			"upgrade etcd", endpoint, version)
	}
	return nil
}
