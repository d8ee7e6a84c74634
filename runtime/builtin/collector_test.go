package builtin_test

import (
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"apigen.dev/runtime/builtin/tracing"
	"apigen.dev/runtime/internal/testbed"
	"apigen.dev/runtime/server"
)

// TestHangingCollector: a collector of traces that never answers holds up neither requests nor the end of the server.
func TestHangingCollector(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	asked := make(chan net.Conn, 1)
	go func() {
		if conn, err := listener.Accept(); err == nil {
			asked <- conn // and nothing is ever said on it
		}
	}()
	feature := &tracing.Feature{File: testbed.Write(t, filepath.Join(t.TempDir(), "tracing.yaml"),
		"apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: "+listener.Addr().String()+
			"\nsamplingRatePerMillion: 1000000\n")}
	t.Run("serve", func(t *testing.T) { // the server ends with it
		s := startFeatures(t, func(c *server.Config) {
			if err := c.Use(t.Context(), feature); err != nil {
				t.Fatal(err)
			}
		})
		until(t, s, http.MethodGet, "/readyz", "", http.StatusOK) // spans are recorded
		for range 10 {
			until(t, s, http.MethodGet, "/api/v1/namespaces/default/configmaps", "", http.StatusOK)
		}
	})
	(<-asked).Close()
}
