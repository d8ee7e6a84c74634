package kubeconfig

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// Users are the credentials of a kubeconfig that says, by the names of its users, to which server each goes. The zero
// value has none. It is immutable.
type Users struct {
	named map[string]*Config
	// current is the user of the current context; nil without one.
	current *Config
}

// ReadUsers reads the users of a kubeconfig.
func ReadUsers(path string) (*Users, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	users, err := parseUsers(content, filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	return users, nil
}

func parseUsers(content []byte, dir string) (*Users, error) {
	var f file
	if err := yaml.Unmarshal(content, &f); err != nil {
		return nil, err
	}
	users := &Users{named: map[string]*Config{}}
	for _, u := range f.Users {
		config := &Config{}
		if err := config.setUser(u, dir); err != nil {
			return nil, fmt.Errorf("user %q: %w", u.Name, err)
		}
		users.named[u.Name] = config
	}
	if f.Current == "" {
		return users, nil
	}
	current, err := find(f.Contexts, "context", f.Current)
	if err != nil {
		return nil, err
	}
	users.current = users.named[current.Context.User]
	return users, nil
}

// For returns a config with the credentials for a server, which is a host and a port: those of the user named
// host:port, or *.suffix for the longest suffix, or the same without the port 443, or *, or those of the current
// context, or none. The caller may change the config, which has no Server.
func (u *Users) For(server string) Config {
	targets := []string{server}
	if host, port, err := net.SplitHostPort(server); err == nil && port == "443" {
		targets = append(targets, host)
	}
	for _, target := range targets {
		if config := u.matching(target); config != nil {
			return *config
		}
	}
	for _, config := range []*Config{u.named["*"], u.current} {
		if config != nil {
			return *config
		}
	}
	return Config{}
}

func (u *Users) matching(target string) *Config {
	if config := u.named[target]; config != nil {
		return config
	}
	for rest := target; ; {
		_, suffix, found := strings.Cut(rest, ".")
		if !found {
			return nil
		}
		if config := u.named["*."+suffix]; config != nil {
			return config
		}
		rest = suffix
	}
}
