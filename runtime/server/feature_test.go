package server

import (
	"context"
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/request"
	"github.com/spf13/pflag"
)

// mode is a feature with one mode of authorization.
type mode struct{ name string }

func (mode) Groups() []registry.Group { return nil }

func (mode) AddFlags(*pflag.FlagSet) {}

func (m mode) Configure(_ context.Context, config *Config) error {
	config.Modes[m.name] = auth.Always(auth.Allow)
	return nil
}

func TestAuthorizationModes(t *testing.T) {
	for _, test := range []struct {
		features []Feature
		modes    []string
		allowed  auth.Decision
		err      string
	}{
		{nil, nil, auth.NoOpinion, ""},
		{nil, []string{"AlwaysAllow"}, auth.Allow, ""},
		{nil, []string{"AlwaysDeny", "AlwaysAllow"}, auth.Deny, ""},
		{[]Feature{mode{"RBAC"}}, nil, auth.Allow, ""},
		{[]Feature{mode{"RBAC"}}, []string{"AlwaysDeny"}, auth.Deny, ""},
		{nil, []string{"RBAC"}, 0, `no mode "RBAC": it has AlwaysAllow, AlwaysDeny`},
		{nil, []string{"AlwaysDeny", "AlwaysDeny"}, 0, "stands twice"},
		{nil, []string{"ABAC"}, 0, "no mode ABAC: its policy file"},
	} {
		var config Config
		err := Program{Features: test.features}.configure(t.Context(), &config, test.modes)
		if test.err != "" || err != nil {
			if err == nil || test.err == "" || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%v: %v, want %q", test.modes, err, test.err)
			}
			continue
		}
		config = withDefaults(config)
		got, _, err := config.Authorizer.Authorize(t.Context(), auth.Attributes{Info: &request.Info{}})
		if got != test.allowed || err != nil {
			t.Errorf("%v: %v, %v; want %v", test.modes, got, err, test.allowed)
		}
	}
}
