package registry_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/host/encryption"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// encryptionFile is a configuration in a file. Its keys are named; a name with a "!" has another secret than without.
type encryptionFile struct {
	testing.TB
	path   string
	source *encryption.Source
}

func newEncryptionFile(t testing.TB, names ...string) *encryptionFile {
	t.Helper()
	e := &encryptionFile{TB: t, path: filepath.Join(t.TempDir(), "encryption.yaml")}
	e.write(names)
	var err error
	if e.source, err = encryption.Load(e.path); err != nil {
		t.Fatal(err)
	}
	return e
}

// write sets the keys, the first one first; "-" is identity.
func (e *encryptionFile) write(names []string) {
	e.Helper()
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: " +
		"['*.*']\n  providers:\n"
	for _, name := range names {
		if name == "-" {
			text += "  - identity: {}\n"
			continue
		}
		secret := base64.StdEncoding.EncodeToString([]byte((name + strings.Repeat("-", 32))[:32]))
		text += "  - aesgcm: {keys: [{name: " + strings.TrimSuffix(name, "!") + ", secret: " + secret + "}]}\n"
	}
	if err := os.WriteFile(e.path, []byte(text), 0o600); err != nil {
		e.Fatal(err)
	}
}

// set changes the keys of a source that is in use.
func (e *encryptionFile) set(names ...string) {
	e.Helper()
	e.write(names)
	if changed, err := e.source.Reload(); err != nil || !changed {
		e.Fatal(changed, err)
	}
}

func (e *encryptionFile) transformer() *encryption.Transformer {
	return e.source.For(schema.GroupResource{Group: "shop.example.com", Resource: "widgets"})
}

func encrypted(t testing.TB) *encryption.Transformer {
	return newEncryptionFile(t, "key", "-").transformer()
}
