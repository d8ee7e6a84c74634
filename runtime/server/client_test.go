package server

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

func readKubeconfig(t *testing.T, path string) kubeconfigFile {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file kubeconfigFile
	if err := yaml.UnmarshalStrict(content, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

func clientOf(t *testing.T, path string) *http.Client {
	t.Helper()
	user := readKubeconfig(t, path).Users[0].User
	pair, err := tls.X509KeyPair(user.Certificate, user.Key)
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
	roots.AppendCertsFromPEM(readKubeconfig(t, path).Clusters[0].Cluster.CA)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
