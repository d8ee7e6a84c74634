package webhookauth

import (
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

func TestFeatures(t *testing.T) {
	path := writeKubeconfig(t, serve(t, answers(
		`{"status":{"allowed":true,"authenticated":true,"user":{"username":"alice"}}}`, new([]string))))
	for name, test := range map[string]struct {
		args         string
		tokens, mode bool
		err          string
	}{
		"none":   {"", false, false, ""},
		"tokens": {"--authentication-token-webhook-config-file=" + path, true, false, ""},
		"access": {"--authorization-mode=AlwaysDeny,Webhook --authorization-webhook-config-file=" + path, false, true,
			""},
		"both in v1": {"--authorization-mode=Webhook --authorization-webhook-config-file=" + path +
			" --authorization-webhook-version=v1 --authentication-token-webhook-version=v1" +
			" --authentication-token-webhook-config-file=" + path, true, true, ""},
		"no file": {"--authorization-mode=Webhook", false, false, "config file not passed"},
		"no mode": {"--authorization-webhook-config-file=" + path, false, false, "without mode Webhook"},
		"no version": {"--authentication-token-webhook-version=v3 --authentication-token-webhook-config-file=" + path,
			false, false, `version "v3"`},
		"lost file": {"--authentication-token-webhook-config-file=/none", false, false,
			"config-file: kubeconfig: open /none"},
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.StringSlice("authorization-mode", nil, "")
		features := []server.Feature{&Authentication{}, &Authorization{}}
		for _, feature := range features {
			feature.AddFlags(flags)
		}
		if err := flags.Parse(strings.Fields(test.args)); err != nil {
			t.Fatal(err)
		}
		config := server.Config{Contribution: server.Contribution{Modes: map[string]auth.Authorizer{}}}
		var err error
		for _, feature := range features {
			if err == nil {
				err = config.Use(t.Context(), feature)
			}
		}
		if test.err != "" || err != nil {
			if err == nil || test.err == "" || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, want %q", name, err, test.err)
			}
			continue
		}
		if got := len(config.Authentication.Tokens) == 1; got != test.tokens {
			t.Errorf("%s: tokens: %v", name, got)
		}
		if got := config.Modes[Mode] != nil; got != test.mode {
			t.Errorf("%s: mode: %v", name, got)
		}
		for _, tokens := range config.Authentication.Tokens {
			if identity, err := tokens.AuthenticateToken(t.Context(), "t", nil); err != nil || identity == nil {
				t.Errorf("%s: %v, %v", name, identity, err)
			}
		}
		if authorizer := config.Modes[Mode]; authorizer != nil {
			got, _, err := authorizer.Authorize(t.Context(), auth.Attributes{User: alice, Info: get})
			if got != auth.Allow || err != nil {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
	}
}
