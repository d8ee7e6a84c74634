package kubeconfig

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const whole = `
apiVersion: v1
kind: Config
current-context: here
contexts:
- {name: there, context: {cluster: c2, user: u2}}
- {name: here, context: {cluster: c1, user: u1, namespace: ns}}
clusters:
- {name: c2, cluster: {server: "https://other"}}
- name: c1
  cluster:
    server: https://host:6443/path
    tls-server-name: name
    certificate-authority: ca.crt
    proxy-url: socks5://proxy:1
users:
- {name: u2, user: {exec: {command: x}}}
- name: u1
  user:
    client-certificate: /abs/tls.crt
    client-key-data: a2V5
    tokenFile: token
    token: t
    as: alice
    as-uid: "7"
    as-groups: [a, b]
    as-user-extra: {k: [v]}
`

func TestParse(t *testing.T) {
	got, err := Parse([]byte(whole), "/dir")
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Name: "c1", Server: got.Server, ServerName: "name", CA: Source{File: "/dir/ca.crt"}, Proxy: got.Proxy,
		Certificate: Source{File: "/abs/tls.crt"}, Key: Source{Data: []byte("key")},
		Token: "t", TokenFile: "/dir/token",
		Impersonate: Impersonation{"alice", "7", []string{"a", "b"}, map[string][]string{"k": {"v"}}},
	}
	if !reflect.DeepEqual(got, want) || got.Server.String() != "https://host:6443/path" ||
		got.Proxy.String() != "socks5://proxy:1" {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A fault of another context's cluster or user is not a fault.
func TestParseRefuses(t *testing.T) {
	const (
		context  = "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
		clusters = "clusters: [{name: c, cluster: {server: 'https://h'}}]\n"
	)
	with := func(user string) string { return context + clusters + "users: [{name: u, user: " + user + "}]\n" }
	for content, want := range map[string]string{
		"":                                   "no current-context",
		"{":                                  "yaml",
		"kind: Pod":                          "it is a Pod",
		"apiVersion: v2":                     "it is a  of v2",
		"current-context: x":                 `no context "x"`,
		context:                              `no cluster "c"`,
		context + clusters:                   `no user "u"`,
		with("{exec: {}}"):                   "a server starts none",
		with("{token: t}{"):                  "yaml",
		with("{client-key: a}"):              "go together",
		with("{auth-provider: {name: gcp}}"): `user "u": exec and auth-provider`,
		with("{token: t, username: a}"):      "exclude each other",
		with("{as-groups: [g]}"):             "need as",
		context + "clusters: [{name: c, cluster: {server: h}}]":                            "no URL",
		context + "clusters: [{name: c, cluster: {server: 'ftp://h'}}]":                    "no URL",
		context + "clusters: [{name: c, cluster: {server: 'https://h', proxy-url: 'x:'}}]": "proxy-url",
		context + "clusters: [{name: c, cluster: {server: 'https://h', insecure-skip-tls-verify: true, " +
			"certificate-authority: a}}]": "leave one of them out",
		context + "clusters: [{name: c, cluster: {server: 'https://h'}}, {name: c}]": "two entries",
	} {
		if _, err := Parse([]byte(content), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestLogin(t *testing.T) {
	login := Login{Name: "shop", Server: "https://h:1", CA: []byte("ca"), Token: "t", Certificate: []byte("c"),
		Key: []byte("k")}
	content, err := login.YAML()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(content, "")
	if err != nil {
		t.Fatal(err)
	}
	if got.Server.String() != login.Server || got.Token != "t" || string(got.CA.Data) != "ca" ||
		string(got.Certificate.Data) != "c" || string(got.Key.Data) != "k" {
		t.Errorf("%+v", got)
	}
}

func TestInCluster(t *testing.T) {
	env := map[string]string{"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
	got, err := inCluster(func(name string) string { return env[name] }, "/dir")
	if err != nil || got.Server.String() != "https://[fd00::1]:443" || got.TokenFile != "/dir/token" ||
		got.CA.File != "/dir/ca.crt" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := inCluster(func(string) string { return "" }, "/dir"); !errors.Is(err, ErrNotInCluster) {
		t.Error(err)
	}
}

// A kubeconfig is refused or describes a client that can be made, or whose files are missing.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n" +
		"clusters: [{name: c, cluster: {server: 'http://h', certificate-authority-data: YQ==}}]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		config, err := Parse(content, "/none")
		if err != nil {
			return
		}
		if config.Server.Host == "" || config.Server.Scheme != "http" && config.Server.Scheme != "https" {
			t.Errorf("server %q", config.Server)
		}
		config.CA.File, config.Certificate.File, config.Key.File, config.TokenFile = "", "", "", ""
		_, _ = config.Client(nil, 0) // it must not panic
	})
}

// FuzzUsers reads kubeconfigs as those of several servers, and files of tokens: a token can stand in a header.
func FuzzUsers(f *testing.F) {
	f.Add([]byte(whole), "a.example.com:443")
	f.Add([]byte("users: [{name: '*.b', user: {token: t}}, {name: '*', user: {}}]\ncurrent-context: x"), "a.b:1")
	f.Fuzz(func(t *testing.T, content []byte, server string) {
		if users, err := parseUsers(content, "/none"); err == nil {
			_ = users.For(server) // it must not panic
		}
		token, err := parseToken([][]byte{content})
		if err == nil && (token == "" || strings.ContainsAny(token, " \r\n\x00")) {
			t.Errorf("the token %q", token)
		}
	})
}
