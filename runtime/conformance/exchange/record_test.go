//go:build record

package exchange

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/etcdtest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// binaryVariable names a kube-apiserver to record: `make record` builds one.
const binaryVariable = "KUBE_APISERVER"

// TestRecord asks kube-apiserver all that the scripts hold, and writes its answers into them, and its version.
func TestRecord(t *testing.T) {
	theirs := startTheirs(t, etcdtest.Start(t))
	version := theirs.enter(t, &scene{name: "default"}).ask([]string{"GET /version"})[0]
	write(t, "testdata", "version.txt", version+"\n")
	for _, path := range slices.Concat(scripts(t, "http"), scripts(t, builtinHTTP)) {
		s := readScript(t, path)
		for _, scene := range s.scenes {
			a := theirs.enter(t, scene)
			for _, e := range scene.exchanges {
				e.theirs = a.ask(e.request)
			}
		}
		s.write(t)
	}
	recordKubectl(t, theirs, slices.Concat(scripts(t, "kubectl"), scripts(t, builtinKubectl)))
}

// recordKubectl runs the commands of scripts against kube-apiserver, and writes what they print into the scripts.
func recordKubectl(t *testing.T, theirs *world, paths []string) {
	t.Helper()
	k := newKubectl(t, clientcmdapi.Config{
		CurrentContext: "theirs",
		Contexts:       map[string]*clientcmdapi.Context{"theirs": {Cluster: "theirs", AuthInfo: "theirs"}},
		Clusters: map[string]*clientcmdapi.Cluster{
			"theirs": {Server: "https://" + theirs.host, InsecureSkipTLSVerify: true},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"theirs": {Token: theirsToken}},
	})
	for _, path := range paths {
		s := readScript(t, path)
		for _, scene := range s.scenes {
			a := theirs.enter(t, scene)
			for _, e := range scene.exchanges {
				e.theirs = k.run(a, scene.name, e.request)
			}
		}
		s.write(t)
	}
}

// startTheirs runs kube-apiserver on an etcd of its own, without the admission plugins that ask for namespaces and
// service accounts, which most scripts are not about, and without anonymous requests. It gets further flags.
func startTheirs(t *testing.T, store *etcdtest.Process, flags ...string) *world {
	t.Helper()
	return startTheirsWith(t, store, append(flags, "--disable-admission-plugins=NamespaceLifecycle,PodSecurity,"+
		"ServiceAccount,MutatingAdmissionPolicy,MutatingAdmissionWebhook,ValidatingAdmissionPolicy,"+
		"ValidatingAdmissionWebhook"))
}

// startTheirsWith runs kube-apiserver with all that it has by default, without anonymous requests.
func startTheirsWith(t *testing.T, store *etcdtest.Process, flags []string) *world {
	t.Helper()
	binary := os.Getenv(binaryVariable)
	if binary == "" {
		t.Fatal("set " + binaryVariable + " to a kube-apiserver")
	}
	dir, port := t.TempDir(), etcdtest.FreePort(t)
	key := write(t, dir, "key.pem", signingKey(t))
	tokens := write(t, dir, "tokens.csv", theirsToken+`,admin,1,"system:masters"`+"\n"+bobToken+`,bob,2,"dev"`+"\n")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary, append(flags, "--etcd-servers="+store.Endpoint(), "--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port), "--cert-dir="+dir, "--token-auth-file="+tokens,
		"--authorization-mode=RBAC", "--anonymous-auth=false",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+key,
		"--service-account-signing-key-file="+key,
		"--service-cluster-ip-range=10.0.0.0/24", "--enable-priority-and-fairness=false")...)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("kube-apiserver's log:\n%.20000s", text)
		}
	})
	w := &world{host: fmt.Sprintf("127.0.0.1:%d", port), token: theirsToken, tls: &tls.Config{InsecureSkipVerify: true}}
	w.until(t, http.MethodGet, "/readyz", nil)
	kind, err := os.ReadFile(filepath.Join("testdata", "widgets.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.until(t, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kind)
	for _, version := range []string{"v1", "v1beta1"} {
		w.until(t, http.MethodGet, "/apis/shop.example.com/"+version+"/widgets", nil)
		w.until(t, http.MethodGet, "/openapi/v3/apis/shop.example.com/"+version, nil)
	}
	return w
}

// until repeats a request until it succeeds, and returns the answer.
func (w *world) until(t *testing.T, method, path string, body []byte) []byte {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: w.tls}}
	defer client.CloseIdleConnections()
	last := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		request, err := http.NewRequestWithContext(t.Context(), method, "https://"+w.host+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+w.token)
		request.Header.Set("Content-Type", "application/yaml")
		response, err := client.Do(request)
		if err != nil {
			last = err.Error()
			continue
		}
		text, _ := readBody(response, 0)
		_ = response.Body.Close()
		if last = response.Status + " " + string(text); response.StatusCode < 300 {
			return text
		}
	}
	t.Fatalf("%s %s: %.2000s", method, path, last)
	return nil
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func signingKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(
		string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
}
