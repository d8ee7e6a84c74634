package access

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/builtin/apiregistration"
	"apigen.dev/runtime/builtin/frontproxy"
	"apigen.dev/runtime/internal/etcdtest"
	"apigen.dev/runtime/server"
)

// binaryVariable names a kube-apiserver.
const binaryVariable = "KUBE_APISERVER"

// The tokens of the administrator of the cluster, and of the guest.
const adminToken, guestToken = "administrator", "guest"

// cluster is a kube-apiserver with its etcd.
type cluster struct {
	url, dir       string
	front, clients *authority
	client         *http.Client // made once
	once           sync.Once
	// noServices reports whether the cluster has no Services: it finds every server at localhost.
	noServices bool
}

// startCluster runs a kube-apiserver with an aggregator, RBAC and service accounts.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	binary := os.Getenv(binaryVariable)
	if binary == "" {
		t.Skip("set " + binaryVariable + " to a kube-apiserver")
	}
	c := &cluster{dir: t.TempDir(), front: newAuthority(t, "front proxy"), clients: newAuthority(t, "clients")}
	port := etcdtest.FreePort(t)
	c.url = fmt.Sprintf("https://127.0.0.1:%d", port)
	c.writeProxy(t, c.front, "aggregator")
	secret, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := c.write(t, "sa.key", encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(secret)))
	tokens := c.writeTokens(t)
	log, err := os.Create(filepath.Join(c.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary, "--etcd-servers="+etcdtest.Start(t).Endpoint(), "--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port), "--cert-dir="+c.dir,
		"--token-auth-file="+tokens, "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+key,
		"--service-account-signing-key-file="+key, "--service-cluster-ip-range=10.0.0.0/24",
		"--enable-priority-and-fairness=false")
	command.Args = append(command.Args, c.trust(t)...)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("kube-apiserver's log ends with:\n%s", text[max(0, len(text)-10_000):])
		}
	})
	c.until(t, adminToken, "GET", "/readyz", "", 200, "")
	return c
}

// writeTokens writes the file of the administrator's and the guest's tokens.
func (c *cluster) writeTokens(t *testing.T) string {
	t.Helper()
	return c.write(t, "tokens.csv", []byte(adminToken+`,admin,1,"system:masters"`+"\n"+guestToken+",guest,2\n"))
}

// trust returns the flags that say whom the cluster believes, and by what its aggregator is known.
func (c *cluster) trust(t *testing.T) []string {
	t.Helper()
	return []string{
		"--client-ca-file=" + c.write(t, "clients.crt", c.clients.pem()),
		"--requestheader-client-ca-file=" + c.write(t, "front.crt", c.front.pem()),
		"--requestheader-allowed-names=aggregator", "--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-uid-headers=X-Remote-Uid",
		"--proxy-client-cert-file=" + filepath.Join(c.dir, "proxy.crt"),
		"--proxy-client-key-file=" + filepath.Join(c.dir, "proxy.key"),
	}
}

// startControlPlane runs a server of apigen that serves what kube-apiserver serves to a guest, and custom resources.
func startControlPlane(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{dir: t.TempDir(), front: newAuthority(t, "front proxy"), clients: newAuthority(t, "clients")}
	c.noServices = true
	c.writeProxy(t, c.front, "aggregator")
	command := server.Command(server.Program{
		Name: "controlplane", Embedded: inMemory{},
		Features: append(builtin.Standalone(), &frontproxy.Feature{}, &apiextensions.Feature{},
			&apiregistration.Feature{}),
		Services: func(_ context.Context, _, _ string, port int32) (string, error) {
			return fmt.Sprintf("localhost:%d", port), nil
		},
	})
	c.url = run(t, command, append(c.trust(t), "--data-dir="+filepath.Join(c.dir, "data"),
		"--token-auth-file="+c.writeTokens(t), "--enable-priority-and-fairness=false")...) // as kube-apiserver above
	c.until(t, adminToken, "GET", "/readyz", "", 200, "")
	return c
}

// writeProxy writes the client certificate of the aggregator.
func (c *cluster) writeProxy(t *testing.T, front *authority, name string) {
	t.Helper()
	certificate, key := front.client(t, name)
	c.write(t, "proxy.key", key)
	c.write(t, "proxy.crt", certificate)
}

// write replaces a file in one step.
func (c *cluster) write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	return path
}

// ask sends a request to the cluster, and returns the code and the body of the answer.
func (c *cluster) ask(t *testing.T, token, method, path, body string) (int, string) {
	t.Helper()
	c.once.Do(func() { c.client = insecure(t) })
	return ask(t, c.client, c.url, token, method, path, body)
}

// until repeats a request until it is answered with a code and a text.
func (c *cluster) until(t *testing.T, token, method, path, body string, code int, text string) {
	t.Helper()
	until(t, func() (bool, string) {
		gotCode, got := c.ask(t, token, method, path, body)
		return gotCode == code && strings.Contains(got, text), fmt.Sprintf("%s %s: %d %s", method, path, gotCode, got)
	})
}

// until repeats a step until it is done. last is what it saw.
func until(t *testing.T, step func() (done bool, last string)) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(2 * time.Minute); ; <-tick.C {
		done, last := step()
		if done {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%.2000s", last)
		}
	}
}

// create creates an object in the cluster.
func (c *cluster) create(t *testing.T, path, object string) string {
	t.Helper()
	code, body := c.ask(t, adminToken, "POST", path, object)
	if code != http.StatusCreated {
		t.Fatalf("POST %s: %d %s", path, code, body)
	}
	return body
}

// insecure returns a client that believes every server. Certificates are those of the client.
func insecure(t *testing.T, certificates ...tls.Certificate) *http.Client {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: certificates}, ForceAttemptHTTP2: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// ask returns code 0 and the error if there is no answer.
func ask(t *testing.T, client *http.Client, server, token, method, path, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, server+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

// authority signs client certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{}
	a.cert, a.key = a.issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	})
	return a
}

func (a *authority) issue(t *testing.T, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// client returns a client certificate and its key, in PEM.
func (a *authority) client(t *testing.T, name string, groups ...string) (certificate, key []byte) {
	t.Helper()
	cert, secret := a.issue(t, &x509.Certificate{
		Subject:     pkix.Name{CommonName: name, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, KeyUsage: x509.KeyUsageDigitalSignature,
	})
	der, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	return encode("CERTIFICATE", cert.Raw), encode("PRIVATE KEY", der)
}

func (a *authority) pair(t *testing.T, name string, groups ...string) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(a.client(t, name, groups...))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func (a *authority) pem() []byte { return encode("CERTIFICATE", a.cert.Raw) }

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
