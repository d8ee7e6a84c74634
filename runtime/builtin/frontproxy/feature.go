package frontproxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/reload"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// Feature is for servers behind a proxy that authenticates users: the flags --requestheader-*.
type Feature struct{ flags *pflag.FlagSet }

var _ server.Feature = (*Feature)(nil)

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (f *Feature) AddFlags(flags *pflag.FlagSet) {
	f.flags = flags
	AddFlags(flags)
}

// Configure implements server.Feature.
func (f *Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	if f.flags.Changed("authentication-kubeconfig") {
		return server.Contribution{}, nil // package delegated reads the flags
	}
	proxy, err := FromFlags(f.flags, cmp.Or(config.Log, slog.Default()), Headers{})
	if err != nil || proxy == nil {
		return server.Contribution{}, err
	}
	return server.Contribution{Authentication: auth.Authentication{FrontProxy: proxy}}, nil
}

const (
	caFlag       = "requestheader-client-ca-file"
	namesFlag    = "requestheader-allowed-names"
	usernameFlag = "requestheader-username-headers"
	uidFlag      = "requestheader-uid-headers"
	groupFlag    = "requestheader-group-headers"
	extraFlag    = "requestheader-extra-headers-prefix"
)

// AddFlags adds the flags, unless another feature has added them.
func AddFlags(flags *pflag.FlagSet) {
	if flags.Lookup(caFlag) != nil {
		return
	}
	flags.String(caFlag, "", "certificate authorities of the proxies (PEM) whose headers name users")
	flags.StringSlice(namesFlag, nil, "common names that a proxy's certificate may have; without it, every name")
	flags.StringSlice(usernameFlag, nil, "headers of a proxy for the user's name, such as X-Remote-User")
	flags.StringSlice(uidFlag, nil, "headers of a proxy for the user's UID, such as X-Remote-Uid")
	flags.StringSlice(groupFlag, nil, "headers of a proxy for the user's groups, such as X-Remote-Group")
	flags.StringSlice(extraFlag, nil,
		"beginnings of the headers of a proxy for more about the user, such as X-Remote-Extra-")
}

// FromFlags returns the authenticator that the flags ask for, or nil if they name no authorities. defaults are the
// headers for which there is no flag.
func FromFlags(flags *pflag.FlagSet, log *slog.Logger, defaults Headers) (*Proxy, error) {
	path, err := flags.GetString(caFlag)
	if err != nil {
		return nil, err
	}
	lists := map[string]*[]string{
		namesFlag: new([]string), usernameFlag: &defaults.Username, uidFlag: &defaults.UID, groupFlag: &defaults.Group,
		extraFlag: &defaults.ExtraPrefixes,
	}
	for name, list := range lists {
		if err := read(flags, name, list); err != nil {
			return nil, err
		}
	}
	if path == "" {
		return nil, nil
	}
	if len(defaults.Username) == 0 {
		return nil, fmt.Errorf("--%s needs --%s, such as X-Remote-User", caFlag, usernameFlag)
	}
	trust, err := reload.Open(log, func(contents [][]byte) (*Trust, error) {
		return NewTrust(contents[0], *lists[namesFlag], defaults)
	}, path)
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w", caFlag, path, err)
	}
	return New(trust.Get), nil
}

// read reads a flag that the command line has.
func read(flags *pflag.FlagSet, name string, into *[]string) error {
	if !flags.Changed(name) {
		return nil
	}
	values, err := flags.GetStringSlice(name)
	if err != nil {
		return err
	}
	values = slices.Clone(values)
	for i, value := range values {
		if values[i] = strings.TrimSpace(value); values[i] == "" {
			return fmt.Errorf("empty value in %q", name)
		}
	}
	*into = values
	return nil
}

// Standard are the headers of kube-apiserver's aggregator.
func Standard() Headers {
	return Headers{
		Username: []string{"X-Remote-User"}, Group: []string{"X-Remote-Group"},
		ExtraPrefixes: []string{"X-Remote-Extra-"},
	}
}

// Check returns what makes the headers useless, or dangerous: an empty prefix would make every header one about the
// user.
func (h *Headers) Check() error {
	for _, names := range [][]string{h.Username, h.UID, h.Group, h.ExtraPrefixes} {
		for _, name := range names {
			if strings.TrimSpace(name) == "" {
				return errors.New("the name of a header is empty")
			}
		}
	}
	if len(h.Username) == 0 {
		return errors.New("no header names the user")
	}
	return nil
}
