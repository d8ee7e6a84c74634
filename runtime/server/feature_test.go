package server

import (
	"context"
	"errors"
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
)

// mode is a feature with one mode of authorization.
type mode struct {
	Base
	name string
}

func (m mode) Configure(context.Context, *Config) (Contribution, error) {
	return Contribution{Modes: map[string]auth.Authorizer{m.name: auth.Always(auth.Allow)}}, nil
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
		{[]Feature{mode{name: "RBAC"}}, nil, auth.Allow, ""},
		{[]Feature{mode{name: "RBAC"}}, []string{"AlwaysDeny"}, auth.Deny, ""},
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

// decidingFeature is a feature that makes the authorizer of a mode, such as one that reads a file.
type decidingFeature struct{ Base }

func (decidingFeature) Configure(context.Context, *Config) (Contribution, error) {
	return Contribution{AuthorizerOf: func(modes map[string]auth.Authorizer) (auth.Authorizer, error) {
		if modes["Late"] == nil {
			return nil, errors.New("no mode Late")
		}
		return modes["Late"], nil
	}}, nil
}

// A feature that decides who authorizes sees the modes of all features, whatever their order.
func TestAuthorizerOfModes(t *testing.T) {
	for _, features := range [][]Feature{{mode{name: "Late"}, decidingFeature{}},
		{decidingFeature{}, mode{name: "Late"}}} {
		var config Config
		err := Program{Features: features}.configure(t.Context(), &config, []string{"AlwaysDeny"})
		if err != nil || config.Authorizer != config.Modes["Late"] {
			t.Errorf("%T first: %v, %v", features[0], config.Authorizer, err)
		}
	}
	var config Config
	if err := (Program{Features: []Feature{decidingFeature{}}}).configure(t.Context(), &config, nil); err == nil {
		t.Error("an authorizer of a mode that no feature brings")
	}
}

// delegating is a feature that decides by itself.
type delegating struct{ decidingFeature }

func (delegating) Configure(context.Context, *Config) (Contribution, error) {
	return Contribution{Authorizer: auth.Always(auth.Allow)}, nil
}

// Two that decide are an error: nobody would know which one holds.
func TestTwoAuthorizers(t *testing.T) {
	for name, p := range map[string]struct {
		features []Feature
		modes    []string
		wrong    bool
	}{
		"alone":              {[]Feature{delegating{}}, nil, false},
		"beside a mode":      {[]Feature{delegating{}}, []string{"AlwaysDeny"}, true},
		"beside a file":      {[]Feature{delegating{}, decidingFeature{}}, nil, true},
		"beside a file, too": {[]Feature{decidingFeature{}, delegating{}}, nil, true},
	} {
		if err := (Program{Features: p.features}).configure(t.Context(), &Config{}, p.modes); (err != nil) != p.wrong {
			t.Errorf("%s: %v", name, err)
		}
	}
}
