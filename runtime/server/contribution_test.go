package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/http/filter"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type nobody struct{ auth.Authenticator }

type signer struct{ auth.TokenIssuer }

type spans struct{ filter.Tracer }

// full is a contribution with every field.
func full() Contribution {
	events := schema.GroupResource{Resource: "events"}
	pass := func(next http.Handler) http.Handler { return next }
	return Contribution{
		Hooks:     []Hook{{Name: "a"}},
		Metrics:   []prometheus.Collector{prometheus.NewCounter(prometheus.CounterOpts{Name: "a"})},
		Observers: []func(filter.Observation){func(filter.Observation) {}},
		Authentication: auth.Authentication{
			FrontProxy: nobody{}, Certificates: nobody{}, Tokens: []auth.TokenAuthenticator{new(auth.Tokens)},
			Anonymous: auth.AnonymousNowhere,
		},
		OwnFrontProxy: nobody{},
		Modes:         map[string]auth.Authorizer{"A": auth.Always(auth.Allow)},
		AuthorizerOf:  func(map[string]auth.Authorizer) (auth.Authorizer, error) { return nil, nil },
		Authorizer:    auth.Always(auth.Allow),
		Issuer:        signer{}, Audiences: []string{"a"},
		Guard:              pass,
		Admission:          []admission.Plugin{{Name: "A"}},
		Auditor:            new(trail.Auditor),
		Tracer:             spans{},
		Fairness:           func(func(string, string) (int64, int64, bool)) filter.Filter { return pass },
		DynamicAPIs:        new(DynamicAPIs),
		AfterWrite:         map[schema.GroupResource]func(context.Context, int64){events: nil},
		TimeToLive:         map[schema.GroupResource]time.Duration{events: time.Hour},
		ServingCertificate: func(*tls.Config) {},
		Paths:              map[string]http.Handler{"/a": nil},
		Unlisted:           map[string]http.Handler{"/b": nil},
		Scraped:            func(prometheus.Gatherer) http.Handler { return nil },
		Check:              func(*Config) error { return nil },
	}
}

// severalOf are the fields that several contributions may have.
var severalOf = []string{"Hooks", "Metrics", "Observers", "Admission", "Check"}

// Every field reaches the server, and a second contribution of it is either added, or an error that names both.
func TestContributions(t *testing.T) {
	all := reflect.ValueOf(full())
	for i := range all.NumField() {
		name := all.Type().Field(i).Name
		if all.Field(i).IsZero() {
			t.Fatalf("full() lacks %s", name)
		}
		var one Contribution
		reflect.ValueOf(&one).Elem().Field(i).Set(all.Field(i))
		if name == "Authentication" {
			one.Authentication = auth.Authentication{FrontProxy: nobody{}}
		}
		var config Config
		if err := config.add("first", one); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name != "Check" && reflect.ValueOf(config.Contribution).Field(i).IsZero() {
			t.Errorf("%s is lost", name)
		}
		second := one
		if name == "DynamicAPIs" {
			second.DynamicAPIs = new(DynamicAPIs)
		}
		err := config.add("second", second)
		if given := (&Config{Contribution: one}).add("second", second); (given == nil) != (err == nil) ||
			given != nil && !strings.Contains(given.Error(), "the configuration and second both bring ") {
			t.Errorf("a %s beside that of the configuration: %v", name, given)
		}
		if several := slices.Contains(severalOf, name); several != (err == nil) {
			t.Errorf("a second %s: %v", name, err)
		} else if err != nil && !strings.Contains(err.Error(), "first and second both bring ") {
			t.Errorf("a second %s: %v", name, err)
		}
	}
}

// Tokens and certificates of several features are asked in turn, and DynamicAPIs are shared.
func TestSharedContributions(t *testing.T) {
	var config Config
	apis := new(DynamicAPIs)
	for _, from := range []string{"first", "second"} {
		if err := config.add(from, Contribution{
			Authentication: auth.Authentication{
				Certificates: nobody{}, Tokens: []auth.TokenAuthenticator{new(auth.Tokens)},
			},
			DynamicAPIs: apis,
		}); err != nil {
			t.Error(err)
		}
	}
	if _, both := config.Authentication.Certificates.(either); !both || len(config.Authentication.Tokens) != 2 {
		t.Errorf("%#v", config.Authentication)
	}
}

// A check sees what features bring that come later, and its error ends the start.
func TestChecks(t *testing.T) {
	var config Config
	refused := errors.New("refused")
	if err := errors.Join(
		config.add("first", Contribution{Check: func(c *Config) error {
			if c.Issuer != nil {
				return refused
			}
			return nil
		}}),
		config.add("second", Contribution{Issuer: signer{}}),
	); err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), config); !errors.Is(err, refused) {
		t.Error(err)
	}
	config = Config{Contribution: Contribution{Check: func(*Config) error { return refused }}}
	if _, err := New(t.Context(), config); !errors.Is(err, refused) {
		t.Errorf("the check of the configuration: %v", err)
	}
}
