//go:build record

package recorded

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestRecord asks kube-apiserver for the answers to all writes, and for its resources.
func TestRecord(t *testing.T) {
	theirs := startTheirs(t)
	theirs.enter(t)
	for _, s := range readScripts(t) {
		theirs.prepare(t, s)
		for _, w := range s.writes {
			w.answer = theirs.ask(t, s, w)
		}
		if err := os.WriteFile(s.file, []byte(s.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(resourcesFile, []byte(resources(t, theirs)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// startTheirs runs the kube-apiserver of KUBE_APISERVER with its default admission, but for that of service accounts,
// which gives each pod a volume of a random name. kube-apiserver refuses to advertise a loopback address; nobody uses
// the one that it advertises.
func startTheirs(t *testing.T) *peer {
	t.Helper()
	binary := os.Getenv("KUBE_APISERVER")
	if binary == "" {
		t.Fatal("set KUBE_APISERVER to a kube-apiserver")
	}
	dir, port := t.TempDir(), freePort(t)
	signer, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key, tokens := filepath.Join(dir, "key.pem"), filepath.Join(dir, "tokens.csv")
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(signer)}
	for file, text := range map[string]string{key: string(pem.EncodeToMemory(block)),
		tokens: "recorder,admin,1,system:masters\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary, "--etcd-servers="+startEtcd(t), "--bind-address=127.0.0.1",
		"--advertise-address=192.0.2.1", fmt.Sprintf("--secure-port=%d", port), "--cert-dir="+dir,
		"--token-auth-file="+tokens, "--authorization-mode=RBAC", "--allow-privileged=true",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+key,
		"--service-account-signing-key-file="+key, "--service-cluster-ip-range=10.0.0.0/24",
		"--disable-admission-plugins=ServiceAccount")
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	p := &peer{url: fmt.Sprintf("https://127.0.0.1:%d", port), token: "recorder", client: &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
	p.until(t, http.MethodGet, "/readyz", "", http.StatusOK)
	return p
}

// startEtcd runs the etcd of ETCD, which ends with its standard input, and returns where it serves.
func startEtcd(t *testing.T) string {
	t.Helper()
	endpoint := fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	command := exec.Command(os.Getenv("ETCD"), "--data-dir="+t.TempDir(), "--log-level=error",
		"--listen-client-urls="+endpoint, "--advertise-client-urls="+endpoint,
		"--listen-peer-urls=http://127.0.0.1:0")
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("the etcd of ETCD: %v", err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = command.Wait()
	})
	return endpoint
}

// freePort returns a port on which nobody listens now.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}
