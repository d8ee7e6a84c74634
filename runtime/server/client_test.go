package server

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"testing"

	"apigen.dev/runtime/internal/host/kubeconfig"
)

func readKubeconfig(t *testing.T, path string) *kubeconfig.Config {
	t.Helper()
	config, err := kubeconfig.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func clientOf(t *testing.T, path string) *http.Client {
	t.Helper()
	config := readKubeconfig(t, path)
	pair, err := tls.X509KeyPair(config.Certificate.Data, config.Key.Data)
	if err != nil {
		t.Fatal(err)
	}
	client := anonymousClient(t, path)
	client.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{pair}
	return client
}

func anonymousClient(t *testing.T, path string) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(readKubeconfig(t, path).CA.Data)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
