package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/internal/reload"
	"apigen.dev/runtime/internal/state/stats"
	"github.com/spf13/pflag"
)

// fileInterval is how often the server reads files of certificates and tokens again. Tests change it.
var fileInterval = reload.Every

// certificateFlags are the flags about TLS.
type certificateFlags struct {
	files  certs.Files
	names  []string
	policy certs.Policy
}

func (c *certificateFlags) add(set *pflag.FlagSet) {
	set.StringVar(&c.files.Certificate, "tls-cert-file", "",
		"certificate of the server, with its intermediates (PEM); without it, the server makes one")
	set.StringVar(&c.files.Key, "tls-private-key-file", "", "key of --tls-cert-file")
	set.Var(&namedFlag{&c.files.Named}, "tls-sni-cert-key",
		"files of a certificate and its key for clients that ask for certain names: cert.pem,key.pem for the names in "+
			"the certificate, or cert.pem,key.pem:*.example.com,example.com; repeat the flag for further certificates")
	set.StringSliceVar(&c.names, "tls-san", nil,
		"further names and IP addresses in the certificate that the server makes")
	set.StringVar(&c.policy.MinVersion, "tls-min-version", "",
		"oldest version of TLS: "+strings.Join(certs.VersionNames(), ", ")+"; VersionTLS12 if none is named")
	secure, insecure := certs.CipherNames()
	set.StringSliceVar(&c.policy.Ciphers, "tls-cipher-suites", nil,
		"cipher suites up to TLS 1.2; Go's if none is named. Secure: "+strings.Join(secure, ", ")+
			". Insecure: "+strings.Join(insecure, ", "))
	set.StringVar(&c.files.ClientCA, "client-ca-file", "",
		"certificate authorities of clients (PEM), beside the server's own: the common name of a client "+
			"certificate is the user, its organizations are the groups")
}

func (c *certificateFlags) check(bad func(format string, args ...any)) {
	for _, name := range c.names {
		if err := certs.CheckName(name); err != nil {
			bad("--tls-san: %v", err)
		}
	}
	if len(c.names) > 0 && c.files.Certificate != "" {
		bad("--tls-san is for the certificate that the server makes, and --tls-cert-file names another one")
	}
	if _, _, err := c.policy.Config(); err != nil {
		bad("%v", err)
	}
}

// named returns the files and the flags that name them.
func (c *certificateFlags) named() [][2]string {
	all := [][2]string{
		{"tls-cert-file", c.files.Certificate}, {"tls-private-key-file", c.files.Key},
		{"client-ca-file", c.files.ClientCA},
	}
	for _, n := range c.files.Named {
		all = append(all, [2]string{"tls-sni-cert-key", n.Certificate}, [2]string{"tls-sni-cert-key", n.Key})
	}
	return all
}

// namedFlag is the value of --tls-sni-cert-key, which is given once for each certificate.
type namedFlag struct{ all *[]certs.Named }

func (f *namedFlag) Set(value string) error {
	n, err := certs.ParseNamed(value)
	if err == nil {
		*f.all = append(*f.all, n)
	}
	return err
}

func (f *namedFlag) String() string {
	if f.all == nil {
		return ""
	}
	var values []string
	for _, n := range *f.all {
		values = append(values, n.String())
	}
	return strings.Join(values, ";")
}

func (f *namedFlag) Type() string { return "cert,key[:names]" }

// identity is who the server is for its clients, and which clients it knows by certificates.
type identity struct {
	keeper    *certs.Keeper
	users     *auth.Certificates
	name, dir string // of the program, and its data directory
	url       string
	log       *slog.Logger
}

func openIdentity(name string, f flags, given *certs.Given, log *slog.Logger) (*identity, error) {
	dir := pki(f.dataDir)
	keeper, err := certs.Open(certs.Options{
		Dir: dir, Names: certs.Names(f.bindAddress, f.certificates.names), Given: given, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("certificates in %s: %w", dir, err)
	}
	users := auth.NewCertificates(keeper.State().Roots)
	return &identity{keeper: keeper, users: users, name: name, dir: f.dataDir, log: log}, nil
}

// pki is the directory of the certificates that the server makes.
func pki(dataDir string) string { return filepath.Join(dataDir, "pki") }

// writeKubeconfig writes the kubeconfig of the administrator, and returns its path.
func (id *identity) writeKubeconfig(url string) (string, error) {
	id.url = url
	return writeAdminKubeconfig(id.dir, id.name, url, id.keeper.State().Trust, id.keeper.State().Admin)
}

// follow takes changes of certificates until ctx ends.
func (id *identity) follow(ctx context.Context, ticks <-chan time.Time) {
	id.keeper.Follow(ctx, ticks, func(state *certs.State) {
		id.users.Trust(state.Roots)
		if _, err := id.writeKubeconfig(id.url); err != nil {
			id.log.Error("the kubeconfig of the administrator could not be written", "error", err)
		}
	})
}

// collectEnds sends when the certificates end.
func (id *identity) collectEnds(s *stats.Series) {
	for name, end := range id.keeper.State().Ends {
		s.With("name", name).Gauge("apigen_certificate_expiration_timestamp_seconds",
			"Unix time at which a certificate of the server ends: its authority, that which it shows to clients, "+
				"and that "+
				"of the administrator.", end.Unix())
	}
}

// writeAdminKubeconfig replaces the kubeconfig of the administrator in one step, and returns its path.
func writeAdminKubeconfig(dir, name, url string, trust []byte, admin certs.Pair) (string, error) {
	content, err := Kubeconfig{
		Name: name, Server: url, CA: trust, Certificate: admin.Certificate, Key: admin.Key,
	}.YAML()
	if err != nil {
		return "", err
	}
	path := adminKubeconfig(dir)
	return display(path), certs.WriteFile(path, content, 0o600)
}

func adminKubeconfig(dir string) string { return filepath.Join(dir, "admin.kubeconfig") }

// tokenFile is the file of --token-auth-file; nil if there is none.
type tokenFile struct {
	file   *reload.Files[*auth.Tokens]
	tokens *auth.Tokens
}

func readTokens(path string) (*tokenFile, error) {
	if path == "" {
		return nil, nil
	}
	file, err := reload.New(func(contents [][]byte) (*auth.Tokens, error) {
		return auth.ReadTokens(strings.NewReader(string(contents[0])), path)
	}, path)
	if failed := (*os.PathError)(nil); errors.As(err, &failed) {
		return nil, fmt.Errorf("--token-auth-file: %w", err)
	}
	if err != nil {
		return nil, err
	}
	t := &tokenFile{file, new(auth.Tokens)}
	t.tokens.Replace(file.Value())
	return t, nil
}

func (t *tokenFile) authenticators() []auth.TokenAuthenticator {
	if t == nil {
		return nil
	}
	return []auth.TokenAuthenticator{t.tokens}
}

func (t *tokenFile) follow(log *slog.Logger) func(ctx context.Context, ticks <-chan time.Time) {
	return func(ctx context.Context, ticks <-chan time.Time) {
		if t != nil {
			t.file.Follow(ctx, ticks, log, "--token-auth-file", t.tokens.Replace)
		}
	}
}
