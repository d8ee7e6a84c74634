package etcd_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/storage/etcd"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
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
