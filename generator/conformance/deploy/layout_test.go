//go:build linux

package deploy

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

var (
	runsAs  = regexp.MustCompile(`(?m)^USER (\S+)$`)
	enters  = regexp.MustCompile(`(?m)^ENTRYPOINT \["([^"]+)"\]$`)
	exposes = regexp.MustCompile(`(?m)^EXPOSE (\d+)$`)
)

// configOf returns the configuration that the last stage of a Dockerfile gives its image.
func configOf(t *testing.T, stage string) v1.Config {
	t.Helper()
	user, entry, port := runsAs.FindStringSubmatch(stage), enters.FindStringSubmatch(stage),
		exposes.FindStringSubmatch(stage)
	if user == nil || entry == nil || port == nil {
		t.Fatalf("the Dockerfile is not understood:\n%s", stage)
	}
	return v1.Config{
		User: user[1], Entrypoint: []string{entry[1]}, ExposedPorts: map[string]struct{}{port[1] + "/tcp": {}},
	}
}

// layer returns a layer with files, by their paths, as COPY makes them.
func layer(t *testing.T, files map[string][]byte) v1.Layer {
	t.Helper()
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	folders := map[string]bool{"/": true, ".": true}
	for name, data := range files {
		for folder := path.Dir(name); !folders[folder]; folder = path.Dir(folder) {
			folders[folder] = true
			header := &tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(folder, "/") + "/", Mode: 0o755}
			if err := w.WriteHeader(header); err != nil {
				t.Fatal(err)
			}
		}
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: strings.TrimPrefix(name, "/"), Mode: 0o755, Size: int64(len(data)),
		}
		err := w.WriteHeader(header)
		_, writing := w.Write(data)
		if err := errors.Join(err, writing); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	made, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// assemble writes an image from scratch as an OCI layout, and returns its folder.
func assemble(t *testing.T, config v1.Config, files map[string][]byte) string {
	t.Helper()
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	platform := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	made, err := mutate.ConfigFile(base, &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Architecture, RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if made, err = mutate.AppendLayers(made, layer(t, files)); err != nil {
		t.Fatal(err)
	}
	if made, err = mutate.Config(made, config); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	written, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := written.AppendImage(made, layout.WithPlatform(platform)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// unpack reads the only image of an OCI layout, checks all digests and sizes, and writes its files to a folder.
func unpack(t *testing.T, dir string) *image {
	t.Helper()
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Errorf("the layout is not valid: %v", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("the layout has the manifests %v, error %v", manifest, err)
	}
	stored, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	config, err := stored.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	user, _, _ := strings.Cut(config.Config.User, ":")
	id, err := strconv.ParseUint(user, 10, 32)
	if err != nil || len(config.Config.Entrypoint) != 1 {
		t.Fatalf("the image runs %q as %q: it must be one program, and a number", config.Config.Entrypoint, user)
	}
	i := &image{root: t.TempDir(), entry: config.Config.Entrypoint[0], user: uint32(id), config: config.Config}
	content := mutate.Extract(stored)
	defer content.Close()
	i.extract(t, tar.NewReader(content))
	return i
}

// extract writes the files of an image, which root owns.
func (i *image) extract(t *testing.T, content *tar.Reader) {
	t.Helper()
	for {
		header, err := content.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(i.root, header.Name)
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, header.FileInfo().Mode().Perm())
		} else {
			var data []byte
			if data, err = io.ReadAll(content); err == nil {
				err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o755),
					os.WriteFile(to, data, header.FileInfo().Mode().Perm()))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
