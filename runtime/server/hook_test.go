package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/request"
	"github.com/spf13/pflag"
)

// A hook runs in order, as the system's user, and is a check until it started.
func TestHookRuns(t *testing.T) {
	var done []string
	ctx, end := context.WithCancel(auth.WithUser(t.Context(), systemUser))
	hooks, err := newHooks([]Hook{{
		Name: "roles",
		PostStart: func(ctx context.Context) error {
			done = append(done, "start as "+auth.UserFrom(ctx).Name)
			return nil
		},
		Run: func(ctx context.Context) error {
			done = append(done, "run")
			end()
			return ctx.Err()
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	check := hooks[0].check()
	if err := check.ask(ctx); err == nil || check.name != "poststarthook/roles" {
		t.Errorf("%s before the start: %v", check.name, err)
	}
	if err := hooks[0].run(ctx); err != nil {
		t.Error(err)
	}
	if err := check.ask(ctx); err != nil {
		t.Error(err)
	}
	if want := []string{"start as system:apiserver", "run"}; !slices.Equal(done, want) {
		t.Errorf("%q, want %q", done, want)
	}
}

func TestHookFails(t *testing.T) {
	broken := errors.New("broken")
	hooks, err := newHooks([]Hook{{Name: "a", PostStart: func(context.Context) error { return broken }}})
	if err != nil {
		t.Fatal(err)
	}
	if err := hooks[0].run(t.Context()); !errors.Is(err, broken) || !strings.Contains(err.Error(), "hook a") {
		t.Error(err)
	}
	if hooks[0].check().ask(t.Context()) == nil {
		t.Error("the check passes")
	}
	for _, wrong := range [][]Hook{{{}}, {{Name: "a"}, {Name: "a"}}} {
		if _, err := newHooks(wrong); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}

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
