package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"golang.org/x/mod/semver"
	"google.golang.org/grpc/status"

	"apigen.dev/runtime/storage"
)

// Config says where an etcd cluster is and how to speak with it.
type Config struct {
	// Endpoints are URLs or host:port; at least one.
	Endpoints []string
	// CAFile verifies the servers; CertFile and KeyFile are the client's. Empty: the system's CAs, no client certificate.
	CAFile, CertFile, KeyFile string
	// Username and Password, where etcd's authentication is on.
	Username, Password string
	// DialTimeout bounds New; 0 is 5 seconds.
	DialTimeout time.Duration
}

const (
	defaultDialTimeout = 5 * time.Second
	// A server that does not answer a ping within keepAliveTimeout is given up. etcd takes a ping every 5 s at most.
	keepAliveTime    = 10 * time.Second
	keepAliveTimeout = 5 * time.Second
	// stragglerTimeout is how long endpoints may take to tell their version once one has.
	stragglerTimeout = 500 * time.Millisecond
)

// dial returns a client of a cluster that answers and is new enough.
func dial(ctx context.Context, config Config) (*clientv3.Client, error) {
	if len(config.Endpoints) == 0 {
		return nil, errors.New("etcd: no endpoints are configured")
	}
	tlsConfig, err := config.tls()
	if err != nil {
		return nil, err
	}
	if config.DialTimeout <= 0 {
		config.DialTimeout = defaultDialTimeout
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            config.Endpoints,
		TLS:                  tlsConfig,
		Username:             config.Username,
		Password:             config.Password,
		DialTimeout:          config.DialTimeout,
		DialKeepAliveTime:    keepAliveTime,
		DialKeepAliveTimeout: keepAliveTimeout,
		Logger:               zap.NewNop(), // every error is returned; the client's log would tell it twice
	})
	if err != nil {
		return nil, config.unreachable(err)
	}
	ctx, cancel := context.WithTimeout(ctx, config.DialTimeout)
	defer cancel()
	if err := probe(ctx, client, config); err != nil {
		_ = client.Close() // it has not been used
		return nil, err
	}
	return client, nil
}

// tls reads the files once, so that a wrong one is named now and not at the first handshake.
func (c Config) tls() (*tls.Config, error) {
	if c.CAFile == "" && c.CertFile == "" && c.KeyFile == "" {
		return nil, nil
	}
	for _, file := range []string{c.CAFile, c.CertFile, c.KeyFile} {
		if file == "" {
			continue
		}
		if _, err := os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("etcd: %w", err)
		}
	}
	info := transport.TLSInfo{CertFile: c.CertFile, KeyFile: c.KeyFile, TrustedCAFile: c.CAFile, Logger: zap.NewNop()}
	config, err := info.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("etcd: reading the certificates in %s: %w", strings.Join(nonEmpty(c.CAFile, c.CertFile, c.KeyFile), ", "), err)
	}
	return config, nil
}

func nonEmpty(names ...string) (set []string) {
	for _, name := range names {
		if name != "" {
			set = append(set, name)
		}
	}
	return set
}

func (c Config) unreachable(err error) error {
	reason := err.Error()
	if s, ok := status.FromError(err); ok {
		reason = s.Message()
	}
	return fmt.Errorf("etcd: no answer from %s within %s (%s): %w", strings.Join(c.Endpoints, ", "), c.DialTimeout, reason,
		storage.ErrUnavailable)
}

// probe asks the endpoints for their versions. It waits for one, and then a moment for the others.
func probe(ctx context.Context, client *clientv3.Client, config Config) error {
	type answer struct {
		endpoint, version string
		err               error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer, len(config.Endpoints))
	for _, endpoint := range config.Endpoints {
		go func() {
			response, err := client.Status(ctx, endpoint)
			if err != nil {
				answers <- answer{endpoint: endpoint, err: err}
				return
			}
			answers <- answer{endpoint: endpoint, version: response.Version}
		}()
	}
	var late <-chan time.Time
	var failure error
	for range config.Endpoints {
		select {
		case a := <-answers:
			if a.err != nil {
				failure = a.err
				continue
			}
			if err := checkVersion(a.endpoint, a.version); err != nil {
				return err
			}
			if late == nil {
				late = time.After(stragglerTimeout)
			}
		case <-late:
			return nil
		}
	}
	if late == nil {
		return config.unreachable(failure)
	}
	return nil
}

// oldest is the first usable patch release of each line that has unusable ones.
var oldest = map[string]string{"v3.4": "v3.4.31", "v3.5": "v3.5.13"}

func checkVersion(endpoint, version string) error {
	v := "v" + version
	first, ok := oldest[semver.MajorMinor(v)]
	if !ok {
		first = "v3.4.31"
	}
	if !semver.IsValid(v) {
		return fmt.Errorf("etcd: %s says that its version is %q, which is none", endpoint, version)
	}
	if semver.Compare(v, first) < 0 {
		return fmt.Errorf("etcd: %s has version %s, but watches are only reliable from 3.4.31, 3.5.13 and 3.6.0 on: "+
			"upgrade etcd", endpoint, version)
	}
	return nil
}
