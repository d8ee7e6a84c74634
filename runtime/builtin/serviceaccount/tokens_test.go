package serviceaccount

import (
	"bytes"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/internal/testbed"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
)

// accounts are the accounts that a server serves, for tests.
type accounts struct {
	reach.Objects[*corev1.ServiceAccount]
	w world
}

func (a accounts) Get(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
	found, err := a.w.lookup(ctx, Account, namespace, name)
	account, _ := found.(*corev1.ServiceAccount)
	return account, err
}

// configured is a server's configuration after the feature configured it.
func configured(t *testing.T, dir string, args ...string) (*server.Config, *bytes.Buffer, error) {
	t.Helper()
	var tokens Feature
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	tokens.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	log := new(bytes.Buffer)
	config := &server.Config{
		DataDir: dir, Log: slog.New(slog.NewTextHandler(log, nil)),
		Serving: server.Serving{Listener: at6443{}},
	}
	return config, log, config.Use(t.Context(), &tokens)
}

// at6443 is a listener with an address, and nothing else.
type at6443 struct{ net.Listener }

func (at6443) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 6443} }

func read(t *testing.T, config *server.Config, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	if config.Paths[path] == nil {
		w.Code = http.StatusNotFound
		return w
	}
	config.Paths[path].ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w
}

// accepted asks a configured server who has a token.
func accepted(t *testing.T, config *server.Config, token string) error {
	t.Helper()
	ctx := reach.WithObjects(t.Context(), accounts{w: someWorld()})
	identity, err := config.Authentication.Tokens[0].AuthenticateToken(ctx, token, nil)
	if err == nil && identity == nil {
		return errors.New("it is another's token")
	}
	return err
}

func issued(t *testing.T, config *server.Config) string {
	t.Helper()
	token, _, err := config.Issuer.IssueToken(t.Context(), request(nil))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Without flags, the server makes a key, which it keeps.
func TestOwnKey(t *testing.T) {
	dir := t.TempDir()
	config, _, err := configured(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "pki", "sa.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if !slices.Equal(config.Audiences, []string{defaultIssuer}) {
		t.Errorf("audiences %q", config.Audiences)
	}
	token := issued(t, config)
	again, _, err := configured(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := accepted(t, again, token); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	other, _, err := configured(t, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if accepted(t, other, token) == nil {
		t.Error("another server accepts the token")
	}
	entries, err := fs.Glob(os.DirFS(dir), "pki/*")
	if err != nil || !slices.Equal(entries, []string{"pki/sa.key"}) {
		t.Errorf("files %q, %v", entries, err)
	}
}

// Of processes that start at once, one makes the key.
func TestOwnKeyIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pki", "sa.key")
	var contents [4]string
	var making sync.WaitGroup
	for i := range contents {
		making.Go(func() {
			if err := ownKey(path); err != nil {
				t.Error(err)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			contents[i] = string(content)
		})
	}
	making.Wait()
	for _, content := range contents[1:] {
		if content != contents[0] || content == "" {
			t.Error("the processes have different keys")
		}
	}
}

func TestDocuments(t *testing.T) {
	dir := t.TempDir()
	signing := testbed.Write(t, filepath.Join(dir, "new"), privatePEM(t, testKeys["RS256"]))
	former := testbed.Write(t, filepath.Join(dir, "old"), slices.Concat(publicPEM(t, testKeys["ES256"]),
		privatePEM(t, testKeys["RS256"]), publicPEM(t, testKeys["ES512"])))
	config, _, err := configured(t, "", "--service-account-issuer=https://shop.example.com",
		"--service-account-issuer=https://old.example.com", "--service-account-signing-key-file="+signing,
		"--service-account-key-file="+former)
	if err != nil {
		t.Fatal(err)
	}
	document := read(t, config, "/.well-known/openid-configuration")
	if got, want := document.Body.String(), `{"issuer":"https://shop.example.com",`+
		`"jwks_uri":"https://10.0.0.1:6443/openid/v1/jwks","response_types_supported":["id_token"],`+
		`"subject_types_supported":["public"],`+
		`"id_token_signing_alg_values_supported":["ES256","ES512","RS256"]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if h := document.Header(); h.Get("Content-Type") != "application/json" ||
		h.Get("Cache-Control") != "public, max-age=3600" {
		t.Errorf("headers %v", h)
	}
	document = read(t, config, "/openid/v1/jwks")
	if got := document.Header().Get("Content-Type"); got != "application/jwk-set+json" {
		t.Errorf("content type %s", got)
	}
	var set keySet
	if err := json.Unmarshal(document.Body.Bytes(), &set); err != nil || len(set.Keys) != 3 {
		t.Fatalf("%s: %v", document.Body, err)
	}
	if strings.Contains(document.Body.String(), `"d"`) {
		t.Error("a private key is in the document")
	}
	for i, algorithm := range []string{"RS256", "ES256", "ES512"} {
		if k := set.Keys[i]; k.Algorithm != algorithm || k.Use != "sig" || k.ID == "" {
			t.Errorf("key %d: %+v", i, k)
		}
	}
}

func TestIssuersWithoutDocuments(t *testing.T) {
	config, log, err := configured(t, t.TempDir(), "--service-account-issuer=kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	if code := read(t, config, keysPath).Code; code != http.StatusNotFound ||
		!strings.Contains(log.String(), "must use https") {
		t.Errorf("%d, logged %s", code, log)
	}
	if err := accepted(t, config, issued(t, config)); err != nil {
		t.Error(err)
	}
}

// A key that signs no more still verifies, as long as a file has it.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	signing := filepath.Join(dir, "signing")
	others := filepath.Join(dir, "others")
	args := []string{"--service-account-signing-key-file=" + signing, "--service-account-key-file=" + others}
	steps := []struct {
		signing, others string // names of keys
		valid           string // the keys whose tokens are valid
	}{
		{"RS256", "RS256", "RS256"},
		{"RS256", "RS256 ES256", "ES256 RS256"},
		{"ES256", "RS256 ES256", "ES256 RS256"},
		{"ES256", "ES256", "ES256"},
	}
	tokens := map[string]string{}
	for _, algorithm := range []string{"ES256", "RS256"} {
		tokens[algorithm] = issue(t, func() *authority {
			a := newAuthority(t, algorithm, someWorld())
			a.issuers, a.audiences, a.now = []string{defaultIssuer}, []string{defaultIssuer}, time.Now
			return a
		}(), request(nil))
	}
	for i, step := range steps {
		testbed.Write(t, signing, privatePEM(t, testKeys[step.signing]))
		var content []byte
		for name := range strings.FieldsSeq(step.others) {
			content = append(content, publicPEM(t, testKeys[name])...)
		}
		testbed.Write(t, others, content)
		config, _, err := configured(t, "", args...)
		if err != nil {
			t.Fatal(err)
		}
		var valid []string
		for _, algorithm := range []string{"ES256", "RS256"} {
			if accepted(t, config, tokens[algorithm]) == nil {
				valid = append(valid, algorithm)
			}
		}
		if got := strings.Join(valid, " "); got != step.valid {
			t.Errorf("step %d: %s are valid, want %s", i, got, step.valid)
		}
	}
}

// The files are read again while the server runs; broken ones change nothing.
func TestReload(t *testing.T) {
	path := testbed.Write(t, filepath.Join(t.TempDir(), "key"), privatePEM(t, testKeys["RS256"]))
	tokens := Feature{signingFile: path}
	files, err := tokens.files("")
	if err != nil {
		t.Fatal(err)
	}
	for content, algorithm := range map[string]string{
		"nonsense": "RS256", string(publicPEM(t, testKeys["ES384"])): "RS256",
	} {
		testbed.Write(t, path, []byte(content))
		if changed, err := files.Reload(); changed || err == nil || files.Value().signing.algorithm != algorithm {
			t.Errorf("%.10q: %v, %v", content, changed, err)
		}
	}
	testbed.Write(t, path, privatePEM(t, testKeys["ES384"]))
	if changed, err := files.Reload(); !changed || err != nil || files.Value().signing.algorithm != "ES384" {
		t.Errorf("%v, %v", changed, err)
	}
}

func TestVerifyOnly(t *testing.T) {
	path := testbed.Write(t, filepath.Join(t.TempDir(), "key"), privatePEM(t, testKeys["RS256"]))
	config, _, err := configured(t, t.TempDir(), "--service-account-key-file="+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := config.Issuer.IssueToken(t.Context(), request(nil)); err == nil ||
		!strings.Contains(err.Error(), "no key that signs") {
		t.Errorf("%v", err)
	}
}

func TestWrongFlags(t *testing.T) {
	dir := t.TempDir()
	public := testbed.Write(t, filepath.Join(dir, "public"), publicPEM(t, testKeys["RS256"]))
	empty := testbed.Write(t, filepath.Join(dir, "empty"), "")
	for args, want := range map[string]string{
		"--service-account-issuer=":                             "must not be empty",
		"--service-account-issuer=a --service-account-issuer=a": `"a" stands twice`,
		"--service-account-issuer=a://%zz":                      "has a colon and is no URL",
		"--service-account-max-token-expiration=1m": "between 1 hour and 2^32 " +
			"seconds",
		"--service-account-jwks-uri=http://x":                                         "no https URL",
		"--api-audiences=a,,b":                                                        "must not be empty",
		"--service-account-signing-key-file=" + dir + "/none":                         "no such file",
		"--service-account-signing-key-file=" + public:                                "no private half",
		"--service-account-key-file=" + empty:                                         "no RSA or ECDSA key",
		"--service-account-key-file=" + public + " --service-account-key-file=" + dir: "is a directory",
	} {
		_, _, err := configured(t, "", strings.Fields(args)...)
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), strings.SplitN(args, "=", 2)[0]) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

func TestParseKeys(t *testing.T) {
	block := func(kind string, der []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	small := &rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 1023), E: 65537}
	smallDER, err := x509.MarshalPKIXPublicKey(small)
	ec := privatePEM(t, testKeys["ES256"])
	for name, row := range map[string]struct {
		content []byte
		keys    int
		err     string
	}{
		"nothing":    {nil, 0, "no RSA or ECDSA key"},
		"parameters": {slices.Concat(block("EC PARAMETERS", []byte{1}, nil), ec), 1, ""},
		"two": {slices.Concat(ec, []byte("and text between\n"), publicPEM(t, testKeys["RS256"])), 2,
			""},
		"a broken block":       {block("PUBLIC KEY", []byte("x"), nil), 0, "PUBLIC KEY: "},
		"a small key":          {block("PUBLIC KEY", smallDER, err), 0, "has 1024 bits, and needs 2048"},
		"a broken certificate": {block("CERTIFICATE", []byte("x"), nil), 0, "CERTIFICATE: "},
	} {
		keys, err := parseKeys(row.content)
		if len(keys) != row.keys || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(),
			row.err) {
			t.Errorf("%s: %d keys, %v", name, len(keys), err)
		}
	}
}

func FuzzParseKeys(f *testing.F) {
	for _, key := range testKeys {
		f.Add(privatePEM(f, key))
		f.Add(publicPEM(f, key))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		keys, err := parseKeys(content)
		if (err == nil) != (len(keys) > 0) {
			t.Errorf("%d keys, %v", len(keys), err)
		}
	})
}
