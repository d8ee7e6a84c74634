package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/access/meter"
	"apigen.dev/runtime/registry"
	"github.com/spf13/pflag"
)

// Feature is something that a server has beside its own groups because its main names it in Program.Features:
// ready-made groups, a way to authenticate, a mode of authorization, audit. A binary links no feature that its main
// doesn't name. The flags of a feature are parsed into the feature, so that a value belongs to one Program.
type Feature interface {
	// Groups returns the ready-made groups that the feature serves.
	Groups() []registry.Group
	// AddFlags adds the flags of the feature, which have the names of kube-apiserver's flags if it has them.
	AddFlags(flags *pflag.FlagSet)
	// Configure returns what the feature adds to a server. The command calls it after it parsed the flags. It may read
	// files and make values, and starts nothing: Hooks of the contribution start what runs beside requests. In config
	// it changes nothing but Metrics, of which features share some. It may keep config: what runs later finds there
	// what other features have contributed. Its error names the flag or the file that is wrong.
	Configure(ctx context.Context, config *Config) (Contribution, error)
}

// Base is a Feature that has nothing: a feature embeds it, and declares the methods for what it has.
type Base struct{}

// Groups implements Feature.
func (Base) Groups() []registry.Group { return nil }

// AddFlags implements Feature.
func (Base) AddFlags(*pflag.FlagSet) {}

// Configure implements Feature.
func (Base) Configure(context.Context, *Config) (Contribution, error) { return Contribution{}, nil }

// groups returns the groups of the author and those of the features.
func (p Program) groups() []registry.Group {
	all := slices.Clone(p.Groups)
	for _, feature := range p.Features {
		all = append(all, feature.Groups()...)
	}
	return all
}

func (p Program) addFlags(flags *pflag.FlagSet) {
	for _, feature := range p.Features {
		feature.AddFlags(flags)
	}
}

// configure adds the hooks, the features and the authorizer of the modes that a flag names.
func (p Program) configure(ctx context.Context, config *Config, modes []string) error {
	config.Modes = map[string]auth.Authorizer{
		"AlwaysAllow": auth.Always(auth.Allow), "AlwaysDeny": auth.Always(auth.Deny),
	}
	var err error
	if config.Services, err = p.findServices(); err != nil {
		return err
	}
	if err := config.add("the program", Contribution{Hooks: p.Hooks, Admission: p.Admission}); err != nil {
		return err
	}
	for _, feature := range p.Features {
		if err := config.Use(ctx, feature); err != nil {
			return err
		}
	}
	if config.Authorizer != nil && (config.AuthorizerOf != nil || len(modes) > 0) {
		return errors.New("two things decide what users may do: a feature that leaves it to others, such as " +
			"--authorization-kubeconfig, goes neither with --authorization-config nor with --authorization-mode")
	}
	if config.AuthorizerOf != nil {
		authorizer, err := config.AuthorizerOf(config.Modes)
		config.Authorizer = authorizer
		return err
	}
	if config.Authorizer != nil {
		return nil // a feature decided
	}
	return config.authorize(modes)
}

// rbacMode is the default of --authorization-mode where the server has it.
const rbacMode = "RBAC"

// authorize makes the authorizer of modes, in their order.
func (c *Config) authorize(modes []string) error {
	if len(modes) == 0 && c.Modes[rbacMode] != nil {
		modes = []string{rbacMode}
	}
	var union auth.Union
	decisions := meter.Shared(&c.Metrics, meter.NewDecisions)
	for i, mode := range modes {
		authorizer := c.Modes[mode]
		switch {
		case authorizer == nil && mode == auth.ModeABAC:
			return fmt.Errorf("--authorization-mode: %w", auth.ErrABAC)
		case authorizer == nil:
			return fmt.Errorf("--authorization-mode: this server has no mode %q: it has %s", mode,
				strings.Join(slices.Sorted(maps.Keys(c.Modes)), ", "))
		case slices.Contains(modes[:i], mode):
			return fmt.Errorf("--authorization-mode: %s stands twice", mode)
		}
		union = append(union, decisions.Authorizer(mode, strings.ToLower(mode), authorizer))
	}
	if len(union) > 0 {
		c.Authorizer = union
	}
	return nil
}
