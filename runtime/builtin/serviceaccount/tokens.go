package serviceaccount

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/access/meter"
	"apigen.dev/runtime/internal/access/tokencache"
	"apigen.dev/runtime/internal/reload"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// defaultIssuer is the issuer of servers whose flags name none. It names nobody else's server.
const defaultIssuer = "https://localhost"

// Feature is for a server that signs and accepts tokens of service accounts. It needs a group that serves
// service accounts, such as that of runtime/builtin/core.
type Feature struct {
	issuers, audiences   []string
	signingFile, keysURL string
	keyFiles             []string
	lookup               bool
	lifetime
}

var _ server.Feature = (*Feature)(nil)

// Groups implements server.Feature. The feature serves no group itself.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (t *Feature) AddFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&t.issuers, "service-account-issuer", []string{defaultIssuer},
		"issuer of the tokens of service accounts; if the flag is repeated, the first issuer is that of new "+
			"tokens, and tokens of all of them are accepted. An https URL makes the server serve "+configurationPath)
	flags.StringVar(&t.signingFile, "service-account-signing-key-file", "",
		"private key (PEM, RSA or ECDSA) that signs tokens of service accounts; without this flag and "+
			"--service-account-key-file, the server makes a key in --data-dir")
	flags.StringArrayVar(&t.keyFiles, "service-account-key-file", nil,
		"public or private keys (PEM) that verify tokens of service accounts, beside the key that signs; may be "+
			"repeated")
	flags.StringVar(&t.keysURL, "service-account-jwks-uri", "",
		"https URL at which others read the keys of tokens of service accounts; by default the server's own, "+keysPath)
	flags.StringSliceVar(&t.audiences, "api-audiences", nil,
		"audiences of tokens that are for this server; by default the issuers of service accounts' tokens")
	flags.DurationVar(&t.most, "service-account-max-token-expiration", 0,
		"longest life of a token that clients may ask for, at least 1h; 0 is no bound")
	flags.BoolVar(&t.extend, "service-account-extend-token-expiration", true,
		"let tokens of Pods that are asked for with the lifetime of mounted tokens live for a year")
	flags.BoolVar(&t.lookup, "service-account-lookup", true,
		"accepted for the sake of kube-apiserver's command lines: this server looks the account of every token up")
}

// Configure implements server.Feature.
func (t *Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	if err := t.check(); err != nil {
		return server.Contribution{}, err
	}
	files, err := t.files(config.DataDir)
	if err != nil {
		return server.Contribution{}, err
	}
	a := &authority{
		issuers: t.issuers, audiences: t.audiences, lookup: served, now: time.Now, lifetime: t.lifetime,
		metrics: meter.Shared(&config.Metrics, meter.NewAccounts),
	}
	if len(a.audiences) == 0 {
		a.audiences = t.issuers
	}
	a.keys.Store(files.Value())
	cached := tokencache.New(a, tokencache.Config{
		Log: config.Log, Metrics: meter.Shared(&config.Metrics, meter.NewTokenCache),
	})
	contribution := server.Contribution{
		Audiences: a.audiences, Issuer: a,
		Authentication: auth.Authentication{Tokens: []auth.TokenAuthenticator{cached}},
		Hooks: []server.Hook{{Name: "service-account-keys", Run: func(ctx context.Context) error {
			ticker := time.NewTicker(reload.Every)
			defer ticker.Stop()
			files.Follow(ctx, ticker.C, config.Log, "keys of service accounts", func(k *keys) { a.keys.Store(k) })
			return nil
		}}},
	}
	if err := discoverable(t.issuers[0]); err != nil {
		config.Log.Warn("the keys of service accounts' tokens are not served", "flag", "--service-account-issuer",
			"error", err)
		return contribution, nil
	}
	keysURL := t.keysURL
	if keysURL == "" {
		keysURL = config.URL() + keysPath
	}
	contribution.Paths = a.documents(keysURL)
	return contribution, nil
}

// files reads the files of keys.
func (t *Feature) files(dataDir string) (*reload.Files[*keys], error) {
	signing := t.signingFile
	if signing == "" && len(t.keyFiles) == 0 {
		signing = filepath.Join(dataDir, "pki", "sa.key")
		if err := ownKey(signing); err != nil {
			return nil, fmt.Errorf("the key of service accounts' tokens: %w", err)
		}
	}
	paths := slices.Clone(t.keyFiles)
	if signing != "" {
		paths = slices.Insert(paths, 0, signing)
	}
	files, err := reload.New(func(contents [][]byte) (*keys, error) {
		if signing == "" {
			return newKeys(nil, contents...)
		}
		return newKeys(contents[0], contents[1:]...)
	}, paths...)
	if err != nil {
		return nil, fmt.Errorf("--service-account-signing-key-file and --service-account-key-file (%s): %w",
			strings.Join(paths, ", "), err)
	}
	return files, nil
}

// check returns the errors in the flags.
func (t *Feature) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for i, issuer := range t.issuers {
		if issuer == "" {
			bad("--service-account-issuer: an issuer must not be empty")
		}
		if _, err := url.Parse(issuer); err != nil && strings.Contains(issuer, ":") {
			bad("--service-account-issuer: %q has a colon and is no URL: %w", issuer, err)
		}
		if slices.Contains(t.issuers[:i], issuer) {
			bad("--service-account-issuer: %q stands twice", issuer)
		}
	}
	if t.most != 0 && (t.most < time.Hour || t.most > mostSecond*time.Second) {
		bad("--service-account-max-token-expiration: %s must be between 1 hour and 2^32 seconds", t.most)
	}
	if u, err := url.Parse(t.keysURL); t.keysURL != "" && (err != nil || u.Scheme != "https") {
		bad("--service-account-jwks-uri: %q is no https URL", t.keysURL)
	}
	if slices.Contains(t.audiences, "") {
		bad("--api-audiences: an audience must not be empty")
	}
	return errors.Join(errs...)
}
