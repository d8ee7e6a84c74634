package server

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/internal/testbed"
)

// quick lets servers of a test look at their files all the time.
func quick(t *testing.T) {
	t.Helper()
	before := fileInterval
	fileInterval = time.Millisecond
	t.Cleanup(func() { fileInterval = before })
}

// command runs a command of the program below its own, and returns what it wrote.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), program(), &out, args...)
	return out.String(), err
}

func mustCommand(t *testing.T, args ...string) string {
	t.Helper()
	out, err := command(t, args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out
}

// shown returns the certificate that the server shows to those who ask for a name.
func (s *started) shown(t *testing.T, name string) *x509.Certificate {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(s.url, "https://"),
		&tls.Config{ServerName: name, InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0]
}

// The certificates that the server made are renewed by commands while it runs: it takes them without a restart, and the
// kubeconfig of the administrator has the new one.
func TestCertificateCommands(t *testing.T) {
	quick(t)
	dir := filepath.Join(t.TempDir(), "data")
	if _, err := command(t, "certs", "list", "--data-dir="+dir); err == nil ||
		!strings.Contains(err.Error(), "the server makes it at its first start") {
		t.Errorf("without a data directory: %v", err)
	}
	s := start(t, dir, "--tls-san=api.example.com,192.0.2.7")
	admin := s.client(t)
	list := mustCommand(t, "certs", "list", "--data-dir="+dir)
	for _, want := range []string{"NAME", "RESIDUAL", "ca ", "CN=apigen server", "CN=apigen:admin,O=system:masters",
		"admin ", "server ", "364d", filepath.Join(dir, "pki", "server.crt")} {
		if !strings.Contains(list, want) {
			t.Errorf("%q is not in the list:\n%s", want, list)
		}
	}
	before := s.shown(t, "")
	if err := errors.Join(before.VerifyHostname("api.example.com"), before.VerifyHostname("192.0.2.7")); err != nil {
		t.Error(err)
	}
	out := mustCommand(t, "certs", "renew", "all", "--data-dir="+dir)
	if !strings.Contains(out, "server: valid until ") || !strings.Contains(out, "admin: valid until ") {
		t.Errorf("it said %q", out)
	}
	testbed.Until(t, "the new certificate", func() bool { return !s.shown(t, "").Equal(before) })
	if err := s.shown(t, "").VerifyHostname("api.example.com"); err != nil {
		t.Error(err)
	}
	for name, client := range map[string]*http.Client{"old": admin, "new": s.client(t)} {
		if code, _ := get(t, client, s.url+"/version"); code != http.StatusOK {
			t.Errorf("the %s kubeconfig gets %d", name, code)
		}
	}

	mustCommand(t, "certs", "renew", "--ca", "--data-dir="+dir)
	testbed.Until(t, "a certificate of the new authority", func() bool {
		return !bytes.Equal(s.shown(t, "").AuthorityKeyId, before.AuthorityKeyId)
	})
	for name, client := range map[string]*http.Client{"old": admin, "new": s.client(t)} {
		if code, _ := get(t, client, s.url+"/version"); code != http.StatusOK {
			t.Errorf("beside the new authority, the %s kubeconfig gets %d", name, code)
		}
	}
	out = mustCommand(t, "certs", "drop-old-ca", "--data-dir="+dir)
	if !strings.Contains(out, "ca: dropped 1 earlier") {
		t.Errorf("it said %q", out)
	}
	testbed.Until(t, "the end of the old authority", func() bool {
		code, _ := get(t, admin, s.url+"/version") // on the connection of before
		return code == http.StatusUnauthorized
	})
	if code, _ := get(t, s.client(t), s.url+"/version"); code != http.StatusOK {
		t.Errorf("the new kubeconfig gets %d", code)
	}
	s.end(t)
	for _, test := range [][]string{{"renew"}, {"renew", "all", "--ca"}, {"renew", "nobody"}, {"nonsense"}} {
		if out, err := command(t, append([]string{"certs", "--data-dir=" + dir}, test...)...); err == nil {
			t.Errorf("%v: %q", test, out)
		}
	}
}

// The oldest version of TLS is that of the flag, and clients agree on HTTP/2.
func TestMinVersion(t *testing.T) {
	s := start(t, filepath.Join(t.TempDir(), "data"), "--tls-min-version=VersionTLS13")
	for version, good := range map[uint16]bool{tls.VersionTLS12: false, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", strings.TrimPrefix(s.url, "https://"),
			&tls.Config{InsecureSkipVerify: true, MaxVersion: version, NextProtos: []string{"h2", "http/1.1"}})
		if (err == nil) != good {
			t.Errorf("TLS %x: %v", version, err)
		}
		if err == nil {
			if protocol := conn.ConnectionState().NegotiatedProtocol; protocol != "h2" {
				t.Errorf("the protocol is %q", protocol)
			}
			conn.Close()
		}
	}
	s.end(t)
}

// A kubeconfig for a user is made whether or not a server runs.
func TestKubeconfigCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, dir, "--authorization-mode=AlwaysAllow")
	file := filepath.Join(t.TempDir(), "alice.kubeconfig")
	args := []string{"kubeconfig", "--data-dir=" + dir, "--user=alice", "--group=devs", "--group=ops", "--ttl=1h"}
	if out := mustCommand(t, append(args, "--out="+file)...); out != "" {
		t.Errorf("it said %q", out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if code, body := get(t, clientOf(t, file), s.url+"/version"); code != http.StatusOK {
		t.Errorf("alice gets %d %s", code, body)
	}
	s.end(t)
	written := readKubeconfig(t, file)
	rows, err := certs.ListFile("", writeTemp(t, written.Certificate.Data))
	if err != nil || len(rows) != 1 || rows[0].Certificate.Subject.CommonName != "alice" ||
		len(rows[0].Certificate.Subject.Organization) != 2 ||
		time.Until(rows[0].Certificate.NotAfter) > time.Hour {
		t.Errorf("%+v (%v)", rows, err)
	}
	if written.Server.String() != s.url || written.Name != "alice@shop" {
		t.Errorf("%+v", written)
	}
	if out := mustCommand(t, append(args, "--server=https://shop.example.com")...); !strings.Contains(out,
		"server: https://shop.example.com\n") {
		t.Errorf("on standard output: %s", out)
	}
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"a file that exists": {append(args, "--out="+file), "overwrites nothing"},
		"nobody":             {[]string{"kubeconfig", "--data-dir=" + dir}, "needs the name of a user"},
		"masters":            {append(args, "--group=system:masters"), "--allow-system"},
		"a short time":       {append(args, "--ttl=1s"), "between 10m0s and 8760h0m0s"},
		"no URL":             {append(args, "--server=example.com"), "--server: "},
		"no certificate":     {append(args, "--certificate-authority="+file), "--certificate-authority: "},
		"no data":            {append(args, "--data-dir="+dir+"x"), "the server makes it at its first start"},
	} {
		if out, err := command(t, test.args...); err == nil || !strings.Contains(err.Error(), test.want) || out != "" {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
	mustCommand(t, append(args, "--group=system:masters", "--allow-system")...)
}

func writeTemp(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Files that flags name are read again while the server runs: serving certificates, those of other names, authorities
// of clients, tokens.
func TestGivenFilesAreReloaded(t *testing.T) {
	quick(t)
	tmp := t.TempDir()
	// Two data directories are a source of pairs and authorities.
	made := func(name string) (dir string) {
		dir = filepath.Join(tmp, name)
		start(t, dir).end(t)
		return dir
	}
	one, two := made("one"), made("two")
	file := func(name string) string { return filepath.Join(tmp, name) }
	place := func(from, to string) {
		t.Helper()
		content, err := os.ReadFile(from)
		if err == nil {
			err = certs.WriteFile(file(to), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	pair := func(dir, to string) {
		place(filepath.Join(dir, "pki", "server.key"), to+".key")
		place(filepath.Join(dir, "pki", "server.crt"), to+".crt")
	}
	pair(one, "tls")
	pair(one, "sni")
	place(filepath.Join(one, "pki", "ca.crt"), "clients.crt")
	tokens := func(text string) {
		t.Helper()
		if err := certs.WriteFile(file("tokens.csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tokens("t1,alice,1\n")
	s := start(t, filepath.Join(tmp, "data"), "--tls-cert-file="+file("tls.crt"),
		"--tls-private-key-file="+file("tls.key"), "--tls-sni-cert-key="+file("sni.crt")+","+file("sni.key")+":x.com",
		"--client-ca-file="+file("clients.crt"), "--token-auth-file="+file("tokens.csv"))
	list := mustCommand(t, "certs", "list", "--data-dir="+s.dir, "--tls-cert-file="+file("tls.crt"),
		"--tls-sni-cert-key="+file("sni.crt")+","+file("sni.key"), "--client-ca-file="+file("clients.crt"))
	for _, want := range []string{"tls-cert-file ", "tls-sni-cert-key ", "client-ca-file "} {
		if !strings.Contains(list, want) {
			t.Errorf("%q is not in the list:\n%s", want, list)
		}
	}
	first := s.shown(t, "")
	if !s.shown(t, "x.com").Equal(first) {
		t.Error("the two certificates are not one")
	}
	// The kubeconfigs of the two are users of this server.
	user := func(dir string) *http.Client {
		client := clientOf(t, filepath.Join(dir, "admin.kubeconfig"))
		client.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true
		return client
	}
	users := map[string]*http.Client{one: user(one), two: user(two)}
	code := func(dir string) int {
		code, _ := get(t, users[dir], s.url+"/version")
		return code
	}
	token := func(token string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/version", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		client := s.anonymous(t)
		client.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		return response.StatusCode
	}
	if code(one) != 200 || code(two) != 401 || token("t1") != 200 || token("t2") != 401 {
		t.Errorf("at first: %d, %d, %d, %d", code(one), code(two), token("t1"), token("t2"))
	}
	pair(two, "tls")
	place(filepath.Join(two, "pki", "ca.crt"), "clients.crt")
	tokens("broken\n")
	testbed.Until(t, "the other certificate", func() bool { return !s.shown(t, "").Equal(first) })
	testbed.Until(t, "the other authority", func() bool { return code(one) == 401 && code(two) == 200 })
	if !s.shown(t, "x.com").Equal(first) {
		t.Error("the certificate of another name changed, too")
	}
	if token("t1") != 200 {
		t.Error("a broken file of tokens changed something")
	}
	tokens("t2,bob,2\n")
	testbed.Until(t, "the other tokens", func() bool { return token("t1") == 401 && token("t2") == 200 })
	testbed.Until(t, "a kubeconfig with the other certificate", func() bool {
		written := readKubeconfig(t, filepath.Join(s.dir, "admin.kubeconfig"))
		content, err := os.ReadFile(filepath.Join(two, "pki", "server.crt"))
		return err == nil && bytes.Equal(written.CA.Data, content)
	})
	s.end(t)
}
