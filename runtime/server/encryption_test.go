package server

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"apigen.dev/runtime/registry"
)

// A rule that was misspelt leaves objects in the clear: the log says so. Rules for all of a group are none of these.
func TestUnusedRulesAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "encryption.yaml")
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n" +
		"- resources: [widgets.shop.example.com, wigdets.shop.example.com, '*.other.example.com']\n  providers: " +
		"[{identity: {}}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f := flags{encryptionConfig: path, encryptionReload: true}
	source, err := loadEncryption(f)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	followEncryption(t.Context(), f, source, []registry.Group{widgets()}, slog.New(slog.NewTextHandler(&log, nil)))()
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got,
		"resource=wigdets.shop.example.com") {
		t.Errorf("%s", got)
	}
}

// What was encrypted can't be read without the configuration, and the error says with which key it was.
func TestEncryptedWithoutConfiguration(t *testing.T) {
	source, err := loadEncryption(flags{})
	if err != nil {
		t.Fatal(err)
	}
	transformer := transformers(source)(widgets().Resources[0].Info().GroupResource())
	_, _, err = transformer.Open("/k", []byte("k8s:enc:aesgcm:v1:key1:xyz"))
	if err == nil || !strings.Contains(err.Error(),
		`encrypted with aesgcm key "key1", and the encryption configuration has only identity`) {
		t.Error(err)
	}
}
