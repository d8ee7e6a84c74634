package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"
)

// file is the part of the format that a server needs.
type file struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Clusters   []cluster `json:"clusters"`
	Users      []user    `json:"users"`
	Contexts   []binding `json:"contexts"`
	Current    string    `json:"current-context"`
}

type cluster struct {
	Name    string `json:"name"`
	Cluster struct {
		Server     string `json:"server"`
		ServerName string `json:"tls-server-name,omitempty"`
		Insecure   bool   `json:"insecure-skip-tls-verify,omitempty"`
		CAFile     string `json:"certificate-authority,omitempty"`
		CA         []byte `json:"certificate-authority-data,omitempty"`
		Proxy      string `json:"proxy-url,omitempty"`
	} `json:"cluster"`
}

type user struct {
	Name string `json:"name"`
	User struct {
		CertificateFile string              `json:"client-certificate,omitempty"`
		Certificate     []byte              `json:"client-certificate-data,omitempty"`
		KeyFile         string              `json:"client-key,omitempty"`
		Key             []byte              `json:"client-key-data,omitempty"`
		Token           string              `json:"token,omitempty"`
		TokenFile       string              `json:"tokenFile,omitempty"`
		Username        string              `json:"username,omitempty"`
		Password        string              `json:"password,omitempty"`
		As              string              `json:"as,omitempty"`
		AsUID           string              `json:"as-uid,omitempty"`
		AsGroups        []string            `json:"as-groups,omitempty"`
		AsExtra         map[string][]string `json:"as-user-extra,omitempty"`
		// Exec and AuthProvider are programs that make credentials.
		Exec         map[string]any `json:"exec,omitempty"`
		AuthProvider map[string]any `json:"auth-provider,omitempty"`
	} `json:"user"`
}

// binding is a context of the file: a user at a cluster.
type binding struct {
	Name    string `json:"name"`
	Context struct {
		Cluster string `json:"cluster"`
		User    string `json:"user"`
	} `json:"context"`
}

func (c cluster) name() string { return c.Name }
func (u user) name() string    { return u.Name }
func (b binding) name() string { return b.Name }

// Read reads a kubeconfig, of which it takes the current context. The files that the kubeconfig names are relative to
// its directory.
func Read(path string) (*Config, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	config, err := Parse(content, filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	return config, nil
}

// Parse reads the content of a kubeconfig in a directory. It reads no other file.
func Parse(content []byte, dir string) (*Config, error) {
	var f file
	if err := yaml.Unmarshal(content, &f); err != nil {
		return nil, err
	}
	if cmp.Or(f.Kind, "Config") != "Config" || cmp.Or(f.APIVersion, "v1") != "v1" {
		return nil, fmt.Errorf("it is a %s of %s, want a Config of v1", f.Kind, f.APIVersion)
	}
	if f.Current == "" {
		return nil, errors.New("it has no current-context, which names the cluster and the user")
	}
	current, err := find(f.Contexts, "context", f.Current)
	if err != nil {
		return nil, err
	}
	config := &Config{}
	named, err := find(f.Clusters, "cluster", current.Context.Cluster)
	if err != nil {
		return nil, err
	}
	if err := config.setCluster(named, dir); err != nil {
		return nil, fmt.Errorf("cluster %q: %w", named.Name, err)
	}
	if current.Context.User == "" {
		return config, nil
	}
	who, err := find(f.Users, "user", current.Context.User)
	if err != nil {
		return nil, err
	}
	if err := config.setUser(who, dir); err != nil {
		return nil, fmt.Errorf("user %q: %w", who.Name, err)
	}
	return config, nil
}

// find returns the one entry of a name.
func find[E interface{ name() string }](entries []E, what, name string) (E, error) {
	var none E
	is := func(e E) bool { return e.name() == name }
	i := slices.IndexFunc(entries, is)
	if i < 0 {
		return none, fmt.Errorf("it has no %s %q", what, name)
	}
	if slices.ContainsFunc(entries[i+1:], is) {
		return none, fmt.Errorf("it has two entries for the %s %q", what, name)
	}
	return entries[i], nil
}

func (c *Config) setCluster(named cluster, dir string) error {
	c.Name = named.Name
	in := named.Cluster
	var err error
	if c.Server, err = parseURL(in.Server, "http", "https"); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if in.Proxy != "" {
		if c.Proxy, err = parseURL(in.Proxy, "http", "https", "socks5"); err != nil {
			return fmt.Errorf("proxy-url: %w", err)
		}
	}
	c.ServerName, c.Insecure, c.CA = in.ServerName, in.Insecure, source(in.CA, in.CAFile, dir)
	if c.Insecure && !c.CA.empty() {
		return errors.New("insecure-skip-tls-verify would ignore certificate-authority: leave one of them out")
	}
	return nil
}

func (c *Config) setUser(named user, dir string) error {
	in := named.User
	if in.Exec != nil || in.AuthProvider != nil {
		return errors.New("exec and auth-provider are programs, and a server starts none for its credentials: " +
			"use client-certificate, token or tokenFile")
	}
	c.Certificate, c.Key = source(in.Certificate, in.CertificateFile, dir), source(in.Key, in.KeyFile, dir)
	c.Token, c.TokenFile = in.Token, source(nil, in.TokenFile, dir).File
	c.Username, c.Password = in.Username, in.Password
	c.Impersonate = Impersonation{in.As, in.AsUID, in.AsGroups, in.AsExtra}
	switch token := c.Token != "" || c.TokenFile != ""; {
	case c.Certificate.empty() != c.Key.empty():
		return errors.New("client-certificate and client-key go together")
	case token && (c.Username != "" || c.Password != ""):
		return errors.New("a token and a username with a password exclude each other")
	case in.As == "" && (in.AsUID != "" || len(in.AsGroups) > 0 || len(in.AsExtra) > 0):
		return errors.New("as-uid, as-groups and as-user-extra need as")
	}
	return nil
}

func source(data []byte, file, dir string) Source {
	if file != "" && !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	return Source{data, file}
}

func parseURL(text string, schemes ...string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(schemes, u.Scheme) || u.Host == "" {
		return nil, fmt.Errorf("%q is no URL with a host and one of the schemes %q", text, schemes)
	}
	return u, nil
}
