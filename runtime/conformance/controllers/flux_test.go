package controllers

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
)

var sourceController = program{
	name: "source-controller", module: "github.com/fluxcd/source-controller", version: "v1.8.0",
}

// TestFlux: Flux's source-controller fetches a repository of charts and a chart of it, and keeps both as artifacts.
func TestFlux(t *testing.T) {
	long(t)
	c := start(t)
	manifests := run(t, ".", "kubectl", "kustomize", filepath.Join(sourceController.source(t), "config", "default"))
	deployments := c.install(t, manifests)
	artifacts := "127.0.0.1:" + freePort(t)
	c.run(t, process{
		deployment: deployments["source-controller"],
		binary:     sourceController.build(t),
		extra: []string{"--storage-path=" + t.TempDir(), "--storage-addr=" + artifacts,
			"--storage-adv-addr=" + artifacts, "--metrics-addr=127.0.0.1:0", "--health-addr=127.0.0.1:0",
			"--enable-leader-election=false"}, // it elects a leader in pods alone: nothing else tells it the namespace
	})
	c.play(t, "flux", "CHARTS="+charts(t), "ARTIFACTS=http://"+artifacts)
}

// charts serves a repository of charts, which has one, and returns its address.
func charts(t *testing.T) string {
	t.Helper()
	chart := packed(t, map[string]string{
		"shop/Chart.yaml":  "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
		"shop/values.yaml": "size: 3\n",
	}, "shop/Chart.yaml", "shop/values.yaml")
	index := fmt.Sprintf(`apiVersion: v1
generated: "2026-01-01T00:00:00Z"
entries:
  shop:
  - {apiVersion: v2, name: shop, version: 1.0.0, urls: [shop-1.0.0.tgz], digest: %x}
`, sha256.Sum256(chart))
	mux := http.NewServeMux()
	for path, content := range map[string][]byte{"/index.yaml": []byte(index), "/shop-1.0.0.tgz": chart} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// packed returns a compressed archive of files, in an order.
func packed(t *testing.T, files map[string]string, order ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	for _, name := range order {
		text := files[name]
		err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg})
		if _, e := archive.Write([]byte(text)); errors.Join(err, e) != nil {
			t.Fatal(err, e)
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
