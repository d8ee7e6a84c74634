package etcd_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/storage/etcd"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
)

// certificate makes a certificate that signs itself, for server and client.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	dir := t.TempDir()
	info, err := transport.SelfCert(zap.NewNop(), dir, []string{"127.0.0.1:0"}, 1, x509.ExtKeyUsageClientAuth)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(info.CertFile) != dir {
		t.Fatalf("the certificate is in %s", info.CertFile)
	}
	return info.CertFile, info.KeyFile
}

func TestTLS(t *testing.T) {
	certFile, keyFile := certificate(t)
	otherCert, otherKey := certificate(t)
	info := transport.TLSInfo{CertFile: certFile, KeyFile: keyFile, TrustedCAFile: certFile, ClientCertAuth: true,
		Logger: zap.NewNop()}
	config, err := info.ServerConfig()
	if err != nil {
		t.Fatal(err)
	}
	config.MinVersion = tls.VersionTLS12 // a refused client hears of it in the handshake
	config.MaxVersion = tls.VersionTLS12
	config.NextProtos = []string{"h2"}
	s := &server{version: "3.6.0", txn: func(int64) error { return nil },
		options: []grpc.ServerOption{grpc.Creds(credentials.NewTLS(config))}}
	serve(t, s)
	endpoint := strings.Replace(s.endpoint, "http://", "https://", 1)
	for _, c := range []struct {
		name   string
		config etcd.Config
		want   string
	}{
		{"Right", etcd.Config{CAFile: certFile, CertFile: certFile, KeyFile: keyFile}, ""},
		{"NoFiles", etcd.Config{}, "certificate"},
		{"OtherCA", etcd.Config{CAFile: otherCert, CertFile: certFile, KeyFile: keyFile}, "certificate"},
		{"NoClientCertificate", etcd.Config{CAFile: certFile}, "tls: "},
		{"OtherClientCertificate", etcd.Config{CAFile: certFile, CertFile: otherCert, KeyFile: otherKey},
			"certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.config.Endpoints, c.config.DialTimeout = []string{endpoint}, time.Minute
			if c.want != "" {
				if err := inTime(c.config, c.want); !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v", err)
				}
				return
			}
			backend, err := etcd.New(context.Background(), c.config)
			if err != nil {
				t.Fatal(err)
			}
			defer backend.Close()
			if _, err := backend.Put(context.Background(), "/a", nil, 0, 0); err != nil {
				t.Error(err)
			}
		})
	}
}

// The files are read again for new connections: the authorities of the servers and the certificate of the client.
func TestTLSFilesAreReloaded(t *testing.T) {
	t.Parallel()
	var certs, keys [2]string
	var configs [2]*tls.Config
	for i := range configs {
		certs[i], keys[i] = certificate(t)
		config, err := transport.TLSInfo{CertFile: certs[i], KeyFile: keys[i], TrustedCAFile: certs[i],
			ClientCertAuth: true, Logger: zap.NewNop()}.ServerConfig()
		if err != nil {
			t.Fatal(err)
		}
		configs[i] = config
	}
	var present atomic.Pointer[tls.Config]
	present.Store(configs[0])
	handshakes := make(chan struct{})
	server := &server{version: "3.6.0", txn: func(int64) error { return nil }, options: []grpc.ServerOption{
		grpc.Creds(credentials.NewTLS(&tls.Config{NextProtos: []string{"h2"},
			GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
				select {
				case handshakes <- struct{}{}:
				default: // nobody waits for one
				}
				config := present.Load().Clone()
				config.NextProtos = []string{"h2"}
				return config, nil
			},
		})),
		// Clients have to connect again all the time.
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 20 * time.Millisecond}),
	}}
	serve(t, server)
	dir := t.TempDir()
	ca, cert, key := filepath.Join(dir, "ca"), filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	place := func(from, to string) {
		t.Helper()
		content, err := os.ReadFile(from)
		if err == nil {
			err = errors.Join(os.WriteFile(to+".new", content, 0o600), os.Rename(to+".new", to))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	place(certs[0], ca)
	place(certs[0], cert)
	place(keys[0], key)
	backend, err := etcd.New(t.Context(), etcd.Config{
		Endpoints: []string{strings.Replace(server.endpoint, "http://", "https://", 1)}, DialTimeout: time.Minute,
		CAFile: ca, CertFile: cert, KeyFile: key,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	works := func(what string) {
		t.Helper()
		for ctx := patience(t); ; {
			_, err := backend.Put(ctx, "/a", nil, 0, 0)
			if err == nil {
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	// refused waits until the client has connected three times with a write that wasn't made.
	refused := func() {
		t.Helper()
		for ctx := patience(t); ctx.Err() == nil; {
			writing, cancel := context.WithCancel(ctx)
			written := make(chan error, 1)
			go func() {
				_, err := backend.Put(writing, "/a", nil, 0, 0)
				written <- err
			}()
			var err error
			for n := 0; n < 3 && len(written) == 0; n++ {
				select {
				case <-handshakes:
				case err = <-written:
					written <- err
				}
			}
			cancel()
			if err = <-written; err != nil {
				return
			}
		}
		t.Fatal("another server is believed")
	}
	works("at first")
	present.Store(configs[1])
	refused()
	place(keys[1], key)
	place(certs[1], cert)
	place(certs[1], ca)
	works("other files")
	if err := os.WriteFile(ca, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		works("a broken file")
	}
}
